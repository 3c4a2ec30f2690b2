//! Arguments with the texts that stand for something else decoded.

use std::collections::BTreeMap;

use scion_domain::json::{self, Json, JsonNumber, JsonObject};
use scion_domain::openapi::PlanRefusal;

use crate::model::TextForm;
use crate::schema::escaped;

pub(super) struct Restorer<'r> {
    pub(super) schema: &'r Json,
    pub(super) texts: &'r BTreeMap<String, TextForm>,
}

impl Restorer<'_> {
    pub(super) fn argument(&self, argument: &str, value: &Json) -> Result<Json, PlanRefusal> {
        let schema = self.schema.get("properties").and_then(|properties| properties.get(argument));
        match schema {
            Some(schema) => self.restore(value, schema, &format!("/properties/{}", escaped(argument)), argument),
            None => Ok(value.clone()),
        }
    }

    /// Whether the text at a place of the schema is bytes in Base64.
    pub(super) fn is_bytes(&self, at: &str) -> bool {
        self.texts.get(at) == Some(&TextForm::Base64)
    }

    fn restore(&self, value: &Json, schema: &Json, at: &str, argument: &str) -> Result<Json, PlanRefusal> {
        match (self.texts.get(at), value) {
            (Some(TextForm::Json), Json::String(text)) => {
                let refused = || PlanRefusal::Encoded { argument: argument.to_owned(), expected: "JSON" };
                return json::parse(text).map_err(|_| refused());
            }
            (Some(TextForm::Integer), Json::String(text)) => {
                let integer = JsonNumber::from_text(text).filter(|number| number.is_integer() && text.len() <= 20);
                let refused = || PlanRefusal::Type { argument: argument.to_owned(), expected: "an integer" };
                return integer.map(Json::Number).ok_or_else(refused);
            }
            _ => {}
        }
        if let Some(branches) = schema.get("anyOf").and_then(Json::as_array) {
            let branch = branches.iter().enumerate().find(|(_, branch)| fits(value, branch));
            return match branch {
                Some((index, branch)) => self.restore(value, branch, &format!("{at}/anyOf/{index}"), argument),
                None => Ok(value.clone()),
            };
        }
        match value {
            Json::Object(members) => {
                let properties = schema.get("properties").and_then(Json::as_object);
                let others = schema.get("additionalProperties").filter(|others| others.as_object().is_some());
                let mut out = JsonObject::new();
                for (name, value) in members {
                    let known = properties.and_then(|properties| properties.get(name));
                    let restored = match (known, others) {
                        (Some(schema), _) => {
                            self.restore(value, schema, &format!("{at}/properties/{}", escaped(name)), argument)?
                        }
                        (None, Some(schema)) => {
                            self.restore(value, schema, &format!("{at}/additionalProperties"), argument)?
                        }
                        (None, None) => value.clone(),
                    };
                    out.insert(name.clone(), restored);
                }
                Ok(Json::Object(out))
            }
            Json::Array(items) => match schema.get("items") {
                Some(schema) => {
                    let at = format!("{at}/items");
                    items
                        .iter()
                        .map(|item| self.restore(item, schema, &at, argument))
                        .collect::<Result<_, _>>()
                        .map(Json::Array)
                }
                None => Ok(value.clone()),
            },
            other => Ok(other.clone()),
        }
    }
}

/// Whether a value may be of a branch, as far as its own level tells.
pub(super) fn fits(value: &Json, schema: &Json) -> bool {
    let of_type = |kind: &str| match value {
        Json::Null => kind == "null",
        Json::Bool(_) => kind == "boolean",
        Json::Number(number) => kind == "number" || (kind == "integer" && number.is_integer()),
        Json::String(_) => kind == "string",
        Json::Array(_) => kind == "array",
        Json::Object(_) => kind == "object",
    };
    let typed = match schema.get("type") {
        Some(Json::String(kind)) => of_type(kind),
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).any(of_type),
        _ => true,
    };
    let listed = |value: &Json, schema: &Json| {
        schema.get("enum").and_then(Json::as_array).is_none_or(|choices| choices.contains(value))
    };
    if !typed || !listed(value, schema) {
        return false;
    }
    let Some(members) = value.as_object() else { return true };
    let properties = schema.get("properties").and_then(Json::as_object);
    let closed = schema.get("additionalProperties").and_then(Json::as_bool) == Some(false);
    let known = members.iter().all(|(name, value)| match properties.and_then(|properties| properties.get(name)) {
        Some(schema) => listed(value, schema),
        None => !closed,
    });
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    known && required.iter().filter_map(Json::as_str).all(|name| members.contains_key(name))
}
