//! What a connector must be before it is served: every check refuses, none repairs.

use std::collections::HashSet;

use scion_domain::client_profile::{ClientProfile, ProfileFinding};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolDescription, ToolHints};
use scion_domain::refusal::Refusal as _;
use scion_domain::surface::ConnectorRefusal;
use scion_domain::tool_surface::{ToolName, ToolVersion};

use crate::declaration::BoundSource;
use crate::tool::ToolBuilder;

/// Everything that the common clients ask of tools, and of their order. `listed` is what a client is shown.
pub(crate) fn profile(listed: &[ToolDescription]) -> Result<(), ConnectorRefusal> {
    ClientProfile::COMMON.check_listing(listed).into_iter().next().map_or(Ok(()), |finding| Err(unfit(finding)))
}

/// A name that every client takes, as registered.
pub(crate) fn name(tool: &str) -> Result<ToolName, ConnectorRefusal> {
    ToolName::parse(tool).map_err(|_| {
        let bare = ToolDescription {
            name: tool.to_owned(),
            title: None,
            description: None,
            input_schema: Json::from([("type", "object".into()), ("additionalProperties", false.into())]),
            output_schema: None,
            hints: ToolHints::default(),
            meta: JsonObject::new(),
        };
        let long = || ProfileFinding::NameCharacters { tool: tool.to_owned() };
        unfit(ClientProfile::COMMON.check(&bare).into_iter().next().unwrap_or_else(long))
    })
}

fn unfit(finding: ProfileFinding) -> ConnectorRefusal {
    ConnectorRefusal::Profile { code: finding.code(), fix: finding.next_step(), finding }
}

/// The version a tool declares, if it declares one.
pub(crate) fn version(tool: &ToolBuilder) -> Result<Option<ToolVersion>, ConnectorRefusal> {
    let refuse = |_| ConnectorRefusal::ToolVersion { tool: tool.name.clone() };
    tool.version.as_deref().map(ToolVersion::parse).transpose().map_err(refuse)
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
