//! Nested values become entities and relationships (R017.2).

use std::collections::HashMap;

use scion_domain::access::ExternalAccess;
use scion_domain::ingest::{ChangeSet, Entity, IngestRefusal, Relationship};
use scion_domain::json::{Json, JsonObject};
use scion_domain::sync::SyncRefusal;

use crate::ingest::{IngestBinding, NestedMapping};
use crate::mapping::{id_text, is_blank};

/// Takes the nested values of a change set apart, so that no object is left inside a property and each entity stands once.
///
/// An object, or a list with objects, needs the mapping declared for its type and field, or is refused as
/// [`SyncRefusal::NestedValue`]. An empty object emits nothing. The same entity twice is kept once: the change
/// set's own over one from a nested value, a record over a reference, and otherwise the first. Two different entities of
/// the change set with one id are left for the batch to refuse. Doing it again changes nothing.
pub fn flatten(binding: &IngestBinding, mut change_set: ChangeSet) -> Result<ChangeSet, IngestRefusal> {
    let mut work = Work {
        binding,
        first: !change_set.flat,
        nested: Vec::new(),
        edges: std::mem::take(&mut change_set.relationships),
    };
    for document in &mut change_set.documents {
        let owner = Owner { id: &document.id, node_type: &document.doc_type, access: document.access.as_ref() };
        work.take_apart(&owner, &mut document.properties)?;
        work.complete(&document.doc_type, &mut document.complete_relations);
    }
    let own = std::mem::take(&mut change_set.entities);
    let mut kept: Vec<Entity> = Vec::with_capacity(own.len());
    let mut places: HashMap<String, usize> = HashMap::with_capacity(own.len());
    let taken: Vec<String> = change_set.documents.iter().map(|document| document.id.clone()).collect();
    for mut entity in own {
        work.entity(&mut entity)?;
        match places.get(&entity.id) {
            Some(&place) if kept[place] == entity || entity.reference => {}
            Some(&place) if kept[place].reference => kept[place] = entity,
            _ => {
                places.insert(entity.id.clone(), kept.len());
                kept.push(entity);
            }
        }
    }
    places.extend(taken.into_iter().map(|id| (id, usize::MAX)));
    // Nested values may hold nested values; each round works on strictly smaller ones.
    while !work.nested.is_empty() {
        for mut entity in std::mem::take(&mut work.nested) {
            work.entity(&mut entity)?;
            if let Some(&place) = places.get(&entity.id) {
                if let Some(slot) = kept.get_mut(place).filter(|slot| slot.reference && !entity.reference) {
                    *slot = entity;
                }
            } else {
                places.insert(entity.id.clone(), kept.len());
                kept.push(entity);
            }
        }
    }
    Ok(ChangeSet { entities: kept, relationships: work.edges, flat: true, ..change_set })
}

struct Owner<'a> {
    id: &'a str,
    node_type: &'a str,
    access: Option<&'a ExternalAccess>,
}

struct Work<'b> {
    binding: &'b IngestBinding,
    first: bool,
    nested: Vec<Entity>,
    edges: Vec<Relationship>,
}

impl Work<'_> {
    fn entity(&mut self, entity: &mut Entity) -> Result<(), IngestRefusal> {
        let owner = Owner { id: &entity.id, node_type: &entity.node_type, access: entity.access.as_ref() };
        self.take_apart(&owner, &mut entity.properties)?;
        if !entity.reference {
            self.complete(&entity.node_type, &mut entity.complete_relations);
        }
        Ok(())
    }

    /// A record is replaced whole, so its nested values are all there are.
    fn complete(&self, node_type: &str, relations: &mut Vec<String>) {
        for (_, mapping) in self.binding.nested_of(node_type).filter(|_| self.first) {
            if !relations.contains(&mapping.relation) {
                relations.push(mapping.relation.clone());
            }
        }
    }

    fn take_apart(&mut self, owner: &Owner<'_>, properties: &mut JsonObject) -> Result<(), IngestRefusal> {
        let holding = properties.iter().filter(|(_, value)| holds_object(value));
        let fields: Vec<String> = holding.map(|(field, _)| field.clone()).collect();
        for field in fields {
            let record_type = || owner.node_type.to_owned();
            let Some(mapping) = self.binding.nested_mapping(owner.node_type, &field) else {
                return Err(SyncRefusal::NestedValue { record_type: record_type(), field }.into());
            };
            let mut values = Vec::new();
            spread(properties.remove(&field).unwrap_or_default(), &mut values);
            for value in values {
                let id = match &value {
                    Json::Object(members) => members.get(&mapping.id_key).and_then(id_text),
                    scalar => id_text(scalar),
                };
                let Some(target) = id.and_then(|id| mapping.target_id(&id)) else {
                    return Err(IngestRefusal::NestedValueWithoutId { record_type: record_type(), field });
                };
                if target == owner.id {
                    continue;
                }
                let mut edge = Relationship::new(owner.id, mapping.relation.as_str(), target.as_str());
                edge.source_type = Some(record_type());
                edge.target_stream.clone_from(&mapping.target_stream);
                self.edges.push(edge);
                if mapping.target_stream.is_none() {
                    self.nested.push(nested_entity(mapping, target, value, owner.access));
                }
            }
        }
        Ok(())
    }
}

/// Who may read a nested value is what the record it stands in says.
fn nested_entity(mapping: &NestedMapping, id: String, value: Json, access: Option<&ExternalAccess>) -> Entity {
    let mut entity = Entity::new(mapping.target_type.as_str(), id);
    entity.access = access.cloned();
    entity.reference = mapping.reference;
    if let Json::Object(members) = value {
        entity.properties = if mapping.fields.is_empty() {
            members
        } else {
            let member =
                |(property, member): (&String, &String)| Some((property.clone(), members.get(member)?.clone()));
            mapping.fields.iter().filter_map(member).collect()
        };
    }
    entity
}

/// The values inside lists, without nulls and empty objects.
fn spread(value: Json, out: &mut Vec<Json>) {
    match value {
        Json::Array(items) => items.into_iter().for_each(|item| spread(item, out)),
        value if is_blank(&value) => {}
        value => out.push(value),
    }
}

fn holds_object(value: &Json) -> bool {
    match value {
        Json::Object(_) => true,
        Json::Array(items) => items.iter().any(holds_object),
        _ => false,
    }
}
