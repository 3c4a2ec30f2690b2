//! The input schema of an operation's tool, and the way from its arguments to the operation's own names.

use super::names::snake_case;
use super::{ActionRefusal, ToolSurfaceRefusal, merge_params, read_params_json};
use crate::json::{Json, JsonObject};

/// The argument that carries what has no type of its own.
pub(super) const PARAMS_JSON: &str = "params_json";

/// Words that Python reserves: a field called so keeps its wire name in the schema (R026.2).
const RESERVED: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// One typed input of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputField {
    shown: String,
    argument: String,
    schema: Json,
    default: Option<Json>,
}

impl InputField {
    /// A field the caller must give. The name is the vendor's; the tool takes it in snake case.
    pub fn required(wire: &str, schema: Json) -> Self {
        let argument = if RESERVED.contains(&wire) { wire.to_owned() } else { snake_case(wire) };
        Self { shown: argument.clone(), argument, schema, default: None }
    }

    /// A field with the value it has when the caller is silent.
    pub fn optional(wire: &str, schema: Json, default: Json) -> Self {
        Self { default: Some(default), ..Self::required(wire, schema) }
    }

    /// The name under which the operation takes the value. The schema shows it too, unless the wire name is a reserved
    /// word or this is the wire name with `_` behind it: then the schema keeps the wire name (R026.2).
    #[must_use]
    pub fn argument(mut self, wire: &str, argument: &str) -> Self {
        let escaped = argument.strip_suffix('_') == Some(wire);
        argument.clone_into(&mut self.argument);
        let shown = if escaped || RESERVED.contains(&wire) { wire } else { argument };
        shown.clone_into(&mut self.shown);
        self
    }

    /// The name in the schema and in a call.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn property(&self) -> Json {
        match (&self.schema, &self.default) {
            // `null` is silence; written out it would contradict the type.
            (Json::Object(schema), Some(default)) if !default.is_null() || takes_null(schema) => {
                let mut schema = schema.clone();
                schema.insert("default".to_owned(), default.clone());
                Json::Object(schema)
            }
            (schema, _) => schema.clone(),
        }
    }
}

/// What an operation takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationInputs {
    fields: Vec<InputField>,
    takes_more: bool,
}

impl OperationInputs {
    /// Exactly these fields. Required ones come first; otherwise the order stays.
    pub fn of(mut fields: Vec<InputField>) -> Self {
        fields.sort_by_key(|field| field.default.is_some());
        Self { fields, takes_more: false }
    }

    /// The operation also takes parameters nobody described: the tool gets `params_json`, the text of an object.
    #[must_use]
    pub fn and_more(mut self) -> Self {
        self.takes_more = true;
        self
    }

    /// No field at all and [`Self::and_more`]: the tool is untyped, which is a debt of its author.
    pub fn is_untyped(&self) -> bool {
        self.takes_more && self.fields.is_empty()
    }

    /// The fields, required ones first.
    pub fn fields(&self) -> &[InputField] {
        &self.fields
    }

    /// The same inputs with only the named fields.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self {
            fields: self.fields.iter().filter(|field| keep(&field.shown)).cloned().collect(),
            takes_more: self.takes_more,
        }
    }

    /// Every name usable and used once, every schema an object.
    pub fn check(&self, tool: &str) -> Result<(), ToolSurfaceRefusal> {
        let parameter = |name: &str| (tool.to_owned(), name.to_owned());
        for (at, field) in self.fields.iter().enumerate() {
            if [&field.shown, &field.argument].iter().any(|name| !is_argument(name)) {
                let (tool, parameter) = parameter(&field.shown);
                return Err(ToolSurfaceRefusal::ParameterName { tool, parameter });
            }
            let before = &self.fields[..at];
            let twice = before.iter().any(|other| other.shown == field.shown || other.argument == field.argument);
            if twice || (self.takes_more && field.shown == PARAMS_JSON) {
                let (tool, parameter) = parameter(&field.shown);
                return Err(ToolSurfaceRefusal::ParameterTwice { tool, parameter });
            }
            if field.schema.as_object().is_none() {
                let (tool, parameter) = parameter(&field.shown);
                return Err(ToolSurfaceRefusal::ParameterSchema { tool, parameter });
            }
        }
        Ok(())
    }

    /// The closed input schema: one object, no member beyond those named, `required` only when there is any.
    pub fn schema(&self) -> JsonObject {
        let mut properties: JsonObject =
            self.fields.iter().map(|field| (field.shown.clone(), field.property())).collect();
        if self.takes_more {
            let text = Json::from([("type", "string".into()), ("default", "{}".into())]);
            properties.insert(PARAMS_JSON.to_owned(), text);
        }
        let required: Vec<Json> = self
            .fields
            .iter()
            .filter(|field| field.default.is_none())
            .map(|field| Json::from(field.shown.as_str()))
            .collect();
        let mut schema = JsonObject::from([
            ("type".to_owned(), "object".into()),
            ("additionalProperties".to_owned(), false.into()),
            ("properties".to_owned(), properties.into()),
        ]);
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema
    }

    /// The arguments of a call under the names the operation uses: nulls are gone, `params_json` is opened.
    pub fn bind(&self, mut given: JsonObject) -> Result<JsonObject, ActionRefusal> {
        let more =
            if self.takes_more { read_params_json(given.remove(PARAMS_JSON).as_ref())? } else { JsonObject::new() };
        let mut bound = JsonObject::new();
        for (name, value) in super::drop_nulls(given) {
            let known = self.fields.iter().find(|field| field.shown == name);
            bound.insert(known.map_or(name, |field| field.argument.clone()), value);
        }
        merge_params(bound, more)
    }
}

fn is_argument(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The output schema as served, and whether answers are wrapped in `result`: clients accept objects only, so a value of
/// another type is wrapped and marked. A schema that is already marked is taken as it is.
pub fn output_schema(of_value: &Json) -> (Json, bool) {
    if of_value.get("x-fastmcp-wrap-result").and_then(Json::as_bool) == Some(true) {
        return (of_value.clone(), true);
    }
    if of_value.get("type").and_then(Json::as_str) == Some("object") {
        return (of_value.clone(), false);
    }
    let wrapped = Json::from([
        ("type", "object".into()),
        ("properties", Json::from([("result", of_value.clone())])),
        ("required", Json::from(vec!["result".into()])),
        ("x-fastmcp-wrap-result", true.into()),
    ]);
    (wrapped, true)
}

fn takes_null(schema: &JsonObject) -> bool {
    let null = Json::from("null");
    let in_type = match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.contains(&null),
        Some(kind) => *kind == null,
        None => false,
    };
    let branches = schema.get("anyOf").and_then(Json::as_array).unwrap_or_default();
    in_type || branches.iter().any(|branch| branch.get("type") == Some(&null))
}
