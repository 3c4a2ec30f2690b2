//! From a tool's value to its answer on the wire (`wire/mcp-surface.md` 2.5).

use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::ToolResult;
use scion_domain::surface::ToolFailure;
use scion_domain::tool_surface::output_schema;

use crate::ToolRefusal;

/// What a tool's declared output schema means for its answers.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    schema: Option<Json>,
    wraps: bool,
}

impl Output {
    /// Reads the schema of the value; a schema that is not an object's is wrapped in `result`. A schema that already wraps
    /// is taken as it is.
    pub(crate) fn of(value_schema: Option<&Json>) -> Self {
        let Some(of_value) = value_schema else { return Self { schema: None, wraps: false } };
        let (schema, wraps) = output_schema(of_value);
        Self { schema: Some(schema), wraps }
    }

    /// `outputSchema`, as served.
    pub(crate) fn schema(&self) -> Option<Json> {
        self.schema.clone()
    }

    /// The answer: always one text, plus the structured value where the schema or the value allows one.
    pub(crate) fn answer(&self, tool: &str, value: Json) -> ToolResult {
        if self.schema.is_some() && !self.wraps && value.as_object().is_none() {
            return ToolResult::refused(&ToolFailure::WrongShape { tool: tool.to_owned(), expected: "an object" });
        }
        let text = match &value {
            // A text is shown as it is, so that a person or a model reads it without quotes.
            Json::String(text) => text.clone(),
            other => to_compact(other),
        };
        let structured = match value {
            _ if self.wraps => Some(Json::Object(JsonObject::from([("result".to_owned(), value)]))),
            object @ Json::Object(_) => Some(object),
            _ => None,
        };
        ToolResult { texts: vec![text], structured, wrapped: self.wraps, ..ToolResult::default() }
    }
}

/// The answer of a tool that says no.
pub(crate) fn refusal(refusal: &ToolRefusal) -> ToolResult {
    ToolResult { texts: vec![refusal.text()], is_error: true, ..ToolResult::default() }
}
