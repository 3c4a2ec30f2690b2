//! What mappers fill.

use std::collections::{HashMap, HashSet};

use scion_domain::ingest::{ChangeSet, Document, Entity, Relationship};

/// Entities, edges and documents as mappers emit them, each once.
#[derive(Clone, Debug, Default)]
pub struct Mapped {
    entities: Vec<Entity>,
    places: HashMap<String, usize>,
    relationships: Vec<Relationship>,
    edges: HashSet<(String, String, String)>,
    documents: Vec<Document>,
    document_ids: HashSet<String>,
    skipped: usize,
}

impl Mapped {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entity. One whose id was added before is dropped; one that was so far only the target of an edge takes its
    /// place.
    pub fn entity(&mut self, entity: Entity) -> &mut Self {
        match self.places.get(&entity.id) {
            // Entities without an id are refused or skipped later, each on its own.
            _ if entity.id.is_empty() => self.entities.push(entity),
            None => {
                self.places.insert(entity.id.clone(), self.entities.len());
                self.entities.push(entity);
            }
            Some(&index) if self.entities[index].reference && !entity.reference => self.entities[index] = entity,
            Some(_) => {}
        }
        self
    }

    /// Adds the target of an edge as an entity, unless its id is there already.
    pub fn target(&mut self, mut entity: Entity) -> &mut Self {
        entity.reference = true;
        self.entity(entity)
    }

    /// Adds an edge; the same edge again is dropped.
    pub fn edge(&mut self, edge: Relationship) -> &mut Self {
        let key = (edge.source.clone(), edge.relation.clone(), edge.target.clone());
        if self.edges.insert(key) {
            self.relationships.push(edge);
        }
        self
    }

    /// Adds a document; one whose id was added before is dropped.
    pub fn document(&mut self, document: Document) -> &mut Self {
        if document.id.is_empty() || self.document_ids.insert(document.id.clone()) {
            self.documents.push(document);
        }
        self
    }

    /// Counts something that was left out on purpose.
    pub fn skip(&mut self) -> &mut Self {
        self.skipped += 1;
        self
    }

    /// How much was left out.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The entities so far.
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// The edges so far.
    pub fn relationships(&self) -> &[Relationship] {
        &self.relationships
    }

    /// The documents so far.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.relationships.is_empty() && self.documents.is_empty()
    }

    /// The change set. Every edge whose source is here carries the source's type, so that it keeps its meaning when it is
    /// committed apart from it.
    pub fn into_change_set(mut self) -> ChangeSet {
        let documents: HashMap<&str, &str> =
            self.documents.iter().map(|document| (document.id.as_str(), document.doc_type.as_str())).collect();
        for edge in self.relationships.iter_mut().filter(|edge| edge.source_type.is_none()) {
            let entity = self.places.get(&edge.source).map(|&index| self.entities[index].node_type.as_str());
            edge.source_type = entity.or_else(|| documents.get(edge.source.as_str()).copied()).map(str::to_owned);
        }
        ChangeSet {
            entities: self.entities,
            relationships: self.relationships,
            documents: self.documents,
            ..ChangeSet::default()
        }
    }
}
