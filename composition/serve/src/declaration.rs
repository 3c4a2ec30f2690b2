//! Assembling `connector://resources` from what the tools and the connector declare.

use std::collections::BTreeMap;

use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
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

/// The declaration without its data resources, read back by the same reader a runner uses: what it would refuse is refused here.
pub(crate) fn assemble(
    connector: &ConnectorName,
    sources: &[BoundSource<'_>],
    mappings: &BTreeMap<String, Mapping>,
    resources: &[ResourceModel],
) -> Result<ConnectorDeclaration, ConnectorRefusal> {
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
    let document = Json::from([
        ("connector", connector.as_str().into()),
        ("descriptors", Json::Array(Vec::new())),
        ("sources", items.into()),
        ("schema_mappings", mapped.into()),
        ("resources", models.into()),
    ]);
    let declared =
        ConnectorDeclaration::from_json(&document).map_err(|refusal| ConnectorRefusal::Declaration { refusal })?;
    for source in &declared.sources {
        let unknown = source
            .edges
            .iter()
            .filter_map(|edge| edge.target_stream.as_ref())
            .find(|target| declared.source(target.as_str()).is_none());
        if let Some(target) = unknown {
            return Err(ConnectorRefusal::EdgeTarget {
                source: source.source_id.to_string(),
                target: target.to_string(),
            });
        }
    }
    // Presets have rules of their own; a preset that cannot be made would only fail in the runner.
    declared.presets().map_err(|refusal| ConnectorRefusal::Declaration { refusal })?;
    Ok(declared)
}
