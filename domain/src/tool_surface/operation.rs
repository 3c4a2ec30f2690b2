//! One tool per operation (SDK-CONNECTOR-CONTROL-R020).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ManifestEntry, OperationInputs, ToolName, ToolPrefix, ToolSurfaceRefusal, Verb, detect_verb, is_destructive,
    operation_hints, operation_title, snake_case,
};
use crate::json::{Json, JsonObject};
use crate::mcp::ToolHints;

/// One call of a vendor's API, as its author declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its name, for example `list_tickets`.
    pub method: String,
    /// The part of the API it belongs to; becomes a tag in snake case.
    pub domain: String,
    /// What it does; a line that begins with `VERB /path` names its HTTP method.
    pub description: String,
    /// Its HTTP method, where the author says it.
    pub verb: Option<Verb>,
    /// The HTTP methods it sends, where that is known.
    pub sent: Vec<Verb>,
    /// What it takes.
    pub inputs: OperationInputs,
}

/// The tool of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationTool {
    /// Its name.
    pub name: ToolName,
    /// The operation it calls.
    pub method: String,
    /// A name for people.
    pub title: String,
    /// What it does.
    pub description: String,
    /// Its hints.
    pub hints: ToolHints,
    /// `operation`, `granular`, `gated` and the domain.
    pub tags: BTreeSet<String>,
    /// What it takes.
    pub inputs: OperationInputs,
    /// Whether a person must say yes to each call.
    pub asks: bool,
}

impl OperationTool {
    fn of(
        prefix: &ToolPrefix,
        operation: &Operation,
        entry: Option<&ManifestEntry>,
    ) -> Result<Self, ToolSurfaceRefusal> {
        let method = &operation.method;
        let name = match entry.and_then(|entry| entry.tool.as_deref()) {
            Some(tool) => ToolName::of_operation(prefix, tool)?,
            None => ToolName::of_operation(prefix, method)?,
        };
        let http = entry.and_then(|entry| entry.http.as_deref());
        let verb = detect_verb(method, http, operation.verb, &operation.description, &operation.sent)?;
        let declared = entry.and_then(|entry| entry.destructive);
        let mut hints = operation_hints(method, verb);
        if let Some(destructive) = declared {
            hints.destructive = Some(destructive);
            hints.read_only = hints.read_only.map(|reads| reads && !destructive);
        }
        let inputs = entry.and_then(|entry| entry.inputs.clone()).unwrap_or_else(|| operation.inputs.clone());
        inputs.check(name.as_str())?;
        let tags =
            ["operation", "granular", "gated"].map(str::to_owned).into_iter().chain([snake_case(&operation.domain)]);
        Ok(Self {
            method: method.clone(),
            title: operation_title(&snake_case(method)),
            description: entry.and_then(|entry| entry.summary.clone()).unwrap_or_else(|| operation.description.clone()),
            hints,
            tags: tags.collect(),
            inputs,
            asks: is_destructive(&snake_case(method), verb, declared),
            name,
        })
    }

    /// The tags as clients of the peer read them, for the tool's `_meta`.
    pub fn meta(&self) -> JsonObject {
        let tags: Vec<Json> = self.tags.iter().map(|tag| Json::from(tag.as_str())).collect();
        JsonObject::from([("fastmcp".to_owned(), Json::from([("tags", tags.into())]))])
    }
}

/// One tool for each operation, in their order; the manifest's entry goes before what the operation says itself. Two tools
/// of one name are refused, and so is an entry for an operation that is not there.
pub fn operation_tools(
    prefix: &ToolPrefix,
    operations: &[Operation],
    manifest: &[ManifestEntry],
) -> Result<Vec<OperationTool>, ToolSurfaceRefusal> {
    let entries: BTreeMap<&str, &ManifestEntry> = manifest.iter().map(|entry| (entry.method.as_str(), entry)).collect();
    if let Some(stray) = manifest.iter().find(|entry| operations.iter().all(|known| known.method != entry.method)) {
        return Err(ToolSurfaceRefusal::Manifest { place: stray.method.clone(), what: "there is no such operation" });
    }
    let mut tools: Vec<OperationTool> = Vec::with_capacity(operations.len());
    let mut seen: BTreeMap<ToolName, &str> = BTreeMap::new();
    for operation in operations {
        let tool = OperationTool::of(prefix, operation, entries.get(operation.method.as_str()).copied())?;
        if let Some(first) = seen.insert(tool.name.clone(), &operation.method) {
            let (first, second) = (first.to_owned(), operation.method.clone());
            return Err(ToolSurfaceRefusal::Collision { tool: tool.name.as_str().to_owned(), first, second });
        }
        tools.push(tool);
    }
    Ok(tools)
}

/// The tools that take one `params_json` and nothing typed: a debt of their author.
pub fn untyped_tools(tools: &[OperationTool]) -> Vec<&ToolName> {
    tools.iter().filter(|tool| tool.inputs.is_untyped()).map(|tool| &tool.name).collect()
}
