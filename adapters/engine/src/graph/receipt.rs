//! Reading the engine's receipt of a batch, and checking it against what was sent.

use scion_domain::digest::{self, BatchDigests};
use scion_domain::id::{Digest256, RecordId, StreamName};
use scion_domain::model::{Disposition, EntityRef, RawAdmission, SourceBatch, SourceReceipt, Tombstone};

use super::accepted::Accepted;
use super::commit::read_checkpoint;
use crate::Value;

/// The receipt; `None` when it is not one, or not of this batch.
pub(super) fn read(
    answer: &Value,
    batch: &SourceBatch,
    sent: &BatchDigests,
    contract: &Accepted,
) -> Option<SourceReceipt> {
    let digest = |name: &str| Digest256::parse_hex(answer.get(name)?.as_text()?).ok();
    let number = |name: &str| answer.get(name)?.as_natural();
    let disposition = match answer.get("disposition")?.as_text()? {
        "committed" => Disposition::Committed,
        "replayed" => Disposition::Replayed,
        _ => return None,
    };
    let list = |name: &str| answer.get(name).map_or(Some(&[] as &[Value]), Value::as_list);
    let admissions = list("raw_admissions")?.iter().map(|admission| {
        Some(RawAdmission {
            entity: entity(admission)?,
            raw_digest: Digest256::parse_hex(admission.get("raw_digest")?.as_text()?).ok()?,
            deduplicated: admission.get("deduplicated")?.as_bool()?,
        })
    });
    let tombstones = list("tombstones")?.iter().map(|gone| {
        Some(Tombstone { entity: entity(gone.get("entity")?)?, reason: gone.get("reason")?.as_text()?.to_owned() })
    });
    let receipt = SourceReceipt {
        receipt_id: answer.get("receipt_id")?.as_text()?.to_owned(),
        disposition,
        mode: batch.mode,
        batch_digest: digest("batch_digest")?,
        raw_admissions: admissions.collect::<Option<_>>()?,
        tombstones: tombstones.collect::<Option<_>>()?,
        accepted_checkpoint: read_checkpoint(answer.get("accepted_checkpoint")?)?,
        accepted_checkpoint_digest: digest("accepted_checkpoint_digest")?,
        affected_count: number("affected_count")?,
        relationship_count: number("relationship_count")?,
        contract_digest: contract.pack,
        contract_revision: contract.revision,
        committed_graph_version: number("committed_graph_version")?,
        receipt_digest: digest("receipt_digest")?,
    };
    let raw = receipt.raw_admissions.iter().map(|admission| &admission.raw_digest);
    let bound = receipt.batch_digest == sent.batch
        && receipt.accepted_checkpoint_digest == digest::checkpoint(&batch.provider_checkpoint)
        && answer.get("mode")?.as_text()? == batch.mode.as_str()
        && raw.eq(&sent.raw);
    bound.then_some(receipt)
}

fn entity(value: &Value) -> Option<EntityRef> {
    Some(EntityRef {
        stream: StreamName::parse(value.get("stream")?.as_text()?).ok()?,
        record_id: RecordId::parse(value.get("record_id")?.as_text()?).ok()?,
    })
}
