//! Whether the tools behind the presets can be called as they are declared.

use std::collections::BTreeMap;

use scion::ports::McpSession;
use scion_domain::config::ConnectorConfig;
use scion_domain::declaration::{ConnectorDeclaration, SyncPreset};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{McpRefusal, ToolDescription};
use scion_domain::pagination::preset::call_arguments;
use scion_domain::source::SourceRefusal;

use super::findings::Findings;
use crate::output::Refused;

/// Checks the tool of every preset, and of every source it fans out over.
pub(super) async fn check(
    config: &ConnectorConfig,
    session: &dyn McpSession,
    declaration: &ConnectorDeclaration,
    presets: &[SyncPreset],
    findings: &mut Findings,
) -> Result<(), Refused> {
    let subject = format!("{} tools", config.connector);
    let tools = match tokio::time::timeout(config.endpoint.timeout, session.list_tools()).await {
        Ok(Ok(tools)) => tools,
        Ok(Err(refusal)) => return Ok(findings.wrong(&subject, &refusal.into())?),
        Err(_) => {
            let operation = "tools/list".to_owned();
            let refusal = McpRefusal::Timeout { operation, seconds: config.endpoint.timeout.as_secs() };
            return Ok(findings.wrong(&subject, &refusal.into())?);
        }
    };
    let mut wanted: BTreeMap<String, SyncPreset> = BTreeMap::new();
    for preset in presets {
        let mut next = Some(preset.clone());
        // A fan-out that leads back to itself ends here; the declaration reader has refused it already.
        while let Some(preset) = next.take().filter(|preset| !wanted.contains_key(preset.name.as_str())) {
            next = declaration.parent_preset(&preset).ok().flatten();
            wanted.insert(preset.name.to_string(), preset);
        }
    }
    let mut good = true;
    for (name, preset) in &wanted {
        if let Err(refused) = check_one(preset, &tools) {
            good = false;
            findings.wrong(&format!("{}/{name}", config.connector), &refused)?;
        }
    }
    if good {
        let s = if wanted.len() == 1 { "" } else { "s" };
        findings.ok(
            &subject,
            &format!("the tools of {} source{s} are there, read-only, and take the declared arguments", wanted.len()),
        )?;
    }
    Ok(())
}

fn check_one(preset: &SyncPreset, tools: &[ToolDescription]) -> Result<(), Refused> {
    let tool = tools.iter().find(|tool| tool.name == preset.tool);
    let tool = tool.ok_or_else(|| SourceRefusal::ToolMissing { tool: preset.tool.clone() })?;
    if !tool.hints.is_read_only() {
        return Err(SourceRefusal::NotReadOnly { tool: preset.tool.clone() }.into());
    }
    let mut arguments = call_arguments(preset, &Json::Object(JsonObject::new()), None)?;
    if let Some(each) = &preset.for_each {
        arguments.insert(each.argument.clone(), Json::Null);
    }
    match unfit(&tool.input_schema, &arguments) {
        None => Ok(()),
        Some(what) => Err(Refused::from(McpRefusal::ArgumentsRefused { tool: tool.name.clone() }).at(&what)),
    }
}

/// An argument the schema does not know, or one it requires that is not given.
fn unfit(schema: &Json, arguments: &JsonObject) -> Option<String> {
    let properties = schema.get("properties").and_then(Json::as_object)?;
    let open = schema.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false));
    if let Some(name) = arguments.keys().find(|name| !open && !properties.contains_key(*name)) {
        return Some(format!("it has no parameter `{name}`"));
    }
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    let missing = required.iter().filter_map(Json::as_str).find(|name| !arguments.contains_key(*name))?;
    Some(format!("it requires `{missing}`"))
}

#[cfg(test)]
mod tests {
    use scion_domain::json::parse;

    use super::*;

    #[test]
    fn unknown_and_missing_arguments_are_named() {
        let schema = parse(r#"{"properties":{"a":{},"b":{}},"required":["b"]}"#).unwrap();
        let arguments = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Json::Null)).collect();
        assert_eq!(unfit(&schema, &arguments(&["b"])), None);
        assert_eq!(unfit(&schema, &arguments(&["b", "c"])), Some("it has no parameter `c`".into()));
        assert_eq!(unfit(&schema, &arguments(&["a"])), Some("it requires `b`".into()));
        let open = parse(r#"{"properties":{},"additionalProperties":true}"#).unwrap();
        assert_eq!(unfit(&open, &arguments(&["x"])), None);
        assert_eq!(unfit(&Json::Null, &arguments(&["x"])), None);
    }
}
