//! Whether the arguments of a call are of the schema the tool shows. Types, members and lists of values are held against it;
//! bounds and formats are left to the API, which documents describe less faithfully.

use scion_domain::json::{Json, JsonNumber, JsonObject};
use scion_domain::openapi::PlanRefusal;

use super::restore::fits;
use crate::model::{Operation, TextForm};
use crate::schema::escaped;

/// Holds the arguments of a call against the input schema of an operation. Of a parameter that travels as text, a text that reads
/// as its number or boolean is taken too, since it is written the same.
pub fn check_arguments(operation: &Operation, arguments: &JsonObject) -> Result<(), PlanRefusal> {
    check_against(&operation.input_schema, operation, arguments)
}

/// The same for another schema of the operation, as a curation narrows it.
pub(crate) fn check_against(schema: &Json, operation: &Operation, arguments: &JsonObject) -> Result<(), PlanRefusal> {
    let properties = schema.get("properties").and_then(Json::as_object);
    for (name, value) in arguments {
        let schema = properties.and_then(|properties| properties.get(name)).ok_or(PlanRefusal::Unknown)?;
        // A silent `null` is an absent argument; whether it may be absent is seen when the request is made.
        if value.is_null() {
            continue;
        }
        let body = name == "body" && operation.body.is_some();
        let check = Check { operation, lenient: !body };
        check.value(value, schema, &format!("/properties/{}", escaped(name)), name)?;
    }
    Ok(())
}

struct Check<'o> {
    operation: &'o Operation,
    lenient: bool,
}

impl Check<'_> {
    fn value(&self, value: &Json, schema: &Json, at: &str, argument: &str) -> Result<(), PlanRefusal> {
        match self.operation.texts.get(at) {
            // Whoever gives the value itself where JSON text is asked for means the value.
            Some(TextForm::Json) => return Ok(()),
            Some(TextForm::Integer) if value.as_str().is_some() => return Ok(()),
            _ => {}
        }
        if let Some(branches) = schema.get("anyOf").and_then(Json::as_array) {
            return self.branches(value, branches, at, argument);
        }
        if !(of_type(value, schema) || self.lenient && reads_as(value, schema)) {
            return Err(PlanRefusal::Type { argument: argument.to_owned(), expected: expected(schema) });
        }
        let choices = schema.get("enum").and_then(Json::as_array);
        if choices.is_some_and(|choices| !choices.iter().any(|choice| same(choice, value, self.lenient))) {
            return Err(PlanRefusal::Choice { argument: argument.to_owned() });
        }
        match value {
            Json::Object(members) => self.members(members, schema, at, argument),
            Json::Array(items) => {
                let Some(inner) = schema.get("items") else { return Ok(()) };
                let at = format!("{at}/items");
                items.iter().try_for_each(|item| self.value(item, inner, &at, argument))
            }
            _ => Ok(()),
        }
    }

    fn branches(&self, value: &Json, branches: &[Json], at: &str, argument: &str) -> Result<(), PlanRefusal> {
        let mut best = None;
        for (index, branch) in branches.iter().enumerate() {
            match self.value(value, branch, &format!("{at}/anyOf/{index}"), argument) {
                Ok(()) => return Ok(()),
                // What is wrong with the branch that was meant says more than that no branch fits.
                Err(refusal) if best.is_none() || fits(value, branch) => best = Some(refusal),
                Err(_) => {}
            }
        }
        let expected = "one of the described forms";
        Err(match best {
            Some(refusal) if branches.iter().filter(|branch| of_type(value, branch)).count() == 1 => refusal,
            _ => PlanRefusal::Type { argument: argument.to_owned(), expected },
        })
    }

    fn members(&self, members: &JsonObject, schema: &Json, at: &str, argument: &str) -> Result<(), PlanRefusal> {
        let properties = schema.get("properties").and_then(Json::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in members {
            let known = properties.and_then(|properties| properties.get(name));
            match (known, others) {
                (Some(schema), _) => {
                    let inner = format!("{at}/properties/{}", escaped(name));
                    self.value(value, schema, &inner, &format!("{argument}.{name}"))?;
                }
                (None, Some(schema @ Json::Object(_))) => {
                    self.value(value, schema, &format!("{at}/additionalProperties"), argument)?;
                }
                (None, Some(Json::Bool(false))) => return Err(PlanRefusal::Unknown),
                (None, _) => {}
            }
        }
        let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
        match required.iter().filter_map(Json::as_str).find(|name| !members.contains_key(*name)) {
            Some(name) => Err(PlanRefusal::Missing { argument: format!("{argument}.{name}") }),
            None => Ok(()),
        }
    }
}

fn kinds(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

fn of_type(value: &Json, schema: &Json) -> bool {
    let kinds = kinds(schema);
    let of = |kind: &&str| match value {
        Json::Null => *kind == "null",
        Json::Bool(_) => *kind == "boolean",
        Json::Number(number) => *kind == "number" || (*kind == "integer" && number.is_integer()),
        Json::String(_) => *kind == "string",
        Json::Array(_) => *kind == "array",
        Json::Object(_) => *kind == "object",
    };
    kinds.is_empty() || kinds.iter().any(of)
}

/// Whether a scalar is written on the wire as one of the right type would be.
fn reads_as(value: &Json, schema: &Json) -> bool {
    kinds(schema).iter().any(|kind| match (value, *kind) {
        (Json::String(text), "integer") => JsonNumber::from_text(text).is_some_and(|number| number.is_integer()),
        (Json::String(text), "number") => JsonNumber::from_text(text).is_some(),
        (Json::String(text), "boolean") => matches!(text.as_str(), "true" | "false"),
        (Json::Number(_) | Json::Bool(_), "string") => true,
        _ => false,
    })
}

fn same(choice: &Json, value: &Json, lenient: bool) -> bool {
    let text = |value: &Json| match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.as_text().to_owned()),
        Json::Bool(flag) => Some(flag.to_string()),
        _ => None,
    };
    choice == value || (lenient && text(choice).is_some_and(|choice| Some(choice) == text(value)))
}

fn expected(schema: &Json) -> &'static str {
    match kinds(schema).first().copied() {
        Some("string") => "text",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list",
        Some("object") => "an object",
        _ => "of another type",
    }
}
