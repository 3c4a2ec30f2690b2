//! Receipts: made once, kept small, and rebuilt word for word when the same batch comes again.
//!
//! A receipt repeats much of its batch. What a resent batch brings along itself (identities, raw digests, reasons) is
//! not stored twice; the rest is about 250 bytes.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use scion_domain::digest;
use scion_domain::id::{Digest256, RecordId, StreamName};
use scion_domain::model::{
    Disposition, EntityRef, IngestMode, RawAdmission, SourceBatch, SourceCheckpoint, SourceReceipt, Tombstone,
};

use crate::admission::{Digests, ReadyBatch};
use crate::commit::Context;
use crate::failure::{Failure, Outcome};
use crate::payload::{push_length, take_length};
use crate::withdrawal::{NOT_LISTED, Withdrawn};

/// Receipts kept per stream; the last one always is.
pub const RECEIPTS_KEPT: u64 = 10_000;

/// What a receipt says that both ways of asking for it know.
struct Shape<'a> {
    stream: &'a StreamName,
    mode: IngestMode,
    batch_digest: Digest256,
    checkpoint: &'a SourceCheckpoint,
    checkpoint_digest: Digest256,
    relationships: usize,
}

/// What is stored of a receipt.
struct Stored {
    contract_digest: [u8; 32],
    contract_revision: u64,
    graph_version: u64,
    deduplicated: Vec<u8>,
    withdrawn: Vec<u8>,
    receipt_digest: [u8; 32],
}

/// Makes and stores the receipt of a batch just applied.
pub(crate) fn write(
    context: &Context<'_>,
    batch: &ReadyBatch,
    deduplicated: &[bool],
    withdrawn: Withdrawn,
) -> Outcome<SourceReceipt> {
    let connection = context.connection;
    let sequence: u64 = connection
        .prepare_cached("SELECT batches FROM stream WHERE id = ?1")?
        .query_row([context.stream], |row| row.get(0))?;
    let mut stored = Stored {
        contract_digest: *batch.contract_digest.as_bytes(),
        contract_revision: batch.contract_revision,
        graph_version: context.graph_version,
        deduplicated: pack_flags(deduplicated),
        // A resent batch brings its withdrawals along; only a reconcile's findings must be kept.
        withdrawn: if batch.live.is_some() { pack_rows(&withdrawn.rows) } else { Vec::new() },
        receipt_digest: [0; 32],
    };
    let tombstones = tombstones(batch, withdrawn.ids);
    let mut receipt =
        build(&shape(batch), &stored, raw_admissions(batch, deduplicated), tombstones, Disposition::Committed);
    receipt.receipt_digest = digest::receipt(&receipt);
    stored.receipt_digest = *receipt.receipt_digest.as_bytes();
    connection
        .prepare_cached(
            "INSERT INTO receipt(stream, sequence, batch, contract_digest, contract_revision, graph_version, deduplicated,
             withdrawn, receipt_digest) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            context.stream,
            sequence,
            batch.batch_digest.as_bytes(),
            stored.contract_digest,
            stored.contract_revision,
            stored.graph_version,
            stored.deduplicated,
            stored.withdrawn,
            stored.receipt_digest,
        ])?;
    if sequence > RECEIPTS_KEPT {
        connection
            .prepare_cached("DELETE FROM receipt WHERE stream = ?1 AND sequence <= ?2")?
            .execute(params![context.stream, sequence - RECEIPTS_KEPT])?;
    }
    Ok(receipt)
}

/// Rebuilds the receipt of a batch that was applied before.
pub(crate) fn find(connection: &Connection, stream: i64, batch: &ReadyBatch) -> Outcome<Option<SourceReceipt>> {
    let Some(stored) = load(connection, stream, &batch.batch_digest)? else { return Ok(None) };
    let deduplicated = unpack_flags(&stored.deduplicated, batch.records.len());
    let gone = if batch.live.is_some() {
        identities(connection, &stored.withdrawn)?
    } else {
        batch.withdrawals.iter().map(|withdrawal| withdrawal.entity.record_id.clone()).collect()
    };
    let raw = raw_admissions(batch, &deduplicated);
    Ok(Some(build(&shape(batch), &stored, raw, tombstones(batch, gone), Disposition::Replayed)))
}

/// As [`find`], for a batch that was not admitted.
pub(crate) fn find_for(
    connection: &Connection,
    stream: i64,
    batch: &SourceBatch,
    digests: &Digests,
) -> Outcome<Option<SourceReceipt>> {
    let Some(stored) = load(connection, stream, &digests.batch)? else { return Ok(None) };
    let flags = unpack_flags(&stored.deduplicated, batch.records.len());
    let raw = batch
        .records
        .iter()
        .zip(&digests.raw)
        .zip(flags)
        .map(|((record, raw), deduplicated)| RawAdmission {
            entity: record.entity.clone(),
            raw_digest: *raw,
            deduplicated,
        })
        .collect();
    let stream_name = &batch.provider_checkpoint.stream;
    let tombstones = if batch.authoritative_live_ids.is_some() {
        let gone = identities(connection, &stored.withdrawn)?;
        gone.into_iter().map(|record_id| not_listed(stream_name, record_id)).collect()
    } else {
        let named = batch.withdrawals.iter();
        named.map(|gone| Tombstone { entity: gone.entity.clone(), reason: gone.reason.clone() }).collect()
    };
    let shape = Shape {
        stream: stream_name,
        mode: batch.mode,
        batch_digest: digests.batch,
        checkpoint: &batch.provider_checkpoint,
        checkpoint_digest: digests.checkpoint,
        relationships: batch.relationships.len(),
    };
    Ok(Some(build(&shape, &stored, raw, tombstones, Disposition::Replayed)))
}

