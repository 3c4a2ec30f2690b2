//! The tools that ask the person behind the client.

use scion_domain::base64::encode_url;
use scion_domain::call::{Asking, CallOutcome, Continuation, Question, Reply};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::{ToolCall, ToolDescription, ToolResult};
use scion_domain::surface::SurfaceRefusal;
use scion_ports::{CallChannel, Entropy};

use super::tools::{TestRefusal, describe, schema, text};

/// Name and description of each tool.
const ALL: [(&str, &str); 9] = [
    ("test_elicitation", "Asks for a name and an address."),
    ("test_elicitation_sep1034_defaults", "Asks with a default for each kind of field."),
    ("test_elicitation_sep1330_enums", "Asks with each kind of choice."),
    ("test_streaming_elicitation", "Asks for a name."),
    ("test_input_required_result_elicitation", "Asks for a name."),
    ("test_input_required_result_request_state", "Asks for a yes."),
    ("test_input_required_result_tampered_state", "Asks for a yes, and takes no state but its own."),
    ("test_input_required_result_capabilities", "Asks for a name, of clients that take questions."),
    ("test_input_required_result_multi_round", "Asks for a name, then for a colour."),
];

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

const NAME_FORM: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const COLOUR_FORM: &str = r#"{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}"#;
const YES_FORM: &str = r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#;

pub(super) fn described() -> Vec<ToolDescription> {
    let takes = |name: &str| schema(if name == "test_elicitation" { MESSAGE } else { NOTHING });
    ALL.iter().map(|(name, description)| describe(name, description, takes(name))).collect()
}

/// The rounds of a tool: key, message and form of each question. `None` for another tool.
fn rounds(call: &ToolCall) -> Option<Vec<Question>> {
    let given = call.arguments.get("message").and_then(Json::as_str).unwrap_or("Please provide your information");
    let all: &[(&str, &str, &str)] = match call.tool.as_str() {
        "test_elicitation" => &[("answer", given, PLAIN_FORM)],
        "test_elicitation_sep1034_defaults" => &[("answer", "Please check these values", DEFAULTS_FORM)],
        "test_elicitation_sep1330_enums" => &[("answer", "Please choose", CHOICES_FORM)],
        "test_streaming_elicitation"
        | "test_input_required_result_elicitation"
        | "test_input_required_result_capabilities" => &[("user_name", "What is your name?", NAME_FORM)],
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            &[("confirm", "Please confirm", YES_FORM)]
        }
        "test_input_required_result_multi_round" => &[
            ("step1", "Step 1: What is your name?", NAME_FORM),
            ("step2", "Step 2: What is your favorite color?", COLOUR_FORM),
        ],
        _ => return None,
    };
    let question = |&(key, message, form): &(&str, &str, &str)| {
        let Json::Object(schema) = schema(form) else { return None };
        Some(Question { key: key.to_owned(), message: message.to_owned(), schema })
    };
    all.iter().map(question).collect()
}

/// The tools, with what makes the state of a round nobody else's.
#[derive(Debug)]
pub(super) struct Questions {
    seal: String,
}

impl Questions {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let mut seal = [0; 24];
        entropy.fill(&mut seal);
        Self { seal: encode_url(&seal) }
    }

    /// The state of a round: which one it is, under a seal nobody can guess. Nothing else is kept between two rounds.
    fn state(&self, round: usize) -> String {
        format!("{}.{round}", self.seal)
    }

    /// The answer of one of these tools; `None` for another tool.
    pub(super) async fn call(
        &self,
        channel: &dyn CallChannel,
        call: &ToolCall,
    ) -> Option<Result<CallOutcome, SurfaceRefusal>> {
        let rounds = rounds(call)?;
        Some(match channel.asking() {
            Asking::Unsupported => Ok(ToolResult::refused(&TestRefusal::CannotAsk).into()),
            Asking::Direct => Ok(ask_all(channel, &rounds).await.into()),
            Asking::Repeated(continuation) => self.repeated(continuation, rounds),
        })
    }

    fn repeated(&self, continuation: &Continuation, mut rounds: Vec<Question>) -> Result<CallOutcome, SurfaceRefusal> {
        let round = match &continuation.state {
            None => 0,
            Some(state) => {
                (0..rounds.len()).find(|round| *state == self.state(*round)).ok_or(SurfaceRefusal::RequestState)?
            }
        };
        let reply = rounds.get(round).and_then(|question| continuation.replies.get(&question.key));
        let next = match reply {
            None | Some(Reply::Malformed) => round,
            Some(reply) if round + 1 == rounds.len() => return Ok(said(reply).into()),
            Some(_) => round + 1,
        };
        Ok(CallOutcome::Asks { questions: vec![rounds.swap_remove(next)], state: self.state(next) })
    }
}

async fn ask_all(channel: &dyn CallChannel, rounds: &[Question]) -> ToolResult {
    let mut last = ToolResult::refused(&TestRefusal::CannotAsk);
    for question in rounds {
        match channel.ask(question).await {
            Ok(reply) => last = said(&reply),
            Err(refusal) => return ToolResult::refused(&refusal),
        }
    }
    last
}

fn said(reply: &Reply) -> ToolResult {
    let (action, content) = match reply {
        Reply::Accepted(content) => ("accept", content.clone()),
        Reply::Declined => ("decline", JsonObject::new()),
        Reply::Cancelled => ("cancel", JsonObject::new()),
        Reply::Malformed => ("malformed", JsonObject::new()),
    };
    text(format!("User response (state-ok): action={action}, content={}", to_compact(&Json::Object(content))))
}
