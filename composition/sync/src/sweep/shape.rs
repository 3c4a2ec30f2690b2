//! From the records of a page to what a batch carries: identity, mapping, guarded payload, edges, stubs and digests.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use scion_domain::digest::ContentHasher;
use scion_domain::id::{Digest256, MappingReference, RecordId, RecordType, RelationReference};
use scion_domain::json::{Json, JsonObject};
use scion_domain::model::{EntityRef, Provenance, RelationshipRecord, SourceRecord};
use scion_domain::source::{RawRecord, RawRelationship};
use scion_domain::sync::SyncRefusal;

use super::edges::{Reference, references};
use super::plan::{EdgePlan, StreamPlan};

/// The first bytes of a stub's content digest. A record of the source has them with a chance of one in 2^64, and then at
/// worst a stub replaces it until the next full sweep.
const STUB_MARK: [u8; 8] = [0; 8];

/// One record that must be sent, with everything that goes with it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) record: SourceRecord,
    pub(crate) edges: Vec<RelationshipRecord>,
    /// Stubs its edges lead to, by id.
    pub(crate) stubs: Vec<RecordId>,
}

/// A record of the page before anybody decided whether it must be sent.
pub(crate) struct Candidate {
    pub(crate) raw: RawRecord,
    pub(crate) stated: Vec<RawRelationship>,
    pub(crate) digest: Digest256,
}

/// Shapes the records of one stream.
pub(crate) struct Shaper<'p> {
    plan: &'p StreamPlan,
    hasher: ContentHasher,
    tool_digest: Digest256,
    complete_relations: Arc<[RelationReference]>,
    /// Stubs wanted by the items of the current page.
    pub(crate) stubs: BTreeMap<RecordId, SourceRecord>,
    /// References of a record to itself, which are no edges.
    pub(crate) self_references: u64,
}

impl<'p> Shaper<'p> {
    pub(crate) fn new(plan: &'p StreamPlan, tool_digest: Digest256) -> Self {
        Self {
            plan,
            hasher: ContentHasher::new(plan.shape),
            tool_digest,
            complete_relations: plan.edges.iter().map(|edge| edge.relation.clone()).collect(),
            stubs: BTreeMap::new(),
            self_references: 0,
        }
    }

    /// Digests every record, with the edges the source states for it.
    pub(crate) fn candidates(&mut self, records: Vec<RawRecord>, stated: Vec<RawRelationship>) -> Vec<Candidate> {
        let mut by_source: HashMap<RecordId, Vec<RawRelationship>> = HashMap::new();
        for edge in stated {
            by_source.entry(edge.source.clone()).or_default().push(edge);
        }
        let shape = |raw: RawRecord| {
            let stated = by_source.remove(&raw.id).unwrap_or_default();
            let digest = self.digest(&raw, &stated);
            Candidate { raw, stated, digest }
        };
        records.into_iter().map(shape).collect()
    }

    fn digest(&mut self, raw: &RawRecord, stated: &[RawRelationship]) -> Digest256 {
        if stated.is_empty() {
            return self.hasher.digest(&raw.payload);
        }
        let edges = stated.iter().map(|edge| {
            Json::from([
                ("target", Json::from(edge.target.as_str())),
                ("relation", Json::from(edge.relation.as_str())),
                ("properties", Json::Object(edge.properties.clone())),
            ])
        });
        let both = [
            ("payload".to_owned(), Json::Object(raw.payload.clone())),
            ("edges".to_owned(), Json::Array(edges.collect())),
        ];
        self.hasher.digest(&both.into())
    }

    /// Everything that goes with one record that must be sent.
    pub(crate) fn item(&mut self, candidate: Candidate) -> Result<Item, SyncRefusal> {
        let Candidate { raw, stated, digest } = candidate;
        let (record_type, mapping_reference) = self.mapping_of(&raw.payload)?;
        let entity = EntityRef { stream: self.plan.stream.clone(), record_id: raw.id };
        let provenance = self.provenance(&entity.record_id);
        let mut edges = Vec::new();
        let mut seen = HashSet::new();
        let mut stubs = Vec::new();
        let plan = self.plan;
        for edge in &plan.edges {
            for reference in references(&edge.spec, &raw.payload) {
                self.edge(edge, reference, &entity, &mut edges, &mut seen, &mut stubs)?;
            }
        }
        for edge in stated {
            edges.push(self.stated_edge(edge, &record_type, &entity)?);
        }
        let mut payload = raw.payload;
        self.flatten(&record_type, &mut payload)?;
        self.plan.persistence.apply(&mut payload);
        let record = SourceRecord {
            entity,
            mapping_reference,
            payload,
            updated_at: raw.updated_at,
            provenance,
            content_digest: digest,
            complete_relations: self.complete_relations.clone(),
        };
        Ok(Item { record, edges, stubs })
    }