/// `source-ingest:<batch digest>`.
pub(crate) fn receipt_id(batch: &Digest256) -> String {
    format!("source-ingest:{batch}")
}

fn shape(batch: &ReadyBatch) -> Shape<'_> {
    Shape {
        stream: &batch.stream,
        mode: batch.mode,
        batch_digest: batch.batch_digest,
        checkpoint: &batch.checkpoint,
        checkpoint_digest: batch.checkpoint_digest,
        relationships: batch.edges.len(),
    }
}

fn build(
    shape: &Shape<'_>,
    stored: &Stored,
    raw_admissions: Vec<RawAdmission>,
    tombstones: Vec<Tombstone>,
    disposition: Disposition,
) -> SourceReceipt {
    debug_assert_eq!(*shape.stream, shape.checkpoint.stream);
    SourceReceipt {
        receipt_id: receipt_id(&shape.batch_digest),
        disposition,
        mode: shape.mode,
        batch_digest: shape.batch_digest,
        affected_count: (raw_admissions.len() + shape.relationships) as u64,
        relationship_count: shape.relationships as u64,
        raw_admissions,
        tombstones,
        accepted_checkpoint: shape.checkpoint.clone(),
        accepted_checkpoint_digest: shape.checkpoint_digest,
        contract_digest: Digest256::from_bytes(stored.contract_digest),
        contract_revision: stored.contract_revision,
        committed_graph_version: stored.graph_version,
        receipt_digest: Digest256::from_bytes(stored.receipt_digest),
    }
}

fn raw_admissions(batch: &ReadyBatch, deduplicated: &[bool]) -> Vec<RawAdmission> {
    let admission = |(record, deduplicated): (&crate::admission::ReadyRecord, &bool)| {
        let mut raw = [0; 32];
        raw.copy_from_slice(&record.digests[32..]);
        RawAdmission {
            entity: EntityRef { stream: batch.stream.clone(), record_id: record.id.clone() },
            raw_digest: Digest256::from_bytes(raw),
            deduplicated: *deduplicated,
        }
    };
    batch.records.iter().zip(deduplicated).map(admission).collect()
}

fn tombstones(batch: &ReadyBatch, gone: Vec<RecordId>) -> Vec<Tombstone> {
    if batch.live.is_some() {
        return gone.into_iter().map(|record_id| not_listed(&batch.stream, record_id)).collect();
    }
    let named = batch.withdrawals.iter();
    named.map(|gone| Tombstone { entity: gone.entity.clone(), reason: gone.reason.clone() }).collect()
}

fn not_listed(stream: &StreamName, record_id: RecordId) -> Tombstone {
    Tombstone { entity: EntityRef { stream: stream.clone(), record_id }, reason: NOT_LISTED.to_owned() }
}

fn load(connection: &Connection, stream: i64, batch: &Digest256) -> Outcome<Option<Stored>> {
    let stored = |row: &Row<'_>| {
        Ok(Stored {
            contract_digest: row.get(0)?,
            contract_revision: row.get(1)?,
            graph_version: row.get(2)?,
            deduplicated: row.get(3)?,
            withdrawn: row.get(4)?,
            receipt_digest: row.get(5)?,
        })
    };
    Ok(connection
        .prepare_cached(
            "SELECT contract_digest, contract_revision, graph_version, deduplicated, withdrawn, receipt_digest
             FROM receipt WHERE stream = ?1 AND batch = ?2 ORDER BY sequence DESC LIMIT 1",
        )?
        .query_row(params![stream, batch.as_bytes()], stored)
        .optional()?)
}

/// One bit per record; nothing when none is set.
fn pack_flags(flags: &[bool]) -> Vec<u8> {
    if !flags.contains(&true) {
        return Vec::new();
    }
    flags
        .chunks(8)
        .map(|chunk| chunk.iter().enumerate().fold(0, |byte, (bit, flag)| byte | (u8::from(*flag) << bit)))
        .collect()
}

fn unpack_flags(bytes: &[u8], count: usize) -> Vec<bool> {
    (0..count).map(|index| bytes.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1)).collect()
}

/// Differences of the ascending row keys.
fn pack_rows(rows: &[i64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * 2);
    let mut last = 0;
    for row in rows {
        push_length(&mut out, usize::try_from(row - last).unwrap_or_default());
        last = *row;
    }
    out
}

fn identities(connection: &Connection, rows: &[u8]) -> Outcome<Vec<RecordId>> {
    let mut name = connection.prepare_cached("SELECT record_id FROM record WHERE id = ?1")?;
    let mut out = Vec::new();
    let mut rest = rows;
    let mut row = 0;
    while !rest.is_empty() {
        let step = take_length(&mut rest).and_then(|step| i64::try_from(step).ok()).ok_or_else(Failure::corrupt)?;
        row += step;
        let id: String = name.query_row([row], |row| row.get(0))?;
        out.push(RecordId::parse(&id).map_err(|_| Failure::corrupt())?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_read_back() {
        for flags in [vec![], vec![false; 9], vec![true], [vec![false; 8], vec![true, false, true]].concat()] {
            assert_eq!(unpack_flags(&pack_flags(&flags), flags.len()), flags);
        }
    }
}
