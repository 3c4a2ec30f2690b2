//! The key-value table under compare-and-swap. A deleted key keeps its version, so that none is used twice.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use scion_domain::sink::StoreRefusal;
use scion_ports::KeyValueEntry;

use crate::failure::Outcome;
use crate::writer::Writer;

const MAX_KEY: usize = 1024;
const MAX_VALUE: usize = 1 << 20;

/// Checks a namespace, key and value before they are used.
pub(crate) fn check(namespace: &str, key: &str, value: &[u8]) -> Result<(), StoreRefusal> {
    let refuse = |what| Err(StoreRefusal::BadKey { what });
    if namespace.is_empty() || namespace.len() > MAX_KEY {
        return refuse("a namespace is empty or too long");
    }
    if key.is_empty() || key.len() > MAX_KEY {
        return refuse("a key is empty or too long");
    }
    if namespace.contains('\0') || key.contains('\0') {
        return refuse("a key holds a NUL character");
    }
    if value.len() > MAX_VALUE {
        return refuse("a value is too long");
    }
    Ok(())
}

pub(crate) fn get(connection: &Connection, namespace: &str, key: &str) -> Outcome<Option<KeyValueEntry>> {
    Ok(connection
        .prepare_cached("SELECT version, value FROM key_value WHERE namespace = ?1 AND key = ?2 AND value IS NOT NULL")?
        .query_row([namespace, key], |row| Ok(KeyValueEntry { version: row.get(0)?, value: row.get(1)? }))
        .optional()?)
}

/// Writes a value, or deletes with `None`; answers the new version.
pub(crate) fn swap(
    writer: &mut Writer,
    namespace: &str,
    key: &str,
    expected: Option<u64>,
    value: Option<&[u8]>,
) -> Outcome<u64> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let stored: Option<(u64, bool)> = transaction
        .prepare_cached("SELECT version, value IS NOT NULL FROM key_value WHERE namespace = ?1 AND key = ?2")?
        .query_row([namespace, key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let present = stored.filter(|(_, present)| *present).map(|(version, _)| version);
    if present != expected {
        return Err(StoreRefusal::Conflict { key: key.to_owned() }.into());
    }
    let version = stored.map_or(0, |(version, _)| version) + 1;
    transaction
        .prepare_cached("INSERT OR REPLACE INTO key_value(namespace, key, version, value) VALUES(?1, ?2, ?3, ?4)")?
        .execute(params![namespace, key, version, value])?;
    transaction.commit()?;
    Ok(version)
}

/// Keys with a prefix in byte order.
pub(crate) fn scan(
    connection: &Connection,
    namespace: &str,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Outcome<Vec<(String, KeyValueEntry)>> {
    // SQLite compares text by bytes here, so keys with the prefix stand together and the first one without it ends them.
    let mut list = connection.prepare_cached(
        "SELECT key, version, value FROM key_value WHERE namespace = ?1 AND key >= ?2 AND key > ?3
         AND value IS NOT NULL ORDER BY key",
    )?;
    let mut rows = list.query(params![namespace, prefix, after.unwrap_or_default()])?;
    let mut out = Vec::new();
    while out.len() < limit {
        let Some(row) = rows.next()? else { break };
        let key: String = row.get(0)?;
        if !key.starts_with(prefix) {
            break;
        }
        out.push((key, KeyValueEntry { version: row.get(1)?, value: row.get(2)? }));
    }
    Ok(out)
}
