//! The tools that answer at once.

use std::time::Duration;

use scion_domain::call::{CallOutcome, LogLevel, LogLine, ProgressNotice};
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{Attachment, ResourceBody, ToolCall, ToolDescription, ToolHints, ToolResult};
use scion_domain::refusals;
use scion_domain::surface::SurfaceRefusal;
use scion_ports::CallChannel;
use scion_serve::{Tool, ToolRefusal};

use super::media;

refusals! {
    /// What the failing tool says.
    pub(super) enum TestRefusal {
        /// It always fails.
        Always => "test_error", PeerMisbehaved, Never,
            "this tool returns an error for testing", "call another tool";
        /// The client takes no questions.
        CannotAsk => "test_client_takes_no_questions", CallerMistake, Never,
            "the client takes no questions of this kind", "use a client that does";
        /// A connector never spends its client's model.
        NoSampling => "test_no_sampling", Denied, Never,
            "a connector never spends its client's model", "give the connector what it needs as arguments";
    }
}

/// How long the scenarios want a tool to pause between two messages.
const PAUSE: Duration = Duration::from_millis(50);

const PROMPT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"}},"additionalProperties":false}"#;
const WITH_DEFINITIONS: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;
const WITH_HEADER: &str = r#"{
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "additionalProperties": false
}"#;

/// What a connector declares.
pub(super) fn declared() -> [Tool; 4] {
    [
        Tool::read("test_trigger_tool_change").description("Announces that the tools changed.").handle(
            |context, _| async move {
                context.notifier.tools();
                Ok::<_, ToolRefusal>(Json::from("Announced."))
            },
        ),
        Tool::read("test_trigger_prompt_change").description("Announces that the prompts changed.").handle(
            |context, _| async move {
                context.notifier.prompts();
                Ok::<_, ToolRefusal>(Json::from("Announced."))
            },
        ),
        Tool::read("test_simple_text")
            .description("Answers with a text.")
            .handle(|_, _| async { Ok::<_, ToolRefusal>(Json::from("This is a simple text response for testing.")) }),
        Tool::read("test_error_handling")
            .description("Always fails.")
            .handle(|_, _| async { Err::<Json, _>(ToolRefusal::from(TestRefusal::Always)) }),
    ]
}

/// What the port carries beyond a declaration.
pub(super) fn described() -> Vec<ToolDescription> {
    let none = || schema(r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    [
        ("test_image_content", "Answers with a picture.", none()),
        ("test_audio_content", "Answers with a sound.", none()),
        ("test_embedded_resource", "Answers with a resource.", none()),
        ("test_multiple_content_types", "Answers with a text, a picture and a resource.", none()),
        ("test_tool_with_logging", "Sends three log lines.", none()),
        ("test_tool_with_progress", "Tells its progress three times.", none()),
        ("test_reconnection", "Takes its time, so that the stream can be resumed.", none()),
        ("test_sampling", "Would ask the client's model; refuses to.", schema(PROMPT)),
        ("test_logging_tool", "Sends log lines to a client that asks for them.", none()),
        ("test_missing_capability", "Needs a client that lends its model; no connector does.", none()),
        ("test_header_parameter", "Takes an argument that HTTP clients repeat in a header.", schema(WITH_HEADER)),
        ("json_schema_2020_12_tool", "Has a schema with definitions.", schema(WITH_DEFINITIONS)),
    ]
    .into_iter()
    .map(|(name, description, input_schema)| describe(name, description, input_schema))
    .collect()
}

/// The listing of one tool.
pub(super) fn describe(name: &str, description: &str, input_schema: Json) -> ToolDescription {
    ToolDescription {
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()),
        input_schema,
        output_schema: None,
        hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
        meta: JsonObject::new(),
    }
}

/// A schema written as text. One that is not JSON would be a fault of this file; the tests list every tool.
pub(super) fn schema(text: &str) -> Json {
    scion_domain::json::parse(text).unwrap_or(Json::Null)
}

/// The answer of one of these tools; `None` for another tool.
pub(super) async fn call(channel: &dyn CallChannel, call: &ToolCall) -> Option<Result<CallOutcome, SurfaceRefusal>> {
    let result = match call.tool.as_str() {
        "test_image_content" => attached("A red pixel:", vec![media::picture()]),
        "test_audio_content" => attached("A short silence:", vec![media::sound()]),
        "test_embedded_resource" => attached(
            "A resource:",
            vec![resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
        ),
        "test_multiple_content_types" => attached(
            "Multiple content types test:",
            vec![
                media::picture(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ],
        ),
        "test_tool_with_logging" | "test_logging_tool" => {
            for (index, line) in
                ["Tool execution started", "Tool processing data", "Tool execution completed"].iter().enumerate()
            {
                pause(index).await;
                // A client that is gone learns nothing from a refusal either.
                let _ = channel.log(&LogLine { level: LogLevel::Info, data: Json::from(*line) }).await;
            }
            text("Sent three log lines.")
        }
        "test_tool_with_progress" => {
            for (index, completed) in [0.0, 50.0, 100.0].into_iter().enumerate() {
                pause(index).await;
                let notice = ProgressNotice { completed, total: Some(100.0), message: None };
                let _ = channel.progress(&notice).await;
            }
            text("Told the progress three times.")
        }
        "test_reconnection" => {
            tokio::time::sleep(PAUSE * 4).await;
            text("Reconnection test completed.")
        }
        "test_sampling" => ToolResult::refused(&TestRefusal::NoSampling),
        "json_schema_2020_12_tool" | "test_header_parameter" => text("Taken."),
        "test_missing_capability" => return Some(Err(SurfaceRefusal::ClientCapability { capability: "sampling" })),
        _ => return None,
    };
    Some(Ok(result.into()))
}

async fn pause(index: usize) {
    if index > 0 {
        tokio::time::sleep(PAUSE).await;
    }
}

/// A result of one text.
pub(super) fn text(words: impl Into<String>) -> ToolResult {
    ToolResult { texts: vec![words.into()], ..ToolResult::default() }
}

fn attached(words: &str, attachments: Vec<Attachment>) -> ToolResult {
    ToolResult { attachments, ..text(words) }
}

fn resource(uri: &str, media_type: &str, words: &str) -> Attachment {
    Attachment::Resource(ResourceBody {
        uri: uri.to_owned(),
        media_type: Some(media_type.to_owned()),
        bytes: words.as_bytes().to_vec(),
        ..ResourceBody::default()
    })
}
