//! The tools that ask the person behind the client.

use scion_domain::call::{Asking, CallOutcome, Question, Reply};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::{ToolCall, ToolDescription, ToolResult};
use scion_domain::surface::SurfaceRefusal;
use scion_ports::CallChannel;

use super::tools::{TestRefusal, describe, schema, text};

const PLAIN: &str = "test_elicitation";
const DEFAULTS: &str = "test_elicitation_sep1034_defaults";
const CHOICES: &str = "test_elicitation_sep1330_enums";
/// The key of the one question of each tool.
const KEY: &str = "answer";
/// Nothing is kept between two rounds, so there is nothing to seal.
const STATE: &str = "asked-once";

const NOTHING: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
const MESSAGE: &str = r#"{"type":"object","properties":{"message":{"type":"string"}},"additionalProperties":false}"#;

const PLAIN_FORM: &str = r#"{
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "Your name"},
        "email": {"type": "string", "description": "Your address"}
    },
    "required": ["username", "email"]
}"#;
const DEFAULTS_FORM: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}
    }
}"#;
const CHOICES_FORM: &str = r#"{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"}
            ]
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"}
                ]
            }
        }
    }
}"#;

pub(super) fn described() -> Vec<ToolDescription> {
    vec![
        describe(PLAIN, "Asks for a name and an address.", schema(MESSAGE)),
        describe(DEFAULTS, "Asks with a default for each kind of field.", schema(NOTHING)),
        describe(CHOICES, "Asks with each kind of choice.", schema(NOTHING)),
    ]
}

/// The answer of one of these tools; `None` for another tool.
pub(super) async fn call(channel: &dyn CallChannel, call: &ToolCall) -> Option<Result<CallOutcome, SurfaceRefusal>> {
    let (message, form) = match call.tool.as_str() {
        PLAIN => {
            let given = call.arguments.get("message").and_then(Json::as_str);
            (given.unwrap_or("Please provide your information").to_owned(), PLAIN_FORM)
        }
        DEFAULTS => ("Please check these values".to_owned(), DEFAULTS_FORM),
        CHOICES => ("Please choose".to_owned(), CHOICES_FORM),
        _ => return None,
    };
    let Json::Object(schema) = schema(form) else { return None };
    Some(ask(channel, Question { key: KEY.to_owned(), message, schema }).await)
}

async fn ask(channel: &dyn CallChannel, question: Question) -> Result<CallOutcome, SurfaceRefusal> {
    let reply = match channel.asking() {
        Asking::Unsupported => return Ok(ToolResult::refused(&TestRefusal::CannotAsk).into()),
        Asking::Direct => match channel.ask(&question).await {
            Ok(reply) => reply,
            Err(refusal) => return Ok(ToolResult::refused(&refusal).into()),
        },
        Asking::Repeated(continuation) => {
            if continuation.state.as_deref().is_some_and(|state| state != STATE) {
                return Err(SurfaceRefusal::RequestState);
            }
            match continuation.replies.get(&question.key) {
                Some(reply) => reply.clone(),
                None => return Ok(CallOutcome::Asks { questions: vec![question], state: STATE.to_owned() }),
            }
        }
    };
    let (action, content) = match reply {
        Reply::Accepted(content) => ("accept", content),
        Reply::Declined => ("decline", JsonObject::new()),
        Reply::Cancelled => ("cancel", JsonObject::new()),
        Reply::Malformed => ("malformed", JsonObject::new()),
    };
    Ok(text(format!("User response: action={action}, content={}", to_compact(&Json::Object(content)))).into())
}
