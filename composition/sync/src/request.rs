//! From a change set to the batch a sink commits (R004.26, R017.2).
//!
//! The order matters: nested values are taken apart, each payload passes the privacy guard, and only then are the access
//! properties stamped, so that the guard cannot redact them.

mod nested;
mod position;
mod records;

use std::collections::{HashMap, HashSet};

use scion_domain::id::{RecordId, RecordType, RelationReference};
use scion_domain::ingest::{ChangeSet, Entity, IngestRefusal, Relationship};
use scion_domain::model::{
    BatchRefusal, EntityRef, IngestMode, RelationshipRecord, SourceBatch, SourceCheckpoint, SourceRecord, Withdrawal,
};
use scion_domain::sink::SinkCapabilities;

use crate::ingest::IngestBinding;

pub use nested::flatten;
pub use position::{Cursor, cursor_of};

/// Builds the batch of a change set that follows an accepted checkpoint.
///
/// Pure: the same input gives the same batch. Refuses records without an identity or a type, nested values nobody
/// declared, and everything [`SourceBatch::check`] refuses.
pub fn build(
    binding: &IngestBinding,
    change_set: ChangeSet,
    previous: Option<&SourceCheckpoint>,
    cursor: Cursor,
) -> Result<SourceBatch, IngestRefusal> {
    Prepared::of(binding, change_set)?.batch(binding, previous, cursor)
}

/// A change set in the terms of a batch, before it has a place in the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    mode: IngestMode,
    records: Vec<SourceRecord>,
    references: HashSet<RecordId>,
    relationships: Vec<RelationshipRecord>,
    withdrawals: Vec<Withdrawal>,
    live_ids: Option<Vec<EntityRef>>,
    approval: Option<String>,
}

impl Prepared {
    /// Takes a change set apart. Media must have become entities before.
    pub fn of(binding: &IngestBinding, change_set: ChangeSet) -> Result<Self, IngestRefusal> {
        if !change_set.media.is_empty() {
            return Err(IngestRefusal::NoMediaStore);
        }
        check_identities(&change_set)?;
        let (mode, approval) = (change_set.mode, change_set.empty_approval.clone());
        let withdrawals = withdrawals(binding, &change_set)?;
        let live_ids = live_ids(binding, &change_set)?;
        let maker = records::RecordMaker::new(binding);
        let flat = flatten(binding, change_set)?;
        let entities: Vec<Entity> =
            flat.entities.into_iter().chain(flat.documents.into_iter().map(records::document_entity)).collect();
        let types: HashMap<&str, &str> =
            entities.iter().map(|entity| (entity.id.as_str(), entity.node_type.as_str())).collect();
        let mut relationships = Vec::with_capacity(flat.relationships.len());
        let mut seen = HashSet::with_capacity(flat.relationships.len());
        for (index, edge) in flat.relationships.iter().enumerate() {
            let record = relationship(binding, &maker, index, edge, types.get(edge.source.as_str()).copied())?;
            if seen.insert((record.source.clone(), record.relation_reference.clone(), record.target.clone())) {
                relationships.push(record);
            }
        }
        let mut references = HashSet::new();
        let mut records: Vec<SourceRecord> = Vec::with_capacity(entities.len());
        for (index, entity) in entities.into_iter().enumerate() {
            let reference = entity.reference;
            let record = maker.record(index, entity)?;
            if reference {
                references.insert(record.entity.record_id.clone());
            }
            records.push(record);
        }
        Ok(Self { mode, records, references, relationships, withdrawals, live_ids, approval })
    }

    /// The ids that only stand for the end of an edge.
    pub fn references(&self) -> Vec<RecordId> {
        self.references.iter().cloned().collect()
    }

    /// Leaves out references the graph already has a record of.
    pub fn drop_references(&mut self, known: &HashSet<RecordId>) {
        let references = &self.references;
        self.records.retain(|record| {
            !(references.contains(&record.entity.record_id) && known.contains(&record.entity.record_id))
        });
    }

    /// The batch that follows an accepted checkpoint.
    pub fn batch(
        self,
        binding: &IngestBinding,
        previous: Option<&SourceCheckpoint>,
        cursor: Cursor,
    ) -> Result<SourceBatch, IngestRefusal> {
        let content =
            position::content_digest(&self.records, &self.relationships, &self.withdrawals, self.live_ids.as_deref());
        let batch = SourceBatch {
            connector: binding.connector.clone(),
            mode: self.mode,
            strict_schema: binding.strict_schema,
            provider_checkpoint: position::next(binding, previous, content, cursor)?,
            expected_previous_checkpoint: previous.cloned(),
            records: self.records,
            relationships: self.relationships,
            authoritative_live_ids: self.live_ids,
            empty_authoritative_approval: self.approval,
            withdrawals: self.withdrawals,
        };
        batch.check(true)?;
        Ok(batch)
    }
}