    /// Every stub the edges of a record lead to, for the live set of a reconcile batch.
    pub(crate) fn stub_ids(&self, payload: &JsonObject) -> Result<Vec<RecordId>, SyncRefusal> {
        let edges = self.plan.edges.iter().filter(|edge| edge.stub_mapping.is_some());
        let ids = edges.flat_map(|edge| references(&edge.spec, payload));
        ids.map(|reference| RecordId::parse(&reference.target_id).map_err(SyncRefusal::from)).collect()
    }

    /// Wants the stubs of records that are not listed although this record, changed or not, leads to them. By a complete
    /// live list, each takes the place of a real record that is gone.
    pub(crate) fn want_missing(&mut self, raw: &RawRecord, listed: &HashSet<RecordId>) -> Result<(), SyncRefusal> {
        let plan = self.plan;
        for edge in &plan.edges {
            let Some(mapping) = &edge.stub_mapping else { continue };
            for reference in references(&edge.spec, &raw.payload) {
                let record_id = RecordId::parse(&reference.target_id)?;
                if record_id != raw.id && !listed.contains(&record_id) {
                    let target = EntityRef { stream: plan.stream.clone(), record_id };
                    self.want_stub(&target, mapping, reference.properties);
                }
            }
        }
        Ok(())
    }

    fn edge(
        &mut self,
        edge: &EdgePlan,
        reference: Reference,
        from: &EntityRef,
        edges: &mut Vec<RelationshipRecord>,
        seen: &mut HashSet<(EntityRef, RelationReference)>,
        stubs: &mut Vec<RecordId>,
    ) -> Result<(), SyncRefusal> {
        let record_id = RecordId::parse(&reference.target_id)?;
        let stream = edge.spec.target_stream.clone().unwrap_or_else(|| self.plan.stream.clone());
        let target = EntityRef { stream, record_id };
        if target == *from {
            self.self_references += 1;
            return Ok(());
        }
        if let Some(mapping) = &edge.stub_mapping {
            stubs.push(target.record_id.clone());
            self.want_stub(&target, mapping, reference.properties);
        }
        if seen.insert((target.clone(), edge.relation.clone())) {
            let provenance = self.edge_provenance(from, &target);
            let (source, relation_reference) = (from.clone(), edge.relation.clone());
            edges.push(RelationshipRecord {
                source,
                target,
                relation_reference,
                properties: JsonObject::new(),
                provenance,
            });
        }
        Ok(())
    }

    /// Remembers a stub; what several references say of one target is put together.
    fn want_stub(&mut self, target: &EntityRef, mapping: &MappingReference, mut properties: JsonObject) {
        self.plan.persistence.apply(&mut properties);
        let provenance = self.provenance(&target.record_id);
        let stub = self.stubs.entry(target.record_id.clone()).or_insert_with(|| SourceRecord {
            entity: target.clone(),
            mapping_reference: mapping.clone(),
            payload: JsonObject::new(),
            updated_at: None,
            provenance,
            content_digest: Digest256::ZERO,
            complete_relations: Arc::from([]),
        });
        for (property, value) in properties {
            stub.payload.entry(property).or_insert(value);
        }
    }

    /// Takes the stubs wanted so far, each with its digest.
    pub(crate) fn take_stubs(&mut self) -> BTreeMap<RecordId, SourceRecord> {
        let mut stubs = std::mem::take(&mut self.stubs);
        for stub in stubs.values_mut() {
            let content = [
                ("stub_of".to_owned(), Json::from(stub.mapping_reference.as_str())),
                ("payload".to_owned(), Json::Object(stub.payload.clone())),
            ];
            let mut bytes = *self.hasher.digest(&content.into()).as_bytes();
            bytes[..STUB_MARK.len()].copy_from_slice(&STUB_MARK);
            stub.content_digest = Digest256::from_bytes(bytes);
        }
        stubs
    }

