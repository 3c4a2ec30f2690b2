//! The commit: one immediate transaction for everything a batch does.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use scion_domain::model::{Disposition, SourceReceipt};
use scion_domain::sink::SinkRefusal;

use crate::admission::ReadyBatch;
use crate::failure::Outcome;
use crate::fault::{CommitPoint, reach};
use crate::intern::Interned;
use crate::records::Placed;
use crate::writer::Writer;
use crate::{checkpoint_text, contract, edges, receipt, records, withdrawal};

/// How a commit ended.
pub(crate) enum Committed {
    /// With a receipt, new or replayed.
    Receipt(Box<SourceReceipt>),
    /// Not at all: another import moved the contract since admission.
    ContractMoved,
}

/// What a batch changed in its stream's counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) live: i64,
    pub(crate) withdrawn: i64,
    pub(crate) edges: i64,
}

/// The keys and settings of one running commit.
pub(crate) struct Context<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) interned: &'a mut Interned,
    pub(crate) connector: i64,
    pub(crate) stream: i64,
    /// One per entry of [`ReadyBatch::provenances`].
    pub(crate) provenances: Vec<i64>,
    /// Value-indexed properties, sorted.
    pub(crate) indexed: Vec<i64>,
    pub(crate) graph_version: u64,
    pub(crate) tally: Tally,
}

pub(crate) fn commit(writer: &mut Writer, batch: &ReadyBatch) -> Outcome<Committed> {
    let faults = writer.options.faults.clone();
    let faults = faults.as_deref();
    reach(faults, CommitPoint::BeforeBegin)?;
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let connector = writer.interned.connector(&transaction, batch.connector.as_str())?;
    let stream = writer.interned.stream(&transaction, connector, batch.stream.as_str())?;

    let accepted: Option<[u8; 32]> = transaction
        .prepare_cached("SELECT checkpoint_digest FROM stream WHERE id = ?1")?
        .query_row([stream], |row| row.get(0))?;
    // The place in the stream decides first: the same bytes may be a new batch when a source has come full circle.
    if accepted != batch.expected_digest.map(|digest| *digest.as_bytes()) {
        let replay = receipt::find(&transaction, stream, batch)?;
        transaction.rollback()?;
        writer.interned.forget();
        return match replay {
            Some(receipt) => Ok(Committed::Receipt(Box::new(receipt))),
            None => Err(SinkRefusal::Conflict { stream: batch.stream.to_string() }.into()),
        };
    }
    if contract::head(&transaction, connector)? != Some((batch.contract_revision, batch.contract_digest)) {
        transaction.rollback()?;
        writer.interned.forget();
        return Ok(Committed::ContractMoved);
    }

    let mut provenances = Vec::with_capacity(batch.provenances.len());
    for key in &batch.provenances {
        provenances.push(writer.interned.provenance(&transaction, connector, key)?);
    }
    let indexed = writer.interned.indexed(&transaction)?.to_vec();
    let mut context = Context {
        connection: &transaction,
        interned: &mut writer.interned,
        connector,
        stream,
        provenances,
        indexed,
        graph_version: next_graph_version(&transaction)?,
        tally: Tally::default(),
    };
    let placed: Placed<'_> = records::write(&mut context, batch)?;
    reach(faults, CommitPoint::AfterRecords)?;
    edges::write(&mut context, batch, &placed)?;
    let tombstones = withdrawal::apply(&mut context, batch, &placed)?;
    reach(faults, CommitPoint::AfterRelationships)?;
    advance_stream(&context, batch)?;
    let receipt = receipt::write(&context, batch, placed.deduplicated(), tombstones)?;
    reach(faults, CommitPoint::BeforeCommit)?;
    transaction.commit()?;
    reach(faults, CommitPoint::AfterCommit)?;
    debug_assert_eq!(receipt.disposition, Disposition::Committed);
    Ok(Committed::Receipt(Box::new(receipt)))
}

fn next_graph_version(connection: &Connection) -> Outcome<u64> {
    Ok(connection
        .prepare_cached("UPDATE counter SET value = value + 1 WHERE name = 'graph_version' RETURNING value")?
        .query_row([], |row| row.get(0))?)
}

fn advance_stream(context: &Context<'_>, batch: &ReadyBatch) -> Outcome<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    context
        .connection
        .prepare_cached(
            "UPDATE stream SET checkpoint = ?2, checkpoint_digest = ?3, last_batch = ?4, graph_version = ?5,
             last_commit_unix_ms = ?6, batches = batches + 1, live = live + ?7, withdrawn = withdrawn + ?8,
             edges = edges + ?9 WHERE id = ?1",
        )?
        .execute(params![
            context.stream,
            checkpoint_text::write(&batch.checkpoint),
            batch.checkpoint_digest.as_bytes(),
            batch.batch_digest.as_bytes(),
            context.graph_version,
            i64::try_from(now).unwrap_or(i64::MAX),
            context.tally.live,
            context.tally.withdrawn,
            context.tally.edges,
        ])?;
    Ok(())
}

/// Finds a replay without writing, for a batch that admission refuses under a newer contract.
pub(crate) fn find_replay(
    connection: &Connection,
    batch: &scion_domain::model::SourceBatch,
    digests: &crate::admission::Digests,
) -> Outcome<Option<SourceReceipt>> {
    let head: Option<(i64, Option<[u8; 32]>)> = connection
        .prepare_cached(
            "SELECT s.id, s.checkpoint_digest FROM stream s JOIN connector c ON c.id = s.connector
             WHERE c.name = ?1 AND s.name = ?2",
        )?
        .query_row([batch.connector.as_str(), batch.provider_checkpoint.stream.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((stream, accepted)) = head else { return Ok(None) };
    if accepted == digests.expected.map(|digest| *digest.as_bytes()) {
        return Ok(None);
    }
    receipt::find_for(connection, stream, batch, digests)
}
