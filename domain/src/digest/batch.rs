//! A source batch in the engine's field order (`wire/engine-protocol.md` 7.2).

use std::ops::Range;

use super::msgpack::Writer;
use super::{DigestRefusal, NumberForm, framed, sha256};
use crate::id::Digest256;
use crate::model::{EntityRef, Provenance, RelationshipRecord, SourceBatch, SourceCheckpoint, SourceRecord};

/// What identifies a batch and its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchDigests {
    /// `eg/source-ingestion-batch/v2`.
    pub batch: Digest256,
    /// SHA-256 of each record's own bytes, in the order of the batch.
    pub raw: Vec<Digest256>,
}

/// The digests of a batch, with every number committable ([`NumberForm::Lossless`]).
pub fn batch(batch: &SourceBatch) -> Result<BatchDigests, DigestRefusal> {
    batch_with(batch, NumberForm::Lossless)
}

/// The digests of a batch: one encoding, hashed whole and record by record.
pub fn batch_with(batch: &SourceBatch, form: NumberForm) -> Result<BatchDigests, DigestRefusal> {
    let (bytes, records) = encode(batch, form)?;
    Ok(BatchDigests {
        batch: framed("eg/source-ingestion-batch/v2", &[&bytes]),
        raw: records.into_iter().map(|range| sha256(&bytes[range])).collect(),
    })
}

/// The canonical MessagePack of a batch.
pub fn encode_batch(batch: &SourceBatch, form: NumberForm) -> Result<Vec<u8>, DigestRefusal> {
    encode(batch, form).map(|(bytes, _)| bytes)
}

fn encode(batch: &SourceBatch, form: NumberForm) -> Result<(Vec<u8>, Vec<Range<usize>>), DigestRefusal> {
    let mut out = Writer::new(form);
    let mut ranges = Vec::with_capacity(batch.records.len());
    out.map(10);
    out.member("connector", batch.connector.as_str());
    out.member("mode", batch.mode.as_str());
    out.text("strict_schema");
    out.bool(batch.strict_schema);
    out.list("records", &batch.records, |out, record| {
        let start = out.bytes().len();
        write_record(out, record);
        ranges.push(start..out.bytes().len());
    });
    out.list("relationships", &batch.relationships, write_relationship);
    out.text("provider_checkpoint");
    out.within("provider_checkpoint", |out| write_checkpoint(out, &batch.provider_checkpoint));
    out.text("expected_previous_checkpoint");
    match &batch.expected_previous_checkpoint {
        Some(previous) => out.within("expected_previous_checkpoint", |out| write_checkpoint(out, previous)),
        None => out.nil(),
    }
    if let Some(live) = &batch.authoritative_live_ids {
        out.list("authoritative_live_ids", live, write_entity);
    } else {
        out.text("authoritative_live_ids");
        out.nil();
    }
    out.text("empty_authoritative_approval");
    match &batch.empty_authoritative_approval {
        Some(approval) => out.text(approval),
        None => out.nil(),
    }
    out.list("withdrawals", &batch.withdrawals, |out, withdrawal| {
        out.map(2);
        out.text("entity");
        write_entity(out, &withdrawal.entity);
        out.member("reason", &withdrawal.reason);
    });
    Ok((out.finish()?, ranges))
}

pub(super) fn write_entity(out: &mut Writer, entity: &EntityRef) {
    out.map(2);
    out.member("stream", entity.stream.as_str());
    out.member("record_id", entity.record_id.as_str());
}

fn write_record(out: &mut Writer, record: &SourceRecord) {
    out.map(5 + usize::from(record.updated_at.is_some()));
    out.member("stream", record.entity.stream.as_str());
    out.member("record_id", record.entity.record_id.as_str());
    out.member("mapping_reference", record.mapping_reference.as_str());
    out.text("payload");
    out.within("payload", |out| out.object(&record.payload));
    if let Some(updated_at) = &record.updated_at {
        out.member("updated_at", updated_at);
    }
    write_provenance(out, &record.provenance);
}

fn write_relationship(out: &mut Writer, edge: &RelationshipRecord) {
    out.map(4 + usize::from(!edge.properties.is_empty()));
    out.text("source");
    write_entity(out, &edge.source);
    out.text("target");
    write_entity(out, &edge.target);
    out.member("relation_reference", edge.relation_reference.as_str());
    if !edge.properties.is_empty() {
        out.text("properties");
        out.within("properties", |out| out.object(&edge.properties));
    }
    write_provenance(out, &edge.provenance);
}

fn write_provenance(out: &mut Writer, provenance: &Provenance) {
    out.text("provenance");
    out.map(6);
    out.member("connector", provenance.connector.as_str());
    out.member("adapter_kind", &provenance.adapter_kind);
    out.member("server", &provenance.server);
    out.member("tool", &provenance.tool);
    out.member("tool_schema_sha256", &provenance.tool_schema_sha256.to_hex());
    out.member("source_uri", &provenance.source_uri);
}

fn write_checkpoint(out: &mut Writer, checkpoint: &SourceCheckpoint) {
    let content_hash = checkpoint.content_hash.map(Digest256::to_hex);
    let optional = [
        ("content_hash", content_hash.as_deref()),
        ("watermark", checkpoint.watermark.as_deref()),
        ("pending_watermark", checkpoint.pending_watermark.as_deref()),
    ];
    out.map(2 + optional.iter().filter(|(_, value)| value.is_some()).count());
    out.member("stream", checkpoint.stream.as_str());
    out.text("position");
    out.within("position", |out| out.json(&checkpoint.position));
    for (name, value) in optional {
        if let Some(value) = value {
            out.member(name, value);
        }
    }
}
