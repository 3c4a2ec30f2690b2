//! Between the domain's models and the protocol library's.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ContentBlock, Implementation, MetaObject, RequestMetaObject, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolDescription, ToolHints, ToolResult};
use scion_domain::surface::SurfaceIdentity;
use scion_domain::tool_context::{RECOVERY_META_KEY, RecoveryRequest};
use serde_json::{Map, Value, json};

use crate::wire_content;

#[expect(deprecated, reason = "clients of both eras still take log lines this way")]
pub(crate) fn server_config(identity: &SurfaceIdentity, completes: bool) -> ServerConfig {
    let mut capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_resources()
        .enable_resources_list_changed()
        .enable_resources_subscribe()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_logging()
        .build();
    capabilities.completions = completes.then(Default::default);
    let mut config = ServerConfig::new(capabilities);
    config.server_info = implementation(identity);
    config.instructions.clone_from(&identity.instructions);
    config
}

pub(crate) fn implementation(identity: &SurfaceIdentity) -> Implementation {
    let mut info = Implementation::new(identity.name.clone(), identity.version.clone());
    info.title.clone_from(&identity.title);
    info
}

pub(crate) fn tool(described: ToolDescription) -> Tool {
    let mut tool = Tool::new_with_raw(
        described.name,
        described.description.map(Cow::Owned),
        Arc::new(value_object(&described.input_schema)),
    );
    tool.title = described.title;
    tool.output_schema = described.output_schema.as_ref().map(|schema| Arc::new(value_object(schema)));
    tool.annotations = annotations(described.hints);
    tool.meta = (!described.meta.is_empty()).then(|| MetaObject(members(&described.meta)));
    tool
}

fn annotations(hints: ToolHints) -> Option<ToolAnnotations> {
    (hints != ToolHints::default()).then(|| {
        ToolAnnotations::from_raw(None, hints.read_only, hints.destructive, hints.idempotent, hints.open_world)
    })
}

/// The text holds every digit. The structured value repeats it for clients that prefer structure; there, numbers that do not
/// fit 64 bits are rounded to the nearest float, which is all such a client could read.
pub(crate) fn tool_result(result: ToolResult) -> CallToolResult {
    let texts = result.texts.into_iter().map(ContentBlock::text);
    let content = texts.chain(result.attachments.into_iter().map(wire_content::attachment)).collect();
    let mut out = if result.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    out.structured_content = result.structured.as_ref().map(Value::from);
    let mut meta = members(&result.meta);
    if result.wrapped {
        meta.insert("fastmcp".to_owned(), json!({ "wrap_result": true }));
    }
    out.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    out
}

/// The earlier request whose result the caller wants.
pub(crate) fn recovery(meta: &RequestMetaObject) -> Option<Arc<RecoveryRequest>> {
    let asked = meta.get(RECOVERY_META_KEY)?;
    let text = |name: &str| asked.get(name).and_then(Value::as_str).map(Arc::from);
    // A recovery that names no request is one of a request nobody knows: it is refused, never a new call.
    Some(Arc::new(RecoveryRequest { session: text("session"), request: text("request").unwrap_or_default() }))
}

fn value_object(json: &Json) -> Map<String, Value> {
    json.as_object().map(members).unwrap_or_default()
}

fn members(object: &JsonObject) -> Map<String, Value> {
    object.iter().map(|(key, value)| (key.clone(), Value::from(value))).collect()
}

pub(crate) fn arguments(given: Option<Map<String, Value>>) -> JsonObject {
    given.unwrap_or_default().into_iter().map(|(key, value)| (key, Json::from(value))).collect()
}
