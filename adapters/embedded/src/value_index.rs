//! The value index: `(property, value) -> record`, for the properties an operator or a declaration chose.
//!
//! Commits pay only for chosen properties. A key is the value's tag and its first bytes; a reader checks the record's own
//! value, so long values that share a beginning cost time, never correctness.

use rusqlite::{Connection, params};

use crate::commit::Context;
use crate::failure::Outcome;
use crate::payload::{Properties, Value};

/// Bytes of a value in the index.
const KEY_BYTES: usize = 120;

/// The index key of one scalar value.
pub(crate) fn key(value: Value<'_>) -> Vec<u8> {
    let (tag, body) = value.parts();
    let mut key = Vec::with_capacity(1 + body.len().min(KEY_BYTES));
    key.push(tag);
    key.extend_from_slice(&body[..body.len().min(KEY_BYTES)]);
    key
}

/// Adds the indexed values of a record.
pub(crate) fn add(context: &Context<'_>, record: i64, payload: &[u8]) -> Outcome<()> {
    if context.indexed.is_empty() {
        return Ok(());
    }
    add_values(context.connection, &context.indexed, record, payload)
}

fn add_values(connection: &Connection, indexed: &[i64], record: i64, payload: &[u8]) -> Outcome<()> {
    let mut add =
        connection.prepare_cached("INSERT OR IGNORE INTO indexed_value(property, value, record) VALUES(?1, ?2, ?3)")?;
    each(indexed, payload, |property, key| {
        add.execute(params![property, key, record])?;
        Ok(())
    })
}

/// Removes the indexed values a record has now, before it changes.
pub(crate) fn remove(context: &Context<'_>, record: i64) -> Outcome<()> {
    if context.indexed.is_empty() {
        return Ok(());
    }
    let payload: Option<Vec<u8>> = context
        .connection
        .prepare_cached("SELECT payload FROM record WHERE id = ?1")?
        .query_row([record], |row| row.get(0))?;
    let mut remove = context
        .connection
        .prepare_cached("DELETE FROM indexed_value WHERE property = ?1 AND value = ?2 AND record = ?3")?;
    each(&context.indexed, payload.as_deref().unwrap_or_default(), |property, key| {
        remove.execute(params![property, key, record])?;
        Ok(())
    })
}

fn each(indexed: &[i64], payload: &[u8], mut visit: impl FnMut(i64, Vec<u8>) -> Outcome<()>) -> Outcome<()> {
    let mut outcome = Ok(());
    for (property, value) in Properties(payload) {
        if indexed.binary_search(&property).is_ok() {
            value.each(|scalar| {
                if outcome.is_ok() {
                    outcome = visit(property, key(scalar));
                }
            });
        }
    }
    outcome
}

/// Chooses a property and indexes the live records that have it. Does nothing when it is chosen already.
pub(crate) fn choose(connection: &Connection, property: i64) -> Outcome<()> {
    let chosen = connection
        .prepare_cached("UPDATE property SET indexed = 1 WHERE id = ?1 AND indexed = 0")?
        .execute([property])?;
    if chosen == 0 {
        return Ok(());
    }
    let mut scan = connection.prepare_cached(
        "SELECT r.id, r.payload FROM mapping_property p JOIN record r ON r.mapping = p.mapping AND r.state = 1
         WHERE p.property = ?1",
    )?;
    let mut rows = scan.query([property])?;
    while let Some(row) = rows.next()? {
        let payload: Option<Vec<u8>> = row.get(1)?;
        add_values(connection, &[property], row.get(0)?, payload.as_deref().unwrap_or_default())?;
    }
    Ok(())
}
