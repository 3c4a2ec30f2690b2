//! A value held against a schema of ours: only the keywords that [`super::schema`] leaves in.

use scion_domain::json::{Json, JsonNumber, JsonObject};
use scion_domain::surface::ArgumentRefusal;

/// What a schema asks for, in words.
pub(super) fn expected(schema: &Json) -> &'static str {
    if schema.get("enum").is_some() || schema.get("const").is_some() {
        return "one of the values of the tool's input schema";
    }
    if schema.get("format").and_then(Json::as_str) == Some("date-time") {
        return "a time with a zone, such as 2026-03-01T12:00:00Z";
    }
    let first = match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.iter().find_map(Json::as_str),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match first {
        Some("string") => "text",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        Some("boolean") => "true or false",
        Some("array") => "a list",
        Some("object") => "an object",
        _ => "what the tool's input schema says",
    }
}

/// The value, with integers that came as text turned into numbers; `at` is its name, dotted below an argument.
pub(super) fn check(schema: &Json, value: Json, at: &str) -> Result<Json, ArgumentRefusal> {
    let Some(members) = schema.as_object() else { return Ok(value) };
    let wrong = |expected| ArgumentRefusal::WrongType { name: at.to_owned(), expected };
    let value = coerce(members, value);
    if !has_kind(members, &value) {
        return Err(wrong(expected(schema)));
    }
    if members.get("enum").and_then(Json::as_array).is_some_and(|known| !known.contains(&value))
        || members.get("const").is_some_and(|only| *only != value)
    {
        return Err(wrong("one of the values of the tool's input schema"));
    }
    let value = match value {
        Json::Number(number) => in_range(members, number, at).map(Json::Number)?,
        Json::String(text) => {
            let count = || text.chars().count();
            match size(members, "maxLength") {
                Some(limit) if count() > limit => return Err(ArgumentRefusal::TooLong { name: at.to_owned(), limit }),
                _ => {}
            }
            if size(members, "minLength").is_some_and(|least| count() < least) {
                return Err(wrong("text of the length that the tool's input schema asks for"));
            }
            Json::String(text)
        }
        Json::Array(items) => list(members, items, at)?,
        Json::Object(given) => object(members, given, at)?,
        other => other,
    };
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Json::Array(branches)) = members.get(keyword) {
            let found = branches.iter().find_map(|branch| check(branch, value.clone(), at).ok());
            return found.ok_or_else(|| wrong("what the tool's input schema says"));
        }
    }
    Ok(value)
}

fn kinds(members: &JsonObject) -> impl Iterator<Item = &str> {
    let (one, many) = match members.get("type") {
        Some(Json::Array(kinds)) => (None, Some(kinds)),
        Some(Json::String(kind)) => (Some(kind.as_str()), None),
        _ => (None, None),
    };
    one.into_iter().chain(many.into_iter().flatten().filter_map(Json::as_str))
}

fn coerce(members: &JsonObject, value: Json) -> Json {
    let takes = |kind: &str| kinds(members).any(|known| known == kind);
    match value {
        Json::String(text) if takes("integer") && takes("string") => {
            match JsonNumber::from_text(&text).filter(JsonNumber::is_integer) {
                Some(number) => Json::Number(number),
                None => Json::String(text),
            }
        }
        // `2.0` is an integer (JSON Schema 2020-12, 6.1.1).
        Json::Number(number) if takes("integer") && !takes("number") && !number.is_integer() => {
            let text = number.as_text();
            let whole = text.split_once('.').filter(|(_, rest)| rest.bytes().all(|digit| digit == b'0'));
            match whole.and_then(|(whole, _)| JsonNumber::from_text(whole)) {
                Some(whole) => Json::Number(whole),
                None => Json::Number(number),
            }
        }
        other => other,
    }
}

