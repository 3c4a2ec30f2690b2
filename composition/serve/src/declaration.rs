//! Assembling `connector://resources` from what the tools and the connector declare.

use std::collections::BTreeMap;

use scion_domain::json::{Json, JsonObject, to_spaced};
use scion_domain::surface::ConnectorRefusal;

use crate::{Mapping, ResourceModel, Source};

/// One source with the tool it reads.
pub(crate) struct BoundSource<'a> {
    pub(crate) tool: &'a str,
    pub(crate) source: &'a Source,
}

/// The item of a tool's `connector_sources`.
pub(crate) fn meta_item(source: &Source) -> Json {
    let mut members = source.document();
    if let Some(mapping) = &source.mapping {
        members.insert("mapping".to_owned(), mapping.document());
    }
    members.into()
}

/// The mapping of every record type; refuses a type mapped twice differently or not at all (R004.25).
pub(crate) fn mappings(
    sources: &[BoundSource<'_>],
    declared: &[(String, Mapping)],
) -> Result<BTreeMap<String, Mapping>, ConnectorRefusal> {
    let mut all: BTreeMap<String, Mapping> = BTreeMap::new();
    let own = sources.iter().filter_map(|bound| Some((&bound.source.record_type, bound.source.mapping.as_ref()?)));
    for (record_type, mapping) in declared.iter().map(|(name, mapping)| (name, mapping)).chain(own) {
        match all.get(record_type) {
            Some(known) if known != mapping => {
                return Err(ConnectorRefusal::MappingConflict { record_type: record_type.clone() });
            }
            _ => all.insert(record_type.clone(), mapping.clone()),
        };
    }
    for BoundSource { source, .. } in sources {
        if !all.contains_key(&source.record_type) {
            return Err(ConnectorRefusal::MappingMissing {
                source: source.id.clone(),
                record_type: source.record_type.clone(),
            });
        }
    }
    Ok(all)
}

/// The declaration as served.
pub(crate) fn text(
    connector: &str,
    sources: &[BoundSource<'_>],
    mappings: &BTreeMap<String, Mapping>,
    resources: &[ResourceModel],
) -> String {
    let mut document = JsonObject::from([
        ("connector".to_owned(), Json::from(connector)),
        ("descriptors".to_owned(), Json::Array(Vec::new())),
    ]);
    let items: Vec<Json> = sources
        .iter()
        .map(|bound| {
            let mut members = bound.source.document();
            members.insert("tools".to_owned(), Json::from(vec![bound.tool.into()]));
            members.into()
        })
        .collect();
    let models: Vec<Json> = resources.iter().map(ResourceModel::document).collect();
    let mapped: JsonObject = mappings.iter().map(|(name, mapping)| (name.clone(), mapping.document())).collect();
    if !items.is_empty() {
        document.insert("sources".to_owned(), items.into());
    }
    if !mapped.is_empty() {
        document.insert("schema_mappings".to_owned(), mapped.into());
    }
    if !models.is_empty() {
        document.insert("resources".to_owned(), models.into());
    }
    to_spaced(&document.into())
}
