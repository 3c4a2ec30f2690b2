//! Reading `connector://resources` (`wire/mcp-surface.md` 1.3).

use std::collections::BTreeMap;

use super::members::{Members, Place, object};
use super::refusal::DeclarationRefusal;
use super::{ConnectorDeclaration, RelationSpec, ResourceSpec, SchemaMapping, SourceSpec};
use crate::id::ConnectorName;
use crate::json::{Json, JsonLimits};

type Read<T> = Result<T, DeclarationRefusal>;

/// The largest declaration that is read: 16 MiB.
pub const MAX_DECLARATION_BYTES: usize = 16 << 20;

impl ConnectorDeclaration {
    /// Reads a document, checks every bound and that fan-outs have parents and end.
    pub fn from_json(document: &Json) -> Read<Self> {
        let members = Members::closed(
            document,
            Place::Root,
            &["connector", "sources", "schema_mappings", "resources", "descriptors"],
        )?;
        let connector = members.text("connector", 1, 128)?;
        let connector = ConnectorName::parse(&connector).map_err(|_| {
            members.bad("connector", "must start with a-z or 0-9 and go on with a-z, 0-9, dot, underscore or hyphen")
        })?;
        let declaration = Self {
            connector,
            sources: members.items("sources", SourceSpec::read)?,
            schema_mappings: read_mappings(&members)?,
            resources: members.items("resources", read_resource)?,
            descriptors: members.items("descriptors", |item, place| object(item, &place).cloned())?,
        };
        declaration.check()?;
        Ok(declaration)
    }

    /// Reads the text of the resource, at most [`MAX_DECLARATION_BYTES`].
    pub fn from_text(text: &[u8]) -> Read<Self> {
        let limits = JsonLimits { max_bytes: MAX_DECLARATION_BYTES, ..JsonLimits::DEFAULT };
        Self::from_json(&crate::json::parse_with(text, limits)?)
    }
}

fn read_mappings(members: &Members<'_>) -> Read<BTreeMap<String, SchemaMapping>> {
    let Some(value) = members.get("schema_mappings") else { return Ok(BTreeMap::new()) };
    let place = members.at("schema_mappings");
    object(value, &place)?
        .iter()
        .map(|(record_type, item)| Ok((record_type.clone(), read_mapping(item, Place::Member(&place, record_type))?)))
        .collect()
}

/// Reads one mapping.
pub(super) fn read_mapping(value: &Json, place: Place<'_>) -> Read<SchemaMapping> {
    let members = Members::closed(value, place, &["ontology_class", "fields"])?;
    Ok(SchemaMapping {
        ontology_class: members.optional_text("ontology_class")?,
        fields: members.texts_by_name("fields")?,
    })
}

pub(super) fn read_resource(value: &Json, place: Place<'_>) -> Read<ResourceSpec> {
    let members = Members::closed(value, place, &["name", "label", "id_prefix", "relations"])?;
    Ok(ResourceSpec {
        name: members.text("name", 0, usize::MAX)?,
        label: members.text_or("label", "")?,
        id_prefix: members.text_or("id_prefix", "")?,
        relations: members.items("relations", |item, place| {
            let members = Members::closed(item, place, &["name", "target", "label", "lpg_rel_type"])?;
            Ok(RelationSpec {
                name: members.text("name", 0, usize::MAX)?,
                target: members.text("target", 0, usize::MAX)?,
                label: members.text_or("label", "")?,
                lpg_rel_type: members.text_or("lpg_rel_type", "")?,
            })
        })?,
    })
}
