//! Digests that are ours to define. Each has its own versioned domain; changing a recipe means a new domain.

use super::msgpack::Writer;
use super::{NumberForm, batch::write_entity, checkpoint, framed};
use crate::canonical::write_lossless_object;
use crate::id::Digest256;
use crate::json::JsonObject;
use crate::model::{PackEntry, PackImport, SourceReceipt};

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

/// Digest of a pack's content: framed `scion/pack/v1` over the connector, then kind, URI, media type and body of each entry,
/// entries ordered by URI. The order of the entries, the expected revision and the permission to withdraw do not count.
pub fn pack(import: &PackImport) -> Digest256 {
    let mut entries: Vec<&PackEntry> = import.entries.iter().collect();
    entries.sort_by_key(|entry| (&entry.uri, &entry.kind, &entry.media_type, &entry.body));
    let mut fields: Vec<&[u8]> = Vec::with_capacity(1 + 4 * entries.len());
    fields.push(import.connector.as_str().as_bytes());
    for entry in entries {
        fields.extend([entry.kind.as_bytes(), entry.uri.as_bytes(), entry.media_type.as_bytes(), &entry.body]);
    }
    framed("scion/pack/v1", &fields)
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
