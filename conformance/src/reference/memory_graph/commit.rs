//! One commit: every check first, then every change, so that a refusal changes nothing.

use std::collections::BTreeSet;

use scion_domain::digest::{self, BatchDigests};
use scion_domain::id::Digest256;
use scion_domain::model::{BatchRefusal, Disposition, EntityRef, RawAdmission, SourceBatch, SourceReceipt, Tombstone};
use scion_domain::sink::{SinkCapabilities, SinkRefusal};

use super::state::{Accepted, Record, State};

pub(super) fn commit(
    state: &mut State,
    batch: &SourceBatch,
    capabilities: SinkCapabilities,
) -> Result<SourceReceipt, SinkRefusal> {
    bounds(batch, capabilities)?;
    batch.check(capabilities.cross_stream_relationships)?;
    let digests = digest::batch(batch).map_err(|_| SinkRefusal::PackInvalid { what: "the batch has no digest" })?;
    let stream = batch.provider_checkpoint.stream.clone();
    let key = (batch.connector.clone(), stream.clone());
    let known = state.streams.get(&key);
    if let Some(receipt) = known.and_then(|stream| stream.receipts.get(&digests.batch)) {
        return Ok(SourceReceipt { disposition: Disposition::Replayed, ..receipt.clone() });
    }
    if known.and_then(|stream| stream.checkpoint.as_ref()) != batch.expected_previous_checkpoint.as_ref() {
        return Err(SinkRefusal::Conflict { stream: stream.to_string() });
    }
    let (contract_digest, contract_revision) = admit(state, batch, capabilities)?;
    let tombstones = tombstones(state, batch);
    let raw_admissions = apply(state, batch, &digests, &tombstones);
    state.version += 1;
    let mut receipt = SourceReceipt {
        receipt_id: format!("source-ingest:{}", digests.batch),
        disposition: Disposition::Committed,
        mode: batch.mode,
        batch_digest: digests.batch,
        raw_admissions,
        tombstones,
        accepted_checkpoint_digest: digest::checkpoint(&batch.provider_checkpoint),
        accepted_checkpoint: batch.provider_checkpoint.clone(),
        affected_count: (batch.records.len() + batch.relationships.len()) as u64,
        relationship_count: batch.relationships.len() as u64,
        contract_digest,
        contract_revision,
        committed_graph_version: state.version,
        receipt_digest: Digest256::ZERO,
    };
    receipt.receipt_digest = digest::receipt(&receipt);
    let version = state.version;
    let entry = state.streams.entry(key).or_default();
    entry.checkpoint = Some(batch.provider_checkpoint.clone());
    entry.last_batch = Some(digests.batch);
    entry.last_receipt = Some(receipt.receipt_id.clone());
    entry.last_version = Some(version);
    entry.receipts.insert(digests.batch, receipt.clone());
    Ok(receipt)
}

fn bounds(batch: &SourceBatch, capabilities: SinkCapabilities) -> Result<(), BatchRefusal> {
    let live = batch.authoritative_live_ids.as_ref().map_or(0, Vec::len);
    for (what, count, limit) in [
        ("records", batch.records.len(), capabilities.max_records),
        ("relationships", batch.relationships.len(), capabilities.max_relationships),
        ("live ids", live, capabilities.max_live_ids),
    ] {
        if count > limit {
            return Err(BatchRefusal::TooMany { what, count, limit });
        }
    }
    Ok(())
}

fn admit(state: &State, batch: &SourceBatch, capabilities: SinkCapabilities) -> Result<(Digest256, u64), SinkRefusal> {
    let pack = state.packs.get(&batch.connector);
    for record in &batch.records {
        let reference = &record.mapping_reference;
        let record_type = reference.record_type(&batch.connector);
        if !record_type.is_some_and(|record_type| pack.is_some_and(|pack| pack.record_types.contains(record_type))) {
            return Err(SinkRefusal::UnknownMapping { reference: reference.to_string() });
        }
    }
    let observed: BTreeSet<&EntityRef> = batch.records.iter().map(|record| &record.entity).collect();
    for (index, edge) in batch.relationships.iter().enumerate() {
        if !knows_relation(pack, edge.relation_reference.parts(&batch.connector)) {
            return Err(SinkRefusal::UnknownRelation { reference: edge.relation_reference.to_string() });
        }
        let here = |entity: &EntityRef| observed.contains(entity) || state.is_live(&batch.connector, entity);
        let both_here = here(&edge.source) && here(&edge.target);
        if !capabilities.forward_references && !both_here {
            return Err(SinkRefusal::EndpointUnknown { index });
        }
    }
    for (index, withdrawal) in batch.withdrawals.iter().enumerate() {
        if !state.is_live(&batch.connector, &withdrawal.entity) {
            return Err(SinkRefusal::WithdrawalUnknown { index });
        }
    }
    Ok(pack.map_or((Digest256::ZERO, 0), |pack| (pack.digest, pack.revision)))
}

fn knows_relation(pack: Option<&Accepted>, parts: Option<(&str, &str)>) -> bool {
    let (Some(pack), Some((owner, relation))) = (pack, parts) else { return false };
    pack.relations.contains(&(owner.to_owned(), relation.to_owned()))
}

fn tombstones(state: &State, batch: &SourceBatch) -> Vec<Tombstone> {
    let Some(live) = &batch.authoritative_live_ids else {
        let gone = batch.withdrawals.iter();
        return gone.map(|w| Tombstone { entity: w.entity.clone(), reason: w.reason.clone() }).collect();
    };
    let listed: BTreeSet<&EntityRef> = live.iter().collect();
    let stream = &batch.provider_checkpoint.stream;
    state
        .records
        .iter()
        .filter(|((connector, entity), record)| {
            record.live && *connector == batch.connector && entity.stream == *stream && !listed.contains(entity)
        })
        .map(|((_, entity), _)| Tombstone { entity: entity.clone(), reason: "not in the live set".into() })
        .collect()
}

fn apply(
    state: &mut State,
    batch: &SourceBatch,
    digests: &BatchDigests,
    tombstones: &[Tombstone],
) -> Vec<RawAdmission> {
    let mut admissions = Vec::with_capacity(batch.records.len());
    let edges = state.edges.entry(batch.connector.clone()).or_default();
    for (record, raw) in batch.records.iter().zip(&digests.raw) {
        edges.retain(|(source, relation, _)| *source != record.entity || !record.complete_relations.contains(relation));
        let key = (batch.connector.clone(), record.entity.clone());
        let before = state.records.get(&key);
        let deduplicated = before.is_some_and(|before| before.raw == *raw);
        if !before.is_some_and(|before| before.live && before.content == record.content_digest) {
            state.effects += 1;
        }
        let payload = record.payload.clone();
        state.records.insert(key, Record { payload, content: record.content_digest, raw: *raw, live: true });
        admissions.push(RawAdmission { entity: record.entity.clone(), raw_digest: *raw, deduplicated });
    }
    for edge in &batch.relationships {
        edges.insert((edge.source.clone(), edge.relation_reference.clone(), edge.target.clone()));
    }
    for tombstone in tombstones {
        if let Some(record) = state.records.get_mut(&(batch.connector.clone(), tombstone.entity.clone())) {
            record.live = false;
            state.effects += 1;
        }
    }
    admissions
}