    fn stated_edge(
        &self,
        edge: RawRelationship,
        record_type: &RecordType,
        from: &EntityRef,
    ) -> Result<RelationshipRecord, SyncRefusal> {
        let target = EntityRef { stream: self.plan.stream.clone(), record_id: edge.target };
        let relation_reference = RelationReference::of(&self.plan.connector, record_type, &edge.relation)?;
        let provenance = self.edge_provenance(from, &target);
        Ok(RelationshipRecord {
            source: from.clone(),
            target,
            relation_reference,
            properties: edge.properties,
            provenance,
        })
    }

    fn mapping_of(&self, payload: &JsonObject) -> Result<(RecordType, MappingReference), SyncRefusal> {
        let own = Some(&self.plan.node_type_field).filter(|field| !field.is_empty());
        let own = own.and_then(|field| payload.get(field)).and_then(Json::as_str);
        if let Some(name) = own {
            let record_type = RecordType::parse(name)?;
            let reference = self.plan.known_types.get(name).cloned();
            // An undeclared type keeps its own reference: the sink's answer names it (UNKNOWN_MAPPING_REFERENCE).
            let reference = reference.map_or_else(|| MappingReference::of(&self.plan.connector, &record_type), Ok);
            return Ok((record_type, reference?));
        }
        self.plan.mapping.clone().ok_or_else(|| SyncRefusal::TypeMissing {
            stream: self.plan.stream.to_string(),
            field: self.plan.node_type_field.clone(),
        })
    }

    /// An object in a mapped field becomes an edge where one is declared (and is taken out of the payload), and is
    /// refused where none is (R017.2, R017.4).
    fn flatten(&self, record_type: &RecordType, payload: &mut JsonObject) -> Result<(), SyncRefusal> {
        let Some(mapped) = self.plan.mapped_fields.get(record_type.as_str()) else { return Ok(()) };
        let nested = |value: &Json| match value {
            Json::Object(_) => true,
            Json::Array(items) => items.iter().any(|item| item.as_object().is_some()),
            _ => false,
        };
        let found: Vec<&String> = mapped.iter().filter(|field| payload.get(*field).is_some_and(nested)).collect();
        for field in found {
            let covers = |edge: &EdgePlan| edge.spec.target_field.split('.').next() == Some(field.as_str());
            if !self.plan.edges.iter().any(covers) {
                let record_type = record_type.to_string();
                return Err(SyncRefusal::NestedValue { record_type, field: field.clone() });
            }
            payload.remove(field);
        }
        Ok(())
    }

    fn provenance(&self, id: &RecordId) -> Provenance {
        self.provenance_at(format!("mcp-tool://{}/{}/{id}", self.plan.server, self.plan.tool))
    }

    fn edge_provenance(&self, from: &EntityRef, to: &EntityRef) -> Provenance {
        let (server, tool) = (&self.plan.server, &self.plan.tool);
        self.provenance_at(format!("mcp-tool://{server}/{tool}/relationships/{}/{}", from.record_id, to.record_id))
    }

    fn provenance_at(&self, source_uri: String) -> Provenance {
        Provenance {
            connector: self.plan.connector.clone(),
            adapter_kind: "mcp_tool".to_owned(),
            server: self.plan.server.clone(),
            tool: self.plan.tool.clone(),
            tool_schema_sha256: self.tool_digest,
            source_uri,
        }
    }
}

/// Whether a stored content digest is that of a stub.
pub(crate) fn is_stub(digest: &Digest256) -> bool {
    digest.as_bytes().starts_with(&STUB_MARK)
}

/// The stubs that must really be sent, given what the store has of each: unknown ones, stubs that know more than the stored
/// one, and, where a complete live list says that the real record is gone, the stub in its place. A real record wins.
pub(crate) fn stubs_to_send(
    stubs: BTreeMap<RecordId, SourceRecord>,
    stored: &[Option<Digest256>],
    live: Option<&HashSet<RecordId>>,
) -> BTreeMap<RecordId, SourceRecord> {
    let wanted = |(id, stub): &(RecordId, SourceRecord), stored: &Option<Digest256>| match stored {
        None => true,
        Some(known) if is_stub(known) => *known != stub.content_digest && !stub.payload.is_empty(),
        Some(_) => live.is_some_and(|live| !live.contains(id)),
    };
    let pairs = stubs.into_iter().zip(stored);
    pairs.filter(|(pair, stored)| wanted(pair, stored)).map(|(pair, _)| pair).collect()
}
