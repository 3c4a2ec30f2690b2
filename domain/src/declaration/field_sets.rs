//! Declarations as data (R004.29): sources, mappings, resources and shared field sets of a connector that declares them
//! apart from its tools.

use std::collections::BTreeMap;

use super::members::{Members, Place, object};
use super::read::{read_mapping, read_resource};
use super::refusal::{DeclarationRefusal, closest};
use super::source_meta::DeclaredSource;
use super::{ResourceSpec, SchemaMapping};
use crate::json::{Json, JsonObject};

type Read<T> = Result<T, DeclarationRefusal>;

/// Field sets by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSets(BTreeMap<String, BTreeMap<String, String>>);

/// What a connector declares as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthoredSources {
    /// `SOURCES`.
    pub sources: Vec<DeclaredSource>,
    /// `SCHEMA_MAPPINGS`, field sets merged in.
    pub schema_mappings: BTreeMap<String, SchemaMapping>,
    /// `RESOURCES`.
    pub resources: Vec<ResourceSpec>,
}

const NAMES: [&str; 5] = ["SOURCES", "SCHEMA_MAPPINGS", "RESOURCES", "FIELD_SETS", "SCHEMA_VERSION"];

impl AuthoredSources {
    /// Reads `{SOURCES, SCHEMA_MAPPINGS, RESOURCES, FIELD_SETS, SCHEMA_VERSION}`, all optional. Version 1, the default, has
    /// inline fields only; with version 2 a mapping may list `field_sets`.
    pub fn from_json(document: &Json) -> Read<Self> {
        let members = Members::closed(document, Place::Root, &NAMES)?;
        let version = || DeclarationRefusal::SchemaVersion { path: "SCHEMA_VERSION".to_owned() };
        let version = match members.get("SCHEMA_VERSION") {
            None => 1,
            Some(value) => value
                .as_number()
                .and_then(crate::json::JsonNumber::as_u64)
                .filter(|version| matches!(version, 1 | 2))
                .ok_or_else(version)?,
        };
        let sets = match members.get("FIELD_SETS") {
            Some(_) if version == 1 => return Err(members.bad("FIELD_SETS", "needs SCHEMA_VERSION 2")),
            Some(value) => FieldSets::read(value, members.at("FIELD_SETS"))?,
            None => FieldSets::default(),
        };
        let mut schema_mappings = BTreeMap::new();
        if let Some(value) = members.get("SCHEMA_MAPPINGS") {
            let place = members.at("SCHEMA_MAPPINGS");
            for (record_type, item) in object(value, &place)? {
                let place = Place::Member(&place, record_type);
                let mapping = if version == 1 { read_mapping(item, place) } else { sets.expand_at(item, place) };
                schema_mappings.insert(record_type.clone(), mapping?);
            }
        }
        Ok(Self {
            sources: members.items("SOURCES", read_source)?,
            schema_mappings,
            resources: members.items("RESOURCES", read_resource)?,
        })
    }
}

/// An authored source is an entry of `connector_sources`, or the whole `source_meta` value with one entry.
fn read_source(item: &Json, place: Place<'_>) -> Read<DeclaredSource> {
    let wrapped = item.get(super::SOURCE_META_KEY).and_then(Json::as_array);
    match wrapped {
        Some([only]) if item.as_object().is_some_and(|members| members.len() == 1) => {
            DeclaredSource::read(only, Place::Member(&place, super::SOURCE_META_KEY))
        }
        _ => DeclaredSource::read(item, place),
    }
}

impl FieldSets {
    /// Reads `{set: {field: property}}`.
    pub fn from_json(value: &Json) -> Read<Self> {
        Self::read(value, Place::Member(&Place::Root, "FIELD_SETS"))
    }

    fn read(value: &Json, place: Place<'_>) -> Read<Self> {
        let sets = object(value, &place)?;
        let members = Members::of(sets, place);
        sets.keys().map(|name| Ok((name.clone(), members.texts_by_name(name)?))).collect::<Read<_>>().map(Self)
    }

    /// Expands a mapping: the sets it lists merge in order, its inline `fields` win.
    pub fn expand(&self, mapping: &Json) -> Read<SchemaMapping> {
        self.expand_at(mapping, Place::Root)
    }

    fn expand_at(&self, mapping: &Json, place: Place<'_>) -> Read<SchemaMapping> {
        let members = Members::closed(mapping, place, &["ontology_class", "fields", "field_sets"])?;
        let mut fields = BTreeMap::new();
        for (index, name) in members.texts("field_sets")?.iter().enumerate() {
            let set = self.0.get(name).ok_or_else(|| DeclarationRefusal::UnknownFieldSet {
                path: Place::Item(&members.at("field_sets"), index).text(),
                hint: closest(name, self.0.keys().map(String::as_str)),
            })?;
            fields.extend(set.iter().map(|(field, property)| (field.clone(), property.clone())));
        }
        let mut inline: JsonObject = mapping.as_object().cloned().unwrap_or_default();
        inline.remove("field_sets");
        let inline = read_mapping(&Json::Object(inline), place)?;
        fields.extend(inline.fields);
        Ok(SchemaMapping { ontology_class: inline.ontology_class, fields })
    }
}
