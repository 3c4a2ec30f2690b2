//! Digests that are ours to define. Each has its own versioned domain; changing a recipe means a new domain.

use super::msgpack::Writer;
use super::{NumberForm, batch::write_entity, checkpoint, framed};
use crate::canonical::{lossless_json, write_lossless_object};
use crate::id::Digest256;
use crate::json::JsonObject;
use crate::model::{PackEntry, PackImport, SourceReceipt};
use crate::pack::references_digest;

const RECORD_CONTENT: &str = "scion/record-content/v1";

/// Digest of a record's content under a shape: framed `scion/record-content/v1` over the 32 bytes of the shape digest and the
/// [lossless text](crate::canonical::lossless_json) of the payload. Two payloads share it exactly when they are equal as
/// values: member order and `1` against `1.0` do not matter, every digit does.
pub fn record_content(shape: &Digest256, payload: &JsonObject) -> Digest256 {
    ContentHasher::new(*shape).digest(payload)
}

/// [`record_content`] for many records of one shape, with one buffer.
#[derive(Debug)]
pub struct ContentHasher {
    shape: Digest256,
    text: String,
}

impl ContentHasher {
    /// For records of this shape.
    pub fn new(shape: Digest256) -> Self {
        Self { shape, text: String::with_capacity(1024) }
    }

    /// The digest of one record.
    pub fn digest(&mut self, payload: &JsonObject) -> Digest256 {
        self.text.clear();
        write_lossless_object(payload, &mut self.text);
        framed(RECORD_CONTENT, &[self.shape.as_bytes(), self.text.as_bytes()])
    }
}

/// Digest of a pack's content: framed `scion/pack/v2` over the connector and [`pack_entry`] of each entry in the order of their
/// URIs. The order of the entries, the expected revision and the permission to withdraw do not count, and neither does the
/// version the server gives itself: a release that publishes the same content publishes the same pack.
pub fn pack(import: &PackImport) -> Digest256 {
    let mut entries: Vec<(&str, Digest256)> =
        import.entries.iter().map(|entry| (entry.uri.as_str(), pack_entry(entry))).collect();
    entries.sort_unstable();
    let mut fields: Vec<&[u8]> = Vec::with_capacity(1 + entries.len());
    fields.push(import.connector.as_str().as_bytes());
    fields.extend(entries.iter().map(|(_, digest)| digest.as_bytes().as_slice()));
    framed("scion/pack/v2", &fields)
}

/// Digest of one entry of a pack, framed `scion/pack-entry/v1` over everything it says: kind, URI, name, media type, body, both
/// schemas, annotations, links and facts. An absent schema is not an empty one; the order of links does not count.
pub fn pack_entry(entry: &PackEntry) -> Digest256 {
    let present = |schema: &Option<Vec<u8>>| {
        let mut field = Vec::new();
        if let Some(schema) = schema {
            field.push(1);
            field.extend_from_slice(schema);
        }
        field
    };
    let facts = entry.facts.as_ref().map(|facts| lossless_json(&facts.to_json())).unwrap_or_default();
    framed(
        "scion/pack-entry/v1",
        &[
            entry.kind.as_bytes(),
            entry.uri.as_bytes(),
            entry.name.as_bytes(),
            entry.media_type.as_bytes(),
            &entry.body,
            &present(&entry.input_schema),
            &present(&entry.output_schema),
            lossless_json(&entry.annotations.to_json()).as_bytes(),
            references_digest(&entry.references).as_bytes(),
            facts.as_bytes(),
        ],
    )
}

/// Digest of a receipt: framed `scion/source-receipt/v1` over everything it says except `disposition`, so that a replayed
/// commit answers the same digest, and `receipt_digest` itself.
pub fn receipt(receipt: &SourceReceipt) -> Digest256 {
    let mut admissions = Writer::new(NumberForm::Lossless);
    admissions.array(receipt.raw_admissions.len());
    for admission in &receipt.raw_admissions {
        admissions.array(3);
        write_entity(&mut admissions, &admission.entity);
        admissions.text(&admission.raw_digest.to_hex());
        admissions.bool(admission.deduplicated);
    }
    let mut tombstones = Writer::new(NumberForm::Lossless);
    tombstones.array(receipt.tombstones.len());
    for tombstone in &receipt.tombstones {
        tombstones.array(2);
        write_entity(&mut tombstones, &tombstone.entity);
        tombstones.text(&tombstone.reason);
    }
    let mut counters = Writer::new(NumberForm::Lossless);
    counters.array(4);
    for counter in
        [receipt.affected_count, receipt.relationship_count, receipt.contract_revision, receipt.committed_graph_version]
    {
        counters.uint(counter);
    }
    framed(
        "scion/source-receipt/v1",
        &[
            receipt.receipt_id.as_bytes(),
            receipt.mode.as_str().as_bytes(),
            receipt.batch_digest.as_bytes(),
            admissions.bytes(),
            tombstones.bytes(),
            checkpoint(&receipt.accepted_checkpoint).as_bytes(),
            receipt.accepted_checkpoint_digest.as_bytes(),
            receipt.contract_digest.as_bytes(),
            counters.bytes(),
        ],
    )
}
