//! Streams of messages in their tables.

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use scion_domain::messaging::{Message, MessageRefusal, StreamBounds, check_limit, check_message, check_name};
use scion_ports::{MessageStream, async_trait};

use crate::EmbeddedGraph;
use crate::failure::{Failure, Outcome};
use crate::writer::Writer;

/// The bytes after which a page ends.
const PAGE_BYTES: usize = 4 << 20;

/// The answer of an operation that may be refused for its own reasons.
pub(crate) type Answered<T> = Outcome<Result<T, MessageRefusal>>;

/// The row of a stream, made if need be.
fn stream_id(transaction: &Transaction<'_>, stream: &str) -> Outcome<i64> {
    transaction.prepare_cached("INSERT OR IGNORE INTO message_stream(name) VALUES(?1)")?.execute([stream])?;
    Ok(transaction
        .prepare_cached("SELECT id FROM message_stream WHERE name = ?1")?
        .query_row([stream], |row| row.get(0))?)
}

fn declare(writer: &mut Writer, stream: &str, bounds: StreamBounds) -> Outcome<()> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id = stream_id(&transaction, stream)?;
    let bound = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
    transaction
        .prepare_cached("UPDATE message_stream SET max_messages = ?2, max_age_ms = ?3 WHERE id = ?1")?
        .execute(params![id, bound(bounds.max_messages), bound(bounds.max_age_ms)])?;
    Ok(transaction.commit()?)
}

fn publish(writer: &mut Writer, stream: &str, payload: &[u8], now_ms: i64) -> Outcome<u64> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id = stream_id(&transaction, stream)?;
    let offset: u64 = transaction
        .prepare_cached(
            "UPDATE message_stream SET next_offset = next_offset + 1 WHERE id = ?1 RETURNING next_offset - 1",
        )?
        .query_row([id], |row| row.get(0))?;
    transaction
        .prepare_cached("INSERT INTO message(stream, offset, published_at_ms, payload) VALUES(?1, ?2, ?3, ?4)")?
        .execute(params![id, offset, now_ms, payload])?;
    transaction.commit()?;
    Ok(offset)
}

fn read(connection: &Connection, stream: &str, from: i64, limit: usize) -> Outcome<Vec<Message>> {
    let mut list = connection.prepare_cached(
        "SELECT m.offset, m.payload FROM message m JOIN message_stream s ON s.id = m.stream
         WHERE s.name = ?1 AND m.offset >= ?2 ORDER BY m.offset",
    )?;
    let mut rows = list.query(params![stream, from])?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while found.len() < limit && bytes < PAGE_BYTES {
        let Some(row) = rows.next()? else { break };
        let payload: Vec<u8> = row.get(1)?;
        bytes += payload.len();
        found.push(Message { offset: row.get(0)?, payload });
    }
    Ok(found)
}

fn committed(connection: &Connection, stream: &str, group: &str) -> Outcome<Option<u64>> {
    Ok(connection
        .prepare_cached(
            "SELECT g.next_offset FROM message_group g JOIN message_stream s ON s.id = g.stream
             WHERE s.name = ?1 AND g.name = ?2",
        )?
        .query_row([stream, group], |row| row.get(0))
        .optional()?)
}

fn commit(writer: &mut Writer, stream: &str, group: &str, next: u64) -> Answered<()> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let before = committed(&transaction, stream, group)?.unwrap_or(0);
    if next < before {
        return Ok(Err(MessageRefusal::Behind { committed: before, asked: next }));
    }
    let id = stream_id(&transaction, stream)?;
    transaction
        .prepare_cached("INSERT OR REPLACE INTO message_group(stream, name, next_offset) VALUES(?1, ?2, ?3)")?
        .execute(params![id, group, next])?;
    transaction.commit()?;
    Ok(Ok(()))
}

fn trim(writer: &mut Writer, stream: &str, now_ms: i64) -> Outcome<u64> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: Option<(i64, i64, Option<i64>, Option<i64>)> = transaction
        .prepare_cached("SELECT id, next_offset, max_messages, max_age_ms FROM message_stream WHERE name = ?1")?
        .query_row([stream], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((id, next, most, age)) = found else { return Ok(0) };
    let first = most.map_or(i64::MIN, |most| next.saturating_sub(most));
    let oldest = age.map_or(i64::MIN, |age| now_ms.saturating_sub(age));
    let gone = transaction
        .prepare_cached("DELETE FROM message WHERE stream = ?1 AND (offset < ?2 OR published_at_ms < ?3)")?
        .execute(params![id, first, oldest])?;
    transaction.commit()?;
    Ok(gone as u64)
}

/// SQLite counts to 2^63.
fn in_range(offset: u64) -> Result<i64, MessageRefusal> {
    i64::try_from(offset).map_err(|_| MessageRefusal::Invalid { what: "an offset is too large" })
}

impl EmbeddedGraph {
    pub(crate) fn message(&self, what: &'static str) -> impl Fn(Failure) -> MessageRefusal + '_ {
        move |failure| {
            if failure.is_gone() {
                return MessageRefusal::OutcomeUnknown { what };
            }
            self.store(failure).into()
        }
    }
}

#[async_trait]
impl MessageStream for EmbeddedGraph {
    async fn declare(&self, stream: &str, bounds: StreamBounds) -> Result<(), MessageRefusal> {
        check_name(stream)?;
        let stream = stream.to_owned();
        self.write(move |writer| declare(writer, &stream, bounds)).await.map_err(self.message("the declaration"))
    }

    async fn publish(&self, stream: &str, payload: &[u8], now_ms: i64) -> Result<u64, MessageRefusal> {
        check_name(stream)?;
        check_message(payload)?;
        let (stream, payload) = (stream.to_owned(), payload.to_vec());
        let published = self.write(move |writer| publish(writer, &stream, &payload, now_ms)).await;
        published.map_err(self.message("the publication"))
    }

    async fn read(&self, stream: &str, from: u64, limit: usize) -> Result<Vec<Message>, MessageRefusal> {
        check_name(stream)?;
        check_limit(limit)?;
        let Ok(from) = in_range(from) else { return Ok(Vec::new()) };
        let stream = stream.to_owned();
        let found = self.reading(move |connection| read(connection, &stream, from, limit)).await;
        found.map_err(|failure| self.store(failure).into())
    }

    async fn commit(&self, stream: &str, group: &str, next: u64) -> Result<(), MessageRefusal> {
        check_name(stream)?;
        check_name(group)?;
        in_range(next)?;
        let (stream, group) = (stream.to_owned(), group.to_owned());
        let done = self.write(move |writer| commit(writer, &stream, &group, next)).await;
        done.map_err(self.message("the commit of the offset"))?
    }

    async fn committed(&self, stream: &str, group: &str) -> Result<Option<u64>, MessageRefusal> {
        check_name(stream)?;
        check_name(group)?;
        let (stream, group) = (stream.to_owned(), group.to_owned());
        let found = self.reading(move |connection| committed(connection, &stream, &group)).await;
        found.map_err(|failure| self.store(failure).into())
    }

    async fn trim(&self, stream: &str, now_ms: i64) -> Result<u64, MessageRefusal> {
        check_name(stream)?;
        let stream = stream.to_owned();
        self.write(move |writer| trim(writer, &stream, now_ms)).await.map_err(self.message("the trim"))
    }
}
