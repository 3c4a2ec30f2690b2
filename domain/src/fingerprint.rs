//! Fingerprints of a tool's contract, version 2 (`wire/mcp-surface.md` 3), byte-equal to the Python peer.
//!
//! A fingerprint is SHA-256 over a domain and the peer's canonical JSON of `{input_schema, name, output_schema}`. The
//! compatibility form leaves out the presentation members of every object and sorts every list made only of texts; the exact
//! form leaves out `default` alone. Both sides of an installation must agree on the value, so it also has the peer's blind
//! spot: it cannot see a *parameter* that is spelled like a presentation member. [`blind_spots`] names such parameters.

#[cfg(test)]
mod tests;

use crate::canonical::{write_peer_json, write_text};
use crate::digest::sha256;
use crate::id::Digest256;
use crate::json::{Json, JsonObject};
use crate::mcp::ToolDescription;
use crate::refusals;

/// Members without meaning for a caller, removed from every object of the compatibility form.
pub const PRESENTATION: [&str; 5] = ["$comment", "default", "description", "examples", "title"];

const COMPATIBILITY_DOMAIN: &str = "agent-connector-sdk:mcp-tool-contract-compat:v2\0";
const EXACT_DOMAIN: &str = "agent-connector-sdk:mcp-tool-contract:v2\0";
const LEGACY_DOMAIN: &str = "agent-utilities:mcp-tool-schema-compat:v1\0";
const MISSING_OUTPUT_DOMAIN: &str = "agent-connector-sdk:mcp-tool-output-schema:missing:v1\0";

/// Keywords whose members have names of the author's choice.
const NAMED_SCHEMAS: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

refusals! {
    /// Why a tool has no fingerprint.
    pub enum FingerprintRefusal {
        /// No name.
        NoName => "tool_contract_unnamed", PeerMisbehaved, Never,
            "a tool without a name has no contract", "give the tool a name";
        /// The input schema says nothing.
        EmptyInput { tool: String } => "tool_contract_empty", PeerMisbehaved, Never,
            "the input schema of `{tool}` is missing or says nothing", "serve an input schema, at least {{\"type\": \"object\"}}";
        /// A schema that is not an object.
        NotAnObject { tool: String, side: &'static str } => "tool_contract_not_an_object", PeerMisbehaved, Never,
            "the {side} schema of `{tool}` is not an object", "serve schemas as JSON objects";
    }
}

/// What is fingerprinted of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolShape<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its input schema; `null` when there is none.
    pub input_schema: &'t Json,
    /// Its output schema; `None` and `null` are the same.
    pub output_schema: Option<&'t Json>,
}

impl<'t> From<&'t ToolDescription> for ToolShape<'t> {
    fn from(tool: &'t ToolDescription) -> Self {
        Self { name: &tool.name, input_schema: &tool.input_schema, output_schema: tool.output_schema.as_ref() }
    }
}

impl<'t> ToolShape<'t> {
    /// Reads a listed tool. Both spellings of the schema members are known; `inputSchema` and `outputSchema` win.
    pub fn from_json(tool: &'t Json) -> Result<Self, FingerprintRefusal> {
        let either = |camel: &str, snake: &str| tool.get(camel).or_else(|| tool.get(snake));
        Ok(Self {
            name: tool.get("name").and_then(Json::as_str).ok_or(FingerprintRefusal::NoName)?,
            input_schema: either("inputSchema", "input_schema").unwrap_or(&Json::Null),
            output_schema: either("outputSchema", "output_schema"),
        })
    }
}

/// The compatibility fingerprint: what a caller must agree on.
pub fn compatibility<'t>(tool: impl Into<ToolShape<'t>>) -> Result<Digest256, FingerprintRefusal> {
    let mut text = String::from(COMPATIBILITY_DOMAIN);
    write_payload(tool.into(), &PRESENTATION, &mut text)?;
    Ok(sha256(text.as_bytes()))
}

/// The exact fingerprint: titles, descriptions and examples count too.
pub fn exact<'t>(tool: impl Into<ToolShape<'t>>) -> Result<Digest256, FingerprintRefusal> {
    let mut text = String::from(EXACT_DOMAIN);
    write_payload(tool.into(), &["default"], &mut text)?;
    Ok(sha256(text.as_bytes()))
}

/// The text the compatibility fingerprint is over, without its domain.
pub fn compatibility_payload<'t>(tool: impl Into<ToolShape<'t>>) -> Result<String, FingerprintRefusal> {
    let mut text = String::new();
    write_payload(tool.into(), &PRESENTATION, &mut text)?;
    Ok(text)
}

