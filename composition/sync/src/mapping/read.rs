//! Reading fields of records.

use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonNumber, JsonObject};

/// A type a required field can be read as.
pub trait FromField<'a>: Sized {
    /// A word for the type, for refusals.
    const EXPECTED: &'static str;
    /// The value, when it is of the type.
    fn from_field(value: &'a Json) -> Option<Self>;
}

impl<'a> FromField<'a> for &'a str {
    const EXPECTED: &'static str = "text";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_str()
    }
}

impl<'a> FromField<'a> for String {
    const EXPECTED: &'static str = "text";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl<'a> FromField<'a> for i64 {
    const EXPECTED: &'static str = "whole number of 64 bits";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_number()?.as_i64()
    }
}

impl<'a> FromField<'a> for &'a JsonNumber {
    const EXPECTED: &'static str = "number";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_number()
    }
}

impl<'a> FromField<'a> for bool {
    const EXPECTED: &'static str = "boolean";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_bool()
    }
}

impl<'a> FromField<'a> for &'a [Json] {
    const EXPECTED: &'static str = "list";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_array()
    }
}

impl<'a> FromField<'a> for &'a JsonObject {
    const EXPECTED: &'static str = "object";
    fn from_field(value: &'a Json) -> Option<Self> {
        value.as_object()
    }
}

impl<'a> FromField<'a> for &'a Json {
    const EXPECTED: &'static str = "value";
    fn from_field(value: &'a Json) -> Option<Self> {
        Some(value)
    }
}

/// Reads a required field by its dotted path.
///
/// Refuses a field that is missing or null ([`IngestRefusal::FieldMissing`]), empty or blank
/// ([`IngestRefusal::FieldEmpty`]), or of another type ([`IngestRefusal::FieldType`]). The value is in no refusal.
pub fn read_field<'a, T: FromField<'a>>(record: &'a JsonObject, path: &str) -> Result<T, IngestRefusal> {
    let field = || path.to_owned();
    let value = at(record, path).filter(|value| !value.is_null());
    let value = value.ok_or_else(|| IngestRefusal::FieldMissing { field: field() })?;
    if is_blank(value) {
        return Err(IngestRefusal::FieldEmpty { field: field() });
    }
    T::from_field(value).ok_or_else(|| IngestRefusal::FieldType {
        field: field(),
        expected: T::EXPECTED,
        found: value.kind(),
    })
}

/// The list of objects at a dotted path of a result. A single object there is a list of one; the empty path is the result
/// itself. Refuses anything else.
pub fn records_of(result: &Json, path: &str) -> Result<Vec<Json>, IngestRefusal> {
    match scion_domain::json::read_dotted(result, path) {
        Some(Json::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(index, item)| match item {
                Json::Object(_) => Ok(item.clone()),
                _ => Err(IngestRefusal::NotAnObject { index }),
            })
            .collect(),
        Some(record @ Json::Object(_)) => Ok(vec![record.clone()]),
        _ => Err(IngestRefusal::NoRecords { path: path.to_owned() }),
    }
}

/// The vendor's id of a record: the first of the keys (dotted) that holds text or a number that is not blank.
pub fn ext_id<K: AsRef<str>>(record: &JsonObject, keys: &[K]) -> Option<String> {
    keys.iter().find_map(|key| at(record, key.as_ref()).and_then(id_text))
}

/// A text as a part of an id: lower case, letters and digits of any script kept, every run of anything else one `-`.
/// Empty when the text has no letter and no digit.
pub fn slug(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    if out.ends_with('-') {
        out.pop();
    }
    out
}

/// A place of a record; a key with dots of its own wins over the path.
pub(super) fn at<'a>(record: &'a JsonObject, path: &str) -> Option<&'a Json> {
    if let Some(value) = record.get(path) {
        return Some(value);
    }
    let (head, tail) = path.split_once('.')?;
    scion_domain::json::read_dotted(record.get(head)?, tail)
}

/// Every value at a path; a list on the way, or at its end, is read element by element.
pub(super) fn each_at<'a>(record: &'a JsonObject, path: &str) -> Vec<&'a Json> {
    fn walk<'a>(value: &'a Json, path: &str, out: &mut Vec<&'a Json>) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| walk(item, path, out)),
            value if path.is_empty() => out.push(value),
            Json::Object(members) => {
                let (head, tail) = path.split_once('.').unwrap_or((path, ""));
                if let Some(next) = members.get(head) {
                    walk(next, tail, out);
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    if let Some(value) = record.get(path) {
        walk(value, "", &mut out);
    } else if let Some((head, tail)) = path.split_once('.') {
        record.get(head).into_iter().for_each(|value| walk(value, tail, &mut out));
    }
    out
}

/// The text of an id: text that is not blank, or a number with its own digits.
pub(crate) fn id_text(value: &Json) -> Option<String> {
    match value {
        Json::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Json::Number(number) => Some(number.as_text().to_owned()),
        _ => None,
    }
}

/// Null, blank text, or an empty list or object.
pub(crate) fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}
