//! Where a stream stands after an ingest batch: `{sequence, batch[, cursor][, cursor_policy]}`
//! (`wire/engine-protocol.md` 7.7, R017.2).

use scion_domain::digest;
use scion_domain::id::Digest256;
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonNumber, JsonObject, to_compact};
use scion_domain::model::{EntityRef, RelationshipRecord, SourceCheckpoint, SourceRecord, Withdrawal};

use crate::ingest::IngestBinding;

/// What a batch does to the stream's cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// It stays as it is.
    #[default]
    Keep,
    /// It becomes this.
    Move(Json),
    /// It goes away: the next sync starts from the beginning.
    Clear,
}

/// The cursor an accepted checkpoint holds. Refuses the position of another kind of writer.
pub fn cursor_of(binding: &IngestBinding, accepted: Option<&SourceCheckpoint>) -> Result<Option<Json>, IngestRefusal> {
    let Some(checkpoint) = accepted else {
        return Ok(None);
    };
    sequence(binding, checkpoint)?;
    Ok(checkpoint.position.get("cursor").cloned())
}

pub(super) fn next(
    binding: &IngestBinding,
    previous: Option<&SourceCheckpoint>,
    content: Digest256,
    cursor: Cursor,
) -> Result<SourceCheckpoint, IngestRefusal> {
    let start = binding.start();
    let before = previous.unwrap_or(&start);
    let sequence = sequence(binding, before)?.checked_add(1);
    let sequence = sequence.ok_or_else(|| IngestRefusal::ForeignPosition { stream: binding.stream.to_string() })?;
    let mut position = JsonObject::new();
    position.insert("sequence".to_owned(), sequence.into());
    position.insert("batch".to_owned(), content.to_hex().into());
    let cursor = match cursor {
        Cursor::Keep => before.position.get("cursor").cloned(),
        Cursor::Move(cursor) => Some(cursor),
        Cursor::Clear => None,
    };
    if let Some(cursor) = cursor {
        position.insert("cursor".to_owned(), cursor);
    }
    if let Some(policy) = &binding.cursor_policy {
        position.insert("cursor_policy".to_owned(), policy.as_str().into());
    }
    Ok(SourceCheckpoint { position: position.into(), content_hash: None, ..before.clone() })
}

/// 0 before the first batch.
fn sequence(binding: &IngestBinding, checkpoint: &SourceCheckpoint) -> Result<u64, IngestRefusal> {
    let foreign = || IngestRefusal::ForeignPosition { stream: binding.stream.to_string() };
    let position = checkpoint.position.as_object().ok_or_else(foreign)?;
    if position.is_empty() {
        return Ok(0);
    }
    position.get("sequence").and_then(Json::as_number).and_then(JsonNumber::as_u64).ok_or_else(foreign)
}

/// SHA-256 of what a batch changes, as compact JSON with sorted keys.
pub(super) fn content_digest(
    records: &[SourceRecord],
    relationships: &[RelationshipRecord],
    withdrawals: &[Withdrawal],
    live: Option<&[EntityRef]>,
) -> Digest256 {
    let end = |entity: &EntityRef| {
        Json::from([("id", entity.record_id.as_str().into()), ("stream", entity.stream.as_str().into())])
    };
    let record = |record: &SourceRecord| {
        Json::from([
            ("id", record.entity.record_id.as_str().into()),
            ("mapping_reference", record.mapping_reference.as_str().into()),
            ("payload", record.payload.clone().into()),
            ("updated_at", record.updated_at.as_deref().into()),
        ])
    };
    let relationship = |edge: &RelationshipRecord| {
        Json::from([
            ("properties", edge.properties.clone().into()),
            ("relation_reference", edge.relation_reference.as_str().into()),
            ("source", end(&edge.source)),
            ("target", end(&edge.target)),
        ])
    };
    let withdrawal = |gone: &Withdrawal| {
        Json::from([("id", gone.entity.record_id.as_str().into()), ("reason", gone.reason.as_str().into())])
    };
    let content = Json::from([
        ("records", Json::Array(records.iter().map(record).collect())),
        ("relationships", Json::Array(relationships.iter().map(relationship).collect())),
        ("withdrawals", Json::Array(withdrawals.iter().map(withdrawal).collect())),
        ("live", live.map(|live| live.iter().map(end).collect::<Vec<_>>()).into()),
    ]);
    digest::sha256(to_compact(&content).as_bytes())
}
