//! The arguments of an ingest tool: its source's parameters after the client.

use std::collections::HashSet;

use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonObject};

/// What an argument holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// An object with any members.
    Object,
}

impl ArgumentKind {
    fn schema(self) -> JsonObject {
        let mut schema = JsonObject::new();
        let word = match self {
            Self::Text => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Texts => "array",
            Self::Object => "object",
        };
        schema.insert("type".to_owned(), word.into());
        if self == Self::Texts {
            schema.insert("items".to_owned(), Json::from([("type", "string".into())]));
        }
        schema
    }

    fn holds(self, value: &Json) -> bool {
        match (self, value) {
            (Self::Integer, Json::Number(number)) => number.is_integer(),
            (Self::Texts, Json::Array(items)) => items.iter().all(|item| item.as_str().is_some()),
            (Self::Text, Json::String(_))
            | (Self::Number, Json::Number(_))
            | (Self::Boolean, Json::Bool(_))
            | (Self::Object, Json::Object(_)) => true,
            _ => false,
        }
    }

    const fn expected(self) -> &'static str {
        match self {
            Self::Text => "must be text",
            Self::Integer => "must be a whole number",
            Self::Number => "must be a number",
            Self::Boolean => "must be true or false",
            Self::Texts => "must be a list of texts",
            Self::Object => "must be an object",
        }
    }
}

/// One argument of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolArgument {
    pub(super) name: String,
    kind: ArgumentKind,
    description: String,
    default: Option<Json>,
    required: bool,
}

impl ToolArgument {
    /// An argument that must be given.
    pub fn required(name: impl Into<String>, kind: ArgumentKind, description: impl Into<String>) -> Self {
        Self { name: name.into(), kind, description: description.into(), default: None, required: true }
    }

    /// An argument that may be left out.
    pub fn optional(name: impl Into<String>, kind: ArgumentKind, description: impl Into<String>) -> Self {
        Self { required: false, ..Self::required(name, kind, description) }
    }

    /// The value of an argument that is left out.
    #[must_use]
    pub fn or(mut self, default: impl Into<Json>) -> Self {
        self.default = Some(default.into());
        self.required = false;
        self
    }
}

/// Refuses arguments that cannot be declared together.
pub(super) fn check(tool: &str, arguments: &[ToolArgument]) -> Result<(), IngestRefusal> {
    let mut names = HashSet::new();
    for argument in arguments {
        let what = if argument.name.is_empty() {
            "an argument has no name"
        } else if !names.insert(argument.name.as_str()) {
            "two arguments share a name"
        } else if argument.default.as_ref().is_some_and(|default| !argument.kind.holds(default)) {
            "the default of an argument has another type"
        } else {
            continue;
        };
        return Err(IngestRefusal::Declaration { what, name: tool.to_owned() });
    }
    Ok(())
}

/// The input schema: a closed object.
pub(super) fn schema(arguments: &[ToolArgument]) -> JsonObject {
    let mut properties = JsonObject::new();
    let mut required = Vec::new();
    for argument in arguments {
        let mut schema = argument.kind.schema();
        if !argument.description.is_empty() {
            schema.insert("description".to_owned(), argument.description.as_str().into());
        }
        if let Some(default) = &argument.default {
            schema.insert("default".to_owned(), default.clone());
        }
        properties.insert(argument.name.clone(), schema.into());
        if argument.required {
            required.push(Json::from(argument.name.as_str()));
        }
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("additionalProperties".to_owned(), false.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

/// Checks a call's arguments and fills in defaults. An explicit null counts as left out.
pub(super) fn read(declared: &[ToolArgument], mut given: JsonObject) -> Result<JsonObject, IngestRefusal> {
    let refused = |name: &str, what| Err(IngestRefusal::Argument { name: name.to_owned(), what });
    let mut out = JsonObject::new();
    for argument in declared {
        match given.remove(&argument.name).filter(|value| !value.is_null()).or_else(|| argument.default.clone()) {
            Some(value) if argument.kind.holds(&value) => {
                out.insert(argument.name.clone(), value);
            }
            Some(_) => return refused(&argument.name, argument.kind.expected()),
            None if argument.required => return refused(&argument.name, "is required"),
            None => {}
        }
    }
    match given.keys().next() {
        Some(unknown) => refused(unknown, "is not known"),
        None => Ok(out),
    }
}
