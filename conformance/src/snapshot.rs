//! The tools of a connector as a file in its repository: a change of a name or a schema is a change for every client, so it fails a
//! test until somebody accepts it on purpose.

use std::path::Path;

use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::mcp::ToolDescription;

/// Setting this environment variable writes snapshots instead of comparing them.
pub const UPDATE: &str = "SCION_UPDATE_SNAPSHOTS";

/// Compares the names, hints and schemas of a listing, in its order, with those in a file. `Err` names what differs, or says
/// that the file was just written.
pub fn check_tools(path: &Path, tools: &[ToolDescription]) -> Result<(), String> {
    let listed = Json::Array(tools.iter().map(shown).collect());
    if std::env::var_os(UPDATE).is_some() {
        return std::fs::write(path, pretty(&listed)).map_err(|error| format!("{}: {error}", path.display()));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{}: {error}; run once with {UPDATE}=1", path.display()))?;
    let kept = parse(&text).map_err(|_| format!("{} is not JSON", path.display()))?;
    let differences = differences(kept.as_array().unwrap_or_default(), listed.as_array().unwrap_or_default());
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "tools differ from {}:\n  {}\nrun with {UPDATE}=1 if that is meant",
        path.display(),
        differences.join("\n  ")
    ))
}

fn shown(tool: &ToolDescription) -> Json {
    let flag = |flag: Option<bool>| flag.map_or(Json::Null, Json::from);
    let hints = Json::from([
        ("read_only", flag(tool.hints.read_only)),
        ("destructive", flag(tool.hints.destructive)),
        ("idempotent", flag(tool.hints.idempotent)),
    ]);
    Json::from([
        ("name", Json::from(tool.name.as_str())),
        ("hints", hints),
        ("input", tool.input_schema.clone()),
        ("output", tool.output_schema.clone().unwrap_or_default()),
    ])
}

fn name(tool: &Json) -> &str {
    tool.get("name").and_then(Json::as_str).unwrap_or_default()
}

fn differences(kept: &[Json], listed: &[Json]) -> Vec<String> {
    let mut out = Vec::new();
    for tool in kept.iter().filter(|tool| !listed.iter().any(|other| name(other) == name(tool))) {
        out.push(format!("{} is gone", name(tool)));
    }
    for tool in listed {
        match kept.iter().find(|other| name(other) == name(tool)) {
            None => out.push(format!("{} is new", name(tool))),
            Some(before) => {
                for part in ["hints", "input", "output"].iter().filter(|part| before.get(part) != tool.get(part)) {
                    out.push(format!("{}: {part} changed", name(tool)));
                }
            }
        }
    }
    let order = |tools: &[Json]| tools.iter().map(|tool| name(tool).to_owned()).collect::<Vec<_>>();
    if out.is_empty() && order(kept) != order(listed) {
        out.push("the order changed".to_owned());
    }
    out
}

/// Two blanks a level, members in order: a text whose changes a person can read.
fn pretty(value: &Json) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &Json, level: usize, out: &mut String) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, level + 1);
                write(item, level + 1, out);
            }
            line(out, level);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => object(members, level, out, line),
        other => out.push_str(&scion_domain::json::to_compact(other)),
    }
}

fn object(members: &JsonObject, level: usize, out: &mut String, line: impl Fn(&mut String, usize)) {
    out.push('{');
    for (index, (name, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        line(out, level + 1);
        out.push_str(&scion_domain::json::to_compact(&Json::from(name.as_str())));
        out.push_str(": ");
        write(value, level + 1, out);
    }
    line(out, level);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: &str) -> ToolDescription {
        ToolDescription {
            name: name.to_owned(),
            title: None,
            description: None,
            input_schema: parse(schema).unwrap(),
            output_schema: None,
            hints: scion_domain::mcp::ToolHints::default(),
            meta: JsonObject::new(),
        }
    }

    #[test]
    fn every_change_of_a_listing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.json");
        let before = [tool("a", r#"{"type":"object"}"#), tool("b", "{}"), tool("c", "{}")];
        assert!(check_tools(&path, &before).unwrap_err().contains(UPDATE));
        std::fs::write(&path, pretty(&Json::Array(before.iter().map(shown).collect()))).unwrap();
        assert_eq!(check_tools(&path, &before), Ok(()));
        let after = [tool("a", r#"{"type":"string"}"#), tool("c", "{}"), tool("d", "{}")];
        let refused = check_tools(&path, &after).unwrap_err();
        for difference in ["b is gone", "a: input changed", "d is new"] {
            assert!(refused.contains(difference), "{refused}");
        }
        let turned = [before[1].clone(), before[0].clone(), before[2].clone()];
        assert!(check_tools(&path, &turned).unwrap_err().contains("the order changed"));
    }
}