fn has_kind(members: &JsonObject, value: &Json) -> bool {
    let mut any = false;
    for kind in kinds(members) {
        any = true;
        let fits = match (kind, value) {
            ("integer", Json::Number(number)) => number.is_integer(),
            // Where an integer may come as text, `coerce` has made a number of it.
            ("string", Json::String(_)) => !kinds(members).any(|other| other == "integer"),
            ("number", Json::Number(_))
            | ("boolean", Json::Bool(_))
            | ("null", Json::Null)
            | ("array", Json::Array(_))
            | ("object", Json::Object(_)) => true,
            _ => false,
        };
        if fits {
            return true;
        }
    }
    !any
}

fn size(members: &JsonObject, key: &str) -> Option<usize> {
    members.get(key)?.as_number()?.as_u64().and_then(|size| usize::try_from(size).ok())
}

fn in_range(members: &JsonObject, number: JsonNumber, at: &str) -> Result<JsonNumber, ArgumentRefusal> {
    let bound = |key: &str| members.get(key).and_then(Json::as_number);
    let (low, high) = (bound("minimum"), bound("maximum"));
    let outside = if let Some(value) = number.as_i64() {
        let under =
            |bound: &JsonNumber| bound.as_i64().map_or_else(|| number.as_f64() < bound.as_f64(), |low| value < low);
        let over =
            |bound: &JsonNumber| bound.as_i64().map_or_else(|| number.as_f64() > bound.as_f64(), |high| value > high);
        low.is_some_and(under) || high.is_some_and(over)
    } else {
        let value = number.as_f64();
        low.is_some_and(|low| value < low.as_f64()) || high.is_some_and(|high| value > high.as_f64())
    };
    if !outside {
        return Ok(number);
    }
    let whole = |bound: Option<&JsonNumber>, silent: i64| bound.and_then(JsonNumber::as_i64).unwrap_or(silent);
    let (minimum, maximum) = (whole(low, i64::MIN), whole(high, i64::MAX));
    Err(ArgumentRefusal::OutOfRange { name: at.to_owned(), minimum, maximum })
}

fn list(members: &JsonObject, items: Vec<Json>, at: &str) -> Result<Json, ArgumentRefusal> {
    let few = size(members, "minItems").is_some_and(|least| items.len() < least);
    let many = size(members, "maxItems").is_some_and(|most| items.len() > most);
    if few || many {
        let expected = "a list of the length that the tool's input schema asks for";
        return Err(ArgumentRefusal::WrongType { name: at.to_owned(), expected });
    }
    let Some(of_item) = members.get("items") else { return Ok(items.into()) };
    let checked = items.into_iter().enumerate().map(|(index, item)| check(of_item, item, &format!("{at}.{index}")));
    Ok(checked.collect::<Result<Vec<_>, _>>()?.into())
}

fn object(members: &JsonObject, given: JsonObject, at: &str) -> Result<Json, ArgumentRefusal> {
    let described = members.get("properties").and_then(Json::as_object);
    let required = members.get("required").and_then(Json::as_array).unwrap_or_default();
    if let Some(missing) = required.iter().filter_map(Json::as_str).find(|name| !given.contains_key(*name)) {
        return Err(ArgumentRefusal::Missing { name: format!("{at}.{missing}") });
    }
    let rest = members.get("additionalProperties");
    let mut checked = JsonObject::new();
    for (name, value) in given {
        // A name the caller made up is not repeated.
        let (schema, place) = match (described.and_then(|all| all.get(&name)), rest) {
            (Some(schema), _) => (Some(schema), format!("{at}.{name}")),
            (None, Some(Json::Bool(false))) => {
                let expected = "an object with no other members than the tool's input schema names";
                return Err(ArgumentRefusal::WrongType { name: at.to_owned(), expected });
            }
            (None, schema) => (schema, at.to_owned()),
        };
        let value = match schema {
            Some(schema) => check(schema, value, &place)?,
            None => value,
        };
        checked.insert(name, value);
    }
    Ok(Json::Object(checked))
}
