//! Writing records: found or added by identity, replaced as a whole.

use std::collections::HashMap;

use rusqlite::types::{ToSql, ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::admission::{ReadyBatch, SourceUri};
use crate::commit::Context;
use crate::failure::Outcome;
use crate::value_index;

/// `record.state`: only named by an edge.
pub(crate) const UNSEEN: i64 = 0;
/// `record.state`: observed and not withdrawn.
pub(crate) const LIVE: i64 = 1;
/// `record.state`: withdrawn.
pub(crate) const WITHDRAWN: i64 = 2;

/// Where the records of a batch ended up.
pub(crate) struct Placed<'a> {
    rows: HashMap<&'a str, Row>,
    deduplicated: Vec<bool>,
}

/// One placed record.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) key: i64,
    /// The row was made by this batch, so nothing can refer to it yet.
    pub(crate) new: bool,
}

impl Placed<'_> {
    pub(crate) fn row(&self, id: &str) -> Option<Row> {
        self.rows.get(id).copied()
    }

    /// Per record, whether the store already held exactly these bytes.
    pub(crate) fn deduplicated(&self) -> &[bool] {
        &self.deduplicated
    }
}

/// What is there of a record before it is written.
struct Before {
    key: i64,
    state: i64,
    mapping: Option<i64>,
    digests: Option<[u8; 64]>,
}

pub(crate) fn write<'a>(context: &mut Context<'_>, batch: &'a ReadyBatch) -> Outcome<Placed<'a>> {
    let connection = context.connection;
    let mut placed = Placed {
        rows: HashMap::with_capacity(batch.records.len()),
        deduplicated: Vec::with_capacity(batch.records.len()),
    };
    let mut find = connection
        .prepare_cached("SELECT id, state, mapping, digests FROM record WHERE stream = ?1 AND record_id = ?2")?;
    let mut add = connection.prepare_cached(
        "INSERT INTO record(stream, record_id, state, mapping, provenance, updated_at, source_uri, digests, payload)
         VALUES(?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let mut replace = connection.prepare_cached(
        "UPDATE record SET state = 1, mapping = ?2, provenance = ?3, updated_at = ?4, source_uri = ?5, digests = ?6,
         payload = ?7 WHERE id = ?1",
    )?;
    for record in &batch.records {
        let id = record.id.as_str();
        let provenance = context.provenances[record.provenance];
        let before = find
            .query_row(params![context.stream, id], |row| {
                Ok(Before { key: row.get(0)?, state: row.get(1)?, mapping: row.get(2)?, digests: row.get(3)? })
            })
            .optional()?;
        let Some(before) = before else {
            let key = add.insert(params![
                context.stream,
                id,
                record.mapping,
                provenance,
                record.updated_at,
                record.source_uri,
                record.digests,
                record.payload,
            ])?;
            value_index::add(context, key, &record.payload)?;
            context.tally.live += 1;
            placed.rows.insert(id, Row { key, new: true });
            placed.deduplicated.push(false);
            continue;
        };
        placed.rows.insert(id, Row { key: before.key, new: false });
        let held = before.state == LIVE && before.digests.is_some_and(|digests| digests[32..] == record.digests[32..]);
        placed.deduplicated.push(held);
        if held && before.mapping == Some(record.mapping) && before.digests == Some(record.digests) {
            continue;
        }
        if before.state == LIVE {
            value_index::remove(context, before.key)?;
        }
        replace.execute(params![
            before.key,
            record.mapping,
            provenance,
            record.updated_at,
            record.source_uri,
            record.digests,
            record.payload,
        ])?;
        value_index::add(context, before.key, &record.payload)?;
        revive(context, &before)?;
    }
    Ok(placed)
}

fn revive(context: &mut Context<'_>, before: &Before) -> Outcome<()> {
    if before.state != LIVE {
        context.tally.live += 1;
    }
    if before.state == WITHDRAWN {
        context.tally.withdrawn -= 1;
        context.connection.prepare_cached("DELETE FROM tombstone WHERE record = ?1")?.execute([before.key])?;
    }
    Ok(())
}

/// The key and state of a record, which is added as unseen when it is not there.
pub(crate) fn find_or_name(connection: &Connection, stream: i64, id: &str) -> Outcome<(i64, i64)> {
    let known = connection
        .prepare_cached("SELECT id, state FROM record WHERE stream = ?1 AND record_id = ?2")?
        .query_row(params![stream, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some(found) = known {
        return Ok(found);
    }
    let key = connection
        .prepare_cached("INSERT INTO record(stream, record_id, state) VALUES(?1, ?2, 0)")?
        .insert(params![stream, id])?;
    Ok((key, UNSEEN))
}

impl ToSql for SourceUri {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Plain => ToSqlOutput::Owned(SqlValue::Null),
            Self::Encoded => ToSqlOutput::Owned(SqlValue::Integer(1)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}