/// Digest of an output schema for a certification report; a missing one has a digest of its own.
pub fn output_schema(schema: Option<&Json>) -> Digest256 {
    match schema {
        None | Some(Json::Null) => sha256(MISSING_OUTPUT_DOMAIN.as_bytes()),
        Some(schema) => {
            let mut text = String::new();
            write_normal(schema, &PRESENTATION, &mut text);
            sha256(text.as_bytes())
        }
    }
}

/// Whether a pinned fingerprint is that of an empty schema, which pins nothing: releases before the rule against empty
/// schemas handed such pins out.
pub fn is_empty_pin(tool_name: &str, pin: &Digest256) -> bool {
    let mut name = String::new();
    write_text(tool_name, &mut name, true);
    [
        format!("{COMPATIBILITY_DOMAIN}{{\"input_schema\":{{}},\"name\":{name},\"output_schema\":null}}"),
        format!("{LEGACY_DOMAIN}{{\"input_schema\":{{}},\"name\":{name}}}"),
    ]
    .iter()
    .any(|text| sha256(text.as_bytes()) == *pin)
}

/// JSON pointers (RFC 6901) of the parameters and definitions a compatibility fingerprint cannot see, because they are
/// spelled like presentation members: a change of theirs leaves the fingerprint as it is. Sorted; empty for most tools.
/// Drift classification sees them (`drift::classify`).
pub fn blind_spots(input_schema: &Json) -> Vec<String> {
    let mut found = Vec::new();
    find_blind_spots(input_schema, "", &mut found);
    found
}

fn find_blind_spots(value: &Json, at: &str, found: &mut Vec<String>) {
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_blind_spots(item, &format!("{at}/{index}"), found);
            }
        }
        Json::Object(members) => {
            for (key, item) in members {
                if PRESENTATION.contains(&key.as_str()) {
                    continue;
                }
                let here = format!("{at}/{}", escape(key));
                match item.as_object() {
                    Some(named) if NAMED_SCHEMAS.contains(&key.as_str()) => {
                        for (name, schema) in named {
                            let here = format!("{here}/{}", escape(name));
                            if PRESENTATION.contains(&name.as_str()) {
                                found.push(here);
                            } else {
                                find_blind_spots(schema, &here, found);
                            }
                        }
                    }
                    _ => find_blind_spots(item, &here, found),
                }
            }
        }
        _ => {}
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn write_payload(tool: ToolShape<'_>, removed: &[&str], out: &mut String) -> Result<(), FingerprintRefusal> {
    if tool.name.is_empty() {
        return Err(FingerprintRefusal::NoName);
    }
    let named = || tool.name.to_owned();
    let input = match tool.input_schema {
        Json::Object(members) => members,
        Json::Null => return Err(FingerprintRefusal::EmptyInput { tool: named() }),
        _ => return Err(FingerprintRefusal::NotAnObject { tool: named(), side: "input" }),
    };
    if input.keys().all(|key| PRESENTATION.contains(&key.as_str())) {
        return Err(FingerprintRefusal::EmptyInput { tool: named() });
    }
    out.push_str("{\"input_schema\":");
    write_normal_object(input, removed, out);
    out.push_str(",\"name\":");
    write_text(tool.name, out, true);
    out.push_str(",\"output_schema\":");
    match tool.output_schema {
        None | Some(Json::Null) => out.push_str("null"),
        Some(Json::Object(members)) => write_normal_object(members, removed, out),
        Some(_) => return Err(FingerprintRefusal::NotAnObject { tool: named(), side: "output" }),
    }
    out.push('}');
    Ok(())
}

fn write_normal(value: &Json, removed: &[&str], out: &mut String) {
    match value {
        Json::Object(members) => write_normal_object(members, removed, out),
        Json::Array(items) => {
            let mut items: Vec<&Json> = items.iter().collect();
            if items.iter().all(|item| item.as_str().is_some()) {
                items.sort_by_key(|item| item.as_str());
            }
            out.push('[');
            for (index, item) in items.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_normal(item, removed, out);
            }
            out.push(']');
        }
        scalar => write_peer_json(scalar, out),
    }
}

fn write_normal_object(members: &JsonObject, removed: &[&str], out: &mut String) {
    out.push('{');
    let kept = members.iter().filter(|(key, _)| !removed.contains(&key.as_str()));
    for (index, (key, item)) in kept.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(key, out, true);
        out.push(':');
        write_normal(item, removed, out);
    }
    out.push('}');
}
