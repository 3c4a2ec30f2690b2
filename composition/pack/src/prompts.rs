//! The entry of a prompt (`wire/mcp-surface.md` 4.1).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use scion_domain::canonical::peer_json;
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{McpRefusal, ToolHints};
use scion_domain::model::PackEntry;
use scion_domain::pack::{EntryKind, PackAnnotations, PackRefusal};
use scion_ports::{CaptureRefusal, McpSession};

/// Members of a `_meta` that belong to the protocol, not to the prompt: they name the server's version and differ between
/// protocol versions.
const PROTOCOL_META: &str = "io.modelcontextprotocol/";

/// A prompt as it was listed, checked.
#[derive(Debug)]
pub(crate) struct ListedPrompt {
    pub(crate) uri: String,
    name: String,
    definition: JsonObject,
    /// A placeholder for each argument it needs.
    bound: BTreeMap<String, String>,
}

impl ListedPrompt {
    pub(crate) fn read(connector: &ConnectorName, definition: JsonObject) -> Result<Self, PackRefusal> {
        let definition = without_nulls(definition);
        let name = definition.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        let uri = format!("prompt://{connector}/{}", escaped(&name));
        let bad = |what| PackRefusal::Malformed { uri: uri.clone(), what };
        if name.trim().is_empty() {
            return Err(bad("a prompt without a name"));
        }
        let arguments = match definition.get("arguments") {
            None => &[][..],
            Some(list) => list.as_array().ok_or_else(|| bad("arguments that are no list"))?,
        };
        let (mut seen, mut bound) = (BTreeSet::new(), BTreeMap::new());
        for argument in arguments {
            let argument_name = argument.get("name").and_then(Json::as_str).filter(|name| !name.trim().is_empty());
            let argument_name = argument_name.ok_or_else(|| bad("an argument without a name"))?;
            if !seen.insert(argument_name) {
                return Err(bad("two arguments of one name"));
            }
            if argument.get("required").and_then(Json::as_bool) == Some(true) {
                bound.insert(argument_name.to_owned(), format!("{{{{{argument_name}}}}}"));
            }
        }
        Ok(Self { uri, name, definition, bound })
    }

    /// Fills the prompt in and makes its entry. A prompt that needs arguments is filled in with placeholders; when the server
    /// refuses those, for it takes a number or a word of its own, the entry is made from the definition alone. Every other failure
    /// is one.
    pub(crate) async fn capture(&self, session: &dyn McpSession) -> Result<PackEntry, CaptureRefusal> {
        let result = match session.get_prompt(&self.name, &self.bound).await {
            Ok(result) => self.rendered(result)?,
            Err(McpRefusal::PromptRejected { .. }) if !self.bound.is_empty() => self.synthesised(),
            Err(other) => return Err(CaptureRefusal::Mcp(other)),
        };
        Ok(self.entry(result)?)
    }

    fn rendered(&self, result: JsonObject) -> Result<JsonObject, PackRefusal> {
        let bad = |what| PackRefusal::Malformed { uri: self.uri.clone(), what };
        let mut result = without_nulls(result);
        let messages = result.get("messages").and_then(Json::as_array).unwrap_or_default();
        let whole = |message: &Json| {
            message.get("role").is_some_and(|role| role.as_str().is_some()) && message.get("content").is_some()
        };
        if messages.is_empty() || !messages.iter().all(whole) {
            return Err(bad("no messages, or one without a role or content"));
        }
        if let Some(Json::Object(meta)) = result.get_mut("_meta") {
            meta.retain(|name, _| !name.starts_with(PROTOCOL_META));
            if meta.is_empty() {
                result.remove("_meta");
            }
        }
        result.insert("resultType".to_owned(), Json::from("complete"));
        Ok(result)
    }

    fn synthesised(&self) -> JsonObject {
        let mut text = "Fill this prompt in with:".to_owned();
        for (name, placeholder) in &self.bound {
            let _ = write!(text, " {name} = {placeholder};");
        }
        text.pop();
        text.push('.');
        let content = Json::from([("type", Json::from("text")), ("text", Json::from(text))]);
        let message = Json::from([("role", Json::from("user")), ("content", content)]);
        let members = [("messages", Json::from(vec![message])), ("resultType", Json::from("complete"))];
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn entry(&self, result: JsonObject) -> Result<PackEntry, PackRefusal> {
        let bound = self.bound.iter().map(|(name, text)| (name.clone(), Json::from(text.as_str()))).collect();
        let kind = if self.bound.is_empty() { "rendered" } else { "template" };
        let capture = Json::from([
            ("bound_arguments", Json::Object(bound)),
            ("kind", Json::from(kind)),
            ("method", Json::from("prompts/get")),
        ]);
        let body = Json::from([
            ("arguments", self.definition.get("arguments").cloned().unwrap_or_else(|| Vec::new().into())),
            ("capture", capture),
            ("definition", Json::Object(self.definition.clone())),
            ("description", Json::from(self.definition.get("description").and_then(Json::as_str).unwrap_or_default())),
            ("name", Json::from(self.name.as_str())),
            ("result", Json::Object(result)),
        ]);
        let meta = self.definition.get("_meta").and_then(Json::as_object).cloned().unwrap_or_default();
        Ok(PackEntry {
            kind: EntryKind::Prompt.as_str().to_owned(),
            uri: self.uri.clone(),
            name: self.name.clone(),
            media_type: "application/json".to_owned(),
            body: peer_json(&body).into_bytes(),
            annotations: PackAnnotations::declared(&self.uri, &meta, ToolHints::default(), None)?,
            ..PackEntry::default()
        })
    }
}

/// An absent member and `null` are the same to the protocol.
fn without_nulls(members: JsonObject) -> JsonObject {
    fn clean(value: Json) -> Json {
        match value {
            Json::Object(members) => Json::Object(without_nulls(members)),
            Json::Array(items) => items.into_iter().map(clean).collect::<Vec<_>>().into(),
            scalar => scalar,
        }
    }
    members.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, clean(value))).collect()
}

/// A name as the last part of an IRI: what an IRI cannot hold is escaped, everything else stays.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_whitespace() || c.is_control() || "<>\"{}|\\^`%".contains(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}
