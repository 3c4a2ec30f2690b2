//! The rules against the vectors of `tool_surface.json`, and what they promise for every input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
mod properties;
mod schemas;
mod splitting;
mod views;
mod wording;

use std::collections::BTreeSet;

use crate::json::{Json, JsonObject};
use crate::mcp::ToolHints;
use crate::test_vectors;

fn vectors() -> Json {
    test_vectors::load("tool_surface.json")
}

/// Runs every case of a section with a stable label.
fn each(section: &str, run: impl Fn(&Json)) {
    let file = vectors();
    for case in test_vectors::section(&file, section) {
        run(case);
    }
}

fn texts(value: Option<&Json>) -> Vec<String> {
    value.and_then(Json::as_array).unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn tag_set(value: Option<&Json>) -> BTreeSet<String> {
    texts(value).into_iter().collect()
}

/// The `annotations` of a vector, without the title.
fn hints_of(annotations: &Json) -> ToolHints {
    let hint = |name| annotations.get(name).and_then(Json::as_bool);
    ToolHints {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
    }
}

/// A schema without descriptions: they are free text.
fn plain(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => {
            let kept = members.iter().filter(|(name, value)| !(*name == "description" && value.as_str().is_some()));
            Json::Object(kept.map(|(name, value)| (name.clone(), plain(value))).collect::<JsonObject>())
        }
        Json::Array(items) => Json::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}
