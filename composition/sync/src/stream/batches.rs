//! A mapped result in batches: all records first, then the relationships (R004.33).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use scion_domain::ingest::{ChangeSet, Document, Entity, Relationship};

/// Splits a flat change set into parts of at most `size` records and relationships. Every record and every edge is in
/// exactly one part, apart from the anchors: a part with relationships repeats the entity its first edge starts from, and
/// every further source of which it holds all edges of a declared relation, so that edges that are gone go away. A repeated
/// entity is equal to the first one.
///
/// A change set that fits one part, or one that is not a plain delta, stays whole.
pub(super) fn split(change_set: ChangeSet, size: usize) -> Vec<ChangeSet> {
    let fits = change_set.record_count() + change_set.relationships.len() <= size;
    if fits
        || !change_set.withdrawals.is_empty()
        || change_set.live_ids.is_some()
        || change_set.empty_approval.is_some()
    {
        return vec![change_set];
    }
    let part = || ChangeSet { mode: change_set.mode, flat: change_set.flat, ..ChangeSet::default() };
    let with_edges: HashSet<(&str, &str)> =
        change_set.relationships.iter().map(|edge| (edge.source.as_str(), edge.relation.as_str())).collect();
    let without = |id: &str, relations: &[String]| -> Vec<String> {
        relations.iter().filter(|relation| !with_edges.contains(&(id, relation.as_str()))).cloned().collect()
    };
    let mut parts = Vec::new();
    let types: HashMap<&str, &Entity> = change_set.entities.iter().map(|entity| (entity.id.as_str(), entity)).collect();
    for chunk in change_set.entities.chunks(size) {
        let mut entities = chunk.to_vec();
        for entity in &mut entities {
            // A relation with edges is complete only where its edges are.
            entity.complete_relations = without(&entity.id, &entity.complete_relations);
        }
        parts.push(ChangeSet { entities, ..part() });
    }
    for chunk in change_set.documents.chunks(size) {
        let mut documents = chunk.to_vec();
        for document in &mut documents {
            document.complete_relations = without(&document.id, &document.complete_relations);
        }
        parts.push(ChangeSet { documents, ..part() });
    }
    for chunk in change_set.media.chunks(size) {
        parts.push(ChangeSet { media: chunk.to_vec(), ..part() });
    }
    let documents: HashMap<&str, &Document> =
        change_set.documents.iter().map(|document| (document.id.as_str(), document)).collect();
    for placed in edge_parts(&change_set.relationships, size) {
        let relationships = placed
            .iter()
            .map(|edge| {
                let mut edge = edge.edge.clone();
                if edge.source_type.is_none() {
                    let entity = types.get(edge.source.as_str()).map(|entity| &entity.node_type);
                    let document = || documents.get(edge.source.as_str()).map(|document| &document.doc_type);
                    edge.source_type = entity.or_else(document).cloned();
                }
                edge
            })
            .collect();
        let mut anchored = ChangeSet { relationships, ..part() };
        anchor(&mut anchored, &placed, &types, &documents);
        if anchored.record_count() == 0 {
            let source = placed.first().and_then(|placed| types.get(placed.edge.source.as_str()).copied());
            let one = source.or(change_set.entities.first());
            anchored.entities.extend(one.map(|entity| Entity { complete_relations: Vec::new(), ..entity.clone() }));
        }
        parts.push(anchored);
    }
    parts
}

/// An edge, and whether its part has every edge of its source.
struct Placed<'a> {
    edge: &'a Relationship,
    whole_source: bool,
}

/// Edges in parts, those of one source together where they fit.
fn edge_parts(relationships: &[Relationship], size: usize) -> Vec<Vec<Placed<'_>>> {
    let mut order: Vec<&str> = Vec::new();
    let mut by_source: HashMap<&str, Vec<&Relationship>> = HashMap::new();
    for edge in relationships {
        let edges = by_source.entry(edge.source.as_str()).or_default();
        if edges.is_empty() {
            order.push(&edge.source);
        }
        edges.push(edge);
    }
    let mut parts: Vec<Vec<Placed<'_>>> = Vec::new();
    for source in order {
        let edges = &by_source[source];
        let whole_source = edges.len() <= size;
        for chunk in edges.chunks(size) {
            let placed = chunk.iter().map(|edge| Placed { edge, whole_source });
            match parts.last_mut() {
                Some(last) if last.len() + chunk.len() <= size => last.extend(placed),
                _ => parts.push(placed.collect()),
            }
        }
    }
    parts
}

/// Repeats every source of which the part holds all edges of a relation that is said to be complete.
fn anchor(
    part: &mut ChangeSet,
    placed: &[Placed<'_>],
    entities: &HashMap<&str, &Entity>,
    documents: &HashMap<&str, &Document>,
) {
    let mut here: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for placed in placed.iter().filter(|placed| placed.whole_source) {
        here.entry(&placed.edge.source).or_default().insert(&placed.edge.relation);
    }
    for (source, relations) in here {
        // A relation without edges was said to be complete with the record itself.
        let complete = |said: &[String]| -> Vec<String> {
            said.iter().filter(|relation| relations.contains(relation.as_str())).cloned().collect()
        };
        if let Some(&entity) = entities.get(source) {
            let complete_relations = complete(&entity.complete_relations);
            if !complete_relations.is_empty() {
                part.entities.push(Entity { complete_relations, ..entity.clone() });
            }
        } else if let Some(&document) = documents.get(source) {
            let complete_relations = complete(&document.complete_relations);
            if !complete_relations.is_empty() {
                part.documents.push(Document { complete_relations, ..document.clone() });
            }
        }
    }
}
