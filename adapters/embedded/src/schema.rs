//! The tables, version by version, and the checks a file passes before it is used.

use rusqlite::{Connection, TransactionBehavior};
use scion_domain::sink::StoreRefusal;

use crate::failure::Outcome;

/// SQLite's `application_id` of a Scion store: the bytes `Scio`.
pub const APPLICATION_ID: i32 = 0x5363_696f;

/// The newest schema this release writes, in SQLite's `user_version`.
pub const SCHEMA_VERSION: i64 = 2;

/// Each step leads from its index to the next version.
const MIGRATIONS: [&[&str]; 2] = [
    &[include_str!("schema_v1.sql")],
    &[
        include_str!("schema_v2/packs.sql"),
        include_str!("schema_v2/work.sql"),
        include_str!("schema_v2/messages.sql"),
        include_str!("schema_v2/ledger.sql"),
        include_str!("schema_v2/blobs.sql"),
    ],
];

/// Brings an empty or older file up to date, each step in a transaction of its own.
pub(crate) fn migrate(connection: &mut Connection) -> Outcome<()> {
    loop {
        let (version, fresh) = inspect(connection)?;
        if version == SCHEMA_VERSION {
            return Ok(());
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have taken the step while this one waited for the lock.
        if inspect(&transaction)?.0 == version {
            let step = usize::try_from(version).ok().and_then(|index| MIGRATIONS.get(index));
            for part in *step.ok_or(StoreRefusal::Corrupt)? {
                transaction.execute_batch(part)?;
            }
            if fresh {
                transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            }
            transaction.pragma_update(None, "user_version", version + 1)?;
        }
        transaction.commit()?;
    }
}

/// Refuses a file that is not a Scion store or that a newer release wrote.
pub(crate) fn check(connection: &Connection) -> Outcome<()> {
    match inspect(connection)? {
        (SCHEMA_VERSION, _) => Ok(()),
        (_, true) => Err(StoreRefusal::Unavailable { what: "it is empty: nothing was synced into it yet" }.into()),
        _ => Err(StoreRefusal::Unavailable { what: "an older release wrote it: open it for writing once" }.into()),
    }
}

/// `(schema version, nothing in it yet)`.
fn inspect(connection: &Connection) -> Outcome<(i64, bool)> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application == APPLICATION_ID {
        return match version {
            found if found > SCHEMA_VERSION => Err(StoreRefusal::TooNew { found, known: SCHEMA_VERSION }.into()),
            found if found < 1 => Err(StoreRefusal::Corrupt.into()),
            found => Ok((found, false)),
        };
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok((0, true));
    }
    Err(StoreRefusal::Corrupt.into())
}
