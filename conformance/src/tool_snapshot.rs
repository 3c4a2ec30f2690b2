//! The tools of a connector as a file: names, texts, hints and schemas. A test that compares them fails when they change
//! unannounced.

use std::path::Path;

use scion_domain::client_profile::ClientProfile;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolDescription;
use scion_domain::surface::CallScope;
use scion_ports::ToolSurface;

/// The variable that has a snapshot written instead of compared.
pub const UPDATE: &str = "UPDATE_TOOL_SNAPSHOTS";

/// Compares what a surface lists with the snapshot at `file`, and holds every tool against the client profile of the server's own
/// name. The tools are taken in the order of their names, because a snapshot is about what they are.
///
/// # Panics
/// When a tool changed, appeared or went, with its name and what to do; when a client would not take a tool; when there is nothing
/// to compare.
pub async fn check_tool_snapshot(surface: &dyn ToolSurface, file: &Path) {
    let mut tools = surface.list_tools(&CallScope::default()).await.expect("the surface lists its tools");
    assert!(!tools.is_empty(), "the surface lists no tool, so there is nothing to compare");
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let findings = ClientProfile::for_server(&surface.identity().name).check_listing(&tools);
    assert!(findings.is_empty(), "some client does not take these tools: {findings:#?}");
    let now: Vec<(String, Json)> = tools.iter().map(|tool| (tool.name.clone(), described(tool))).collect();
    if std::env::var_os(UPDATE).is_some() {
        let list: Vec<Json> = now.into_iter().map(|(_, tool)| tool).collect();
        let text = serde_json::to_string_pretty(&Json::from(list)).expect("a listing is JSON");
        std::fs::write(file, text + "\n").expect("the snapshot can be written");
        return;
    }
    let advice = format!("if that is meant, say so in the change and run the test with {UPDATE}=1");
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|_| panic!("there is no snapshot at {}; {advice}", file.display()));
    let before = scion_domain::json::parse(&text).expect("the snapshot is JSON");
    let before = before.as_array().expect("the snapshot is a list");
    let changes = changes(before, &now);
    assert!(changes.is_empty(), "the tools changed: {}; {advice}", changes.join("; "));
}

fn changes(before: &[Json], now: &[(String, Json)]) -> Vec<String> {
    let name_of = |tool: &Json| tool.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for tool in before {
        let name = name_of(tool);
        match now.iter().find(|(known, _)| *known == name) {
            None => found.push(format!("`{name}` is gone")),
            Some((_, here)) if here != tool => {
                let members = here.as_object().into_iter().flat_map(JsonObject::keys);
                let members: Vec<&str> =
                    members.filter(|key| here.get(key) != tool.get(key)).map(String::as_str).collect();
                let gone =
                    tool.as_object().into_iter().flat_map(JsonObject::keys).filter(|key| here.get(key).is_none());
                let all: Vec<&str> = members.into_iter().chain(gone.map(String::as_str)).collect();
                found.push(format!("`{name}` differs in {}", all.join(", ")));
            }
            Some(_) => {}
        }
    }
    for (name, _) in now {
        if !before.iter().any(|tool| name_of(tool) == *name) {
            found.push(format!("`{name}` is new"));
        }
    }
    found
}

fn described(tool: &ToolDescription) -> Json {
    let hints = [
        ("readOnlyHint", tool.hints.read_only),
        ("destructiveHint", tool.hints.destructive),
        ("idempotentHint", tool.hints.idempotent),
        ("openWorldHint", tool.hints.open_world),
    ];
    let hints: JsonObject = hints.into_iter().filter_map(|(key, hint)| Some((key.to_owned(), hint?.into()))).collect();
    let mut members = JsonObject::from([
        ("name".to_owned(), tool.name.as_str().into()),
        ("annotations".to_owned(), hints.into()),
        ("inputSchema".to_owned(), tool.input_schema.clone()),
    ]);
    for (key, text) in [("title", &tool.title), ("description", &tool.description)] {
        if let Some(text) = text {
            members.insert(key.to_owned(), text.as_str().into());
        }
    }
    if let Some(schema) = &tool.output_schema {
        members.insert("outputSchema".to_owned(), schema.clone());
    }
    if !tool.meta.is_empty() {
        members.insert("_meta".to_owned(), tool.meta.clone().into());
    }
    Json::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_named() {
        let tool = |name: &str, title: &str| Json::from([("name", name.into()), ("title", title.into())]);
        let before = [tool("a", "A"), tool("b", "B"), Json::from([("name", "c".into()), ("old", true.into())])];
        let now: Vec<(String, Json)> = [("a", "A"), ("b", "Bee"), ("d", "D")]
            .into_iter()
            .map(|(name, title)| (name.to_owned(), tool(name, title)))
            .collect();
        assert_eq!(changes(&before, &now), ["`b` differs in title", "`c` is gone", "`d` is new"]);
        assert_eq!(changes(&before[..1], &now[..1]), Vec::<String>::new());
    }
}
