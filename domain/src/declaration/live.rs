//! Putting a served declaration together from the tools of a server (R075.1, R075.2): there is no file beside them.

use std::collections::BTreeMap;

use super::field_sets::AuthoredSources;
use super::source_meta::{DeclaredSource, add_mapping, sources_of_meta, unknown_tool};
use super::{ConnectorDeclaration, DeclarationRefusal};
use crate::id::ConnectorName;
use crate::json::JsonObject;
use crate::mcp::ToolDescription;

/// Builds the declaration of a server: first the sources its tools declare in their metas, in the order of the tools, then
/// the authored ones, each bound to a registered tool. Every source tool must be marked read-only.
pub fn declaration_of_tools(
    connector: &ConnectorName,
    tools: &[ToolDescription],
    authored: &AuthoredSources,
    descriptors: Vec<JsonObject>,
) -> Result<ConnectorDeclaration, DeclarationRefusal> {
    let mut sources = Vec::new();
    let mut schema_mappings = BTreeMap::new();
    for (record_type, mapping) in &authored.schema_mappings {
        add_mapping(&mut schema_mappings, record_type, mapping)?;
    }
    let mut declared: Vec<(DeclaredSource, Option<&str>)> = Vec::new();
    for tool in tools {
        declared.extend(sources_of_meta(&tool.meta)?.into_iter().map(|source| (source, Some(tool.name.as_str()))));
    }
    declared.extend(authored.sources.iter().map(|source| (source.clone(), None)));
    for (source, own_tool) in declared {
        let named: Vec<&str> = source.named_tool().or(own_tool).into_iter().collect();
        let spec = source.spec(&named)?;
        for name in &spec.tools {
            let tool = tools.iter().find(|tool| tool.name == *name).ok_or_else(|| {
                unknown_tool(spec.source_id.as_str(), name, tools.iter().map(|tool| tool.name.as_str()))
            })?;
            if !tool.hints.is_read_only() {
                return Err(DeclarationRefusal::ToolNotReadOnly {
                    source: spec.source_id.to_string(),
                    tool: name.clone(),
                });
            }
        }
        if let Some(mapping) = source.mapping() {
            add_mapping(&mut schema_mappings, &spec.record_type, mapping)?;
        }
        sources.push(spec);
    }
    let declaration = ConnectorDeclaration {
        connector: connector.clone(),
        sources,
        schema_mappings,
        resources: authored.resources.clone(),
        descriptors,
    };
    declaration.check()?;
    Ok(declaration)
}
