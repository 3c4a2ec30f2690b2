//! Withdrawals: records the source names as gone, and those a reconcile batch no longer lists.
//!
//! A withdrawn record keeps its identity and a tombstone; its content, its outgoing edges and its digests go.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};
use scion_domain::id::RecordId;
use scion_domain::sink::SinkRefusal;

use crate::admission::ReadyBatch;
use crate::commit::Context;
use crate::failure::{Failure, Outcome};
use crate::records::Placed;
use crate::{edges, value_index};

/// The reason of every withdrawal by a reconcile batch.
pub(crate) const NOT_LISTED: &str = "not in the authoritative live set";

/// Rows withdrawn by a batch, with the identities for its receipt.
#[derive(Default)]
pub(crate) struct Withdrawn {
    pub(crate) rows: Vec<i64>,
    pub(crate) ids: Vec<RecordId>,
}

pub(crate) fn apply(context: &mut Context<'_>, batch: &ReadyBatch, placed: &Placed<'_>) -> Outcome<Withdrawn> {
    let mut withdrawn = Withdrawn::default();
    let mut find = context
        .connection
        .prepare_cached("SELECT id FROM record WHERE stream = ?1 AND record_id = ?2 AND state = 1")?;
    for (index, withdrawal) in batch.withdrawals.iter().enumerate() {
        let id = &withdrawal.entity.record_id;
        let row = find.query_row(params![context.stream, id.as_str()], |row| row.get(0)).optional()?;
        let row = row.ok_or(SinkRefusal::WithdrawalUnknown { index })?;
        withdraw(context, row, &withdrawal.reason)?;
        withdrawn.rows.push(row);
        withdrawn.ids.push(id.clone());
    }
    if let Some(live) = &batch.live {
        reconcile(context, live, placed, &mut withdrawn)?;
    }
    Ok(withdrawn)
}

fn reconcile(
    context: &mut Context<'_>,
    live: &[RecordId],
    placed: &Placed<'_>,
    withdrawn: &mut Withdrawn,
) -> Outcome<()> {
    let connection = context.connection;
    let mut find = connection.prepare_cached("SELECT id FROM record WHERE stream = ?1 AND record_id = ?2")?;
    let mut listed = HashSet::with_capacity(live.len());
    for id in live {
        let row = match placed.row(id.as_str()) {
            Some(row) => Some(row.key),
            None => find.query_row(params![context.stream, id.as_str()], |row| row.get(0)).optional()?,
        };
        listed.extend(row);
    }
    // Index-only, per mapping: the whole stream is never read.
    let mappings = connection
        .prepare_cached("SELECT id FROM mapping WHERE connector = ?1")?
        .query_map([context.connector], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let mut scan =
        connection.prepare_cached("SELECT id FROM record WHERE state = 1 AND mapping = ?1 AND stream = ?2")?;
    let mut gone = Vec::new();
    for mapping in mappings {
        let mut rows = scan.query(params![mapping, context.stream])?;
        while let Some(row) = rows.next()? {
            let key: i64 = row.get(0)?;
            if !listed.contains(&key) {
                gone.push(key);
            }
        }
    }
    gone.sort_unstable();
    let mut name = connection.prepare_cached("SELECT record_id FROM record WHERE id = ?1")?;
    for row in gone {
        let id: String = name.query_row([row], |row| row.get(0))?;
        withdraw(context, row, NOT_LISTED)?;
        withdrawn.rows.push(row);
        withdrawn.ids.push(RecordId::parse(&id).map_err(|_| Failure::corrupt())?);
    }
    Ok(())
}

fn withdraw(context: &mut Context<'_>, row: i64, reason: &str) -> Outcome<()> {
    let connection = context.connection;
    value_index::remove(context, row)?;
    edges::forget_outgoing(context, row)?;
    connection
        .prepare_cached(
            "UPDATE record SET state = 2, updated_at = NULL, source_uri = NULL, digests = NULL, payload = NULL
             WHERE id = ?1 AND state = 1",
        )?
        .execute([row])?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO tombstone(record, reason, graph_version) VALUES(?1, ?2, ?3)")?
        .execute(params![row, reason, context.graph_version])?;
    context.tally.live -= 1;
    context.tally.withdrawn += 1;
    Ok(())
}
