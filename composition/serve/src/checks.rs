//! What a connector must be before it is served: every check refuses, none repairs.

use std::collections::HashSet;

use scion_domain::json::Json;
use scion_domain::surface::ConnectorRefusal;
use scion_domain::tool_surface::{ToolName, ToolVersion};

use crate::declaration::BoundSource;
use crate::tool::ToolBuilder;

/// A name that every client accepts, a schema that no client rejects.
pub(crate) fn tool(tool: &ToolBuilder) -> Result<(), ConnectorRefusal> {
    if ToolName::parse(&tool.name).is_err() {
        return Err(ConnectorRefusal::ToolName { tool: tool.name.clone() });
    }
    let refuse = |what| ConnectorRefusal::ToolSchema { tool: tool.name.clone(), what };
    object_root(&Json::Object(tool.inputs.schema())).map_err(refuse)?;
    match &tool.output {
        Some(schema) if schema.as_object().is_none() => Err(refuse("an output schema is not an object")),
        _ => Ok(()),
    }
}

/// The version a tool declares, if it declares one.
pub(crate) fn version(tool: &ToolBuilder) -> Result<Option<ToolVersion>, ConnectorRefusal> {
    let refuse = |_| ConnectorRefusal::ToolVersion { tool: tool.name.clone() };
    tool.version.as_deref().map(ToolVersion::parse).transpose().map_err(refuse)
}

/// One broken schema can cost a client every tool of the server, so only plain objects pass.
fn object_root(schema: &Json) -> Result<(), &'static str> {
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        return Err("the input schema's root is not an object");
    }
    if ["oneOf", "anyOf", "allOf", "not", "$ref"].iter().any(|key| schema.get(key).is_some()) {
        return Err("the input schema's root is a composition");
    }
    match schema.get("properties") {
        Some(properties) if properties.as_object().is_none() => Err("`properties` is not an object"),
        _ => Ok(()),
    }
}

/// No name twice.
pub(crate) fn unique<'a>(
    names: impl Iterator<Item = &'a str>,
    refuse: impl Fn(String) -> ConnectorRefusal,
) -> Result<(), ConnectorRefusal> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(refuse(name.to_owned()));
        }
    }
    Ok(())
}

/// A source reads through a tool that exists, only reads, and takes what the source will pass (R075.2, R004.22).
pub(crate) fn source(bound: &BoundSource<'_>, tools: &[&ToolBuilder]) -> Result<(), ConnectorRefusal> {
    let (source, tool) = (|| bound.source.id.clone(), || bound.tool.to_owned());
    let Some(spec) = tools.iter().find(|spec| spec.name == bound.tool) else {
        return Err(ConnectorRefusal::SourceTool { source: source(), tool: tool() });
    };
    if !spec.hints.is_read_only() {
        return Err(ConnectorRefusal::SourceNotReadOnly { source: source(), tool: tool() });
    }
    match bound.source.arguments().into_iter().find(|argument| !spec.inputs.takes(argument)) {
        Some(argument) => {
            Err(ConnectorRefusal::SourceArgument { source: source(), tool: tool(), argument: argument.to_owned() })
        }
        None => Ok(()),
    }
}