/// Moves a batch that keeps the stream's cursor behind another accepted checkpoint.
pub(crate) fn rebase(
    batch: &mut SourceBatch,
    binding: &IngestBinding,
    previous: Option<SourceCheckpoint>,
) -> Result<(), IngestRefusal> {
    let content = position::content_digest(
        &batch.records,
        &batch.relationships,
        &batch.withdrawals,
        batch.authoritative_live_ids.as_deref(),
    );
    batch.provider_checkpoint = position::next(binding, previous.as_ref(), content, Cursor::Keep)?;
    batch.expected_previous_checkpoint = previous;
    Ok(())
}

/// Refuses a batch over the bounds a sink declares.
pub fn check_size(batch: &SourceBatch, sink: &SinkCapabilities) -> Result<(), IngestRefusal> {
    let live = batch.authoritative_live_ids.as_ref().map_or(0, Vec::len);
    for (what, count, limit) in [
        ("records", batch.records.len(), sink.max_records),
        ("relationships", batch.relationships.len(), sink.max_relationships),
        ("live ids", live, sink.max_live_ids),
        ("withdrawals", batch.withdrawals.len(), sink.max_records),
    ] {
        if count > limit {
            return Err(BatchRefusal::TooMany { what, count, limit }.into());
        }
    }
    Ok(())
}

/// Refuses entities without an id or a type and documents without an id or a text.
pub fn check_identities(change_set: &ChangeSet) -> Result<(), IngestRefusal> {
    for (index, entity) in change_set.entities.iter().enumerate() {
        if entity.id.trim().is_empty() {
            return Err(IngestRefusal::EntityWithoutId { index });
        }
        if RecordType::parse(&entity.node_type).is_err() {
            return Err(IngestRefusal::EntityWithoutType { index });
        }
    }
    for (index, document) in change_set.documents.iter().enumerate() {
        for (what, text) in [("id", &document.id), ("text", &document.text), ("type", &document.doc_type)] {
            if text.trim().is_empty() {
                return Err(IngestRefusal::DocumentIncomplete { index, what });
            }
        }
    }
    Ok(())
}

fn entity_ref(binding: &IngestBinding, id: &str) -> Result<EntityRef, IngestRefusal> {
    Ok(EntityRef { stream: binding.stream.clone(), record_id: RecordId::parse(id)? })
}

fn relationship(
    binding: &IngestBinding,
    maker: &records::RecordMaker<'_>,
    index: usize,
    edge: &Relationship,
    here: Option<&str>,
) -> Result<RelationshipRecord, IngestRefusal> {
    for (what, text) in [("source", &edge.source), ("target", &edge.target), ("name", &edge.relation)] {
        if text.trim().is_empty() {
            return Err(IngestRefusal::RelationshipIncomplete { index, what });
        }
    }
    let source_type = here.or(edge.source_type.as_deref()).ok_or(IngestRefusal::RelationshipUnanchored { index })?;
    let source_type = RecordType::parse(source_type)?;
    let mut target = entity_ref(binding, &edge.target)?;
    if let Some(stream) = &edge.target_stream {
        target.stream = stream.clone();
    }
    Ok(RelationshipRecord {
        source: entity_ref(binding, &edge.source)?,
        target,
        relation_reference: RelationReference::of(&binding.connector, &source_type, &edge.relation)?,
        properties: maker.guarded(edge.properties.clone()),
        provenance: maker.provenance(&edge.source),
    })
}

fn withdrawals(binding: &IngestBinding, change_set: &ChangeSet) -> Result<Vec<Withdrawal>, IngestRefusal> {
    let withdrawal =
        |(id, reason): &(String, String)| Ok(Withdrawal { entity: entity_ref(binding, id)?, reason: reason.clone() });
    change_set.withdrawals.iter().map(withdrawal).collect()
}

fn live_ids(binding: &IngestBinding, change_set: &ChangeSet) -> Result<Option<Vec<EntityRef>>, IngestRefusal> {
    let ids = change_set.live_ids.as_ref();
    ids.map(|ids| ids.iter().map(|id| entity_ref(binding, id)).collect()).transpose()
}
