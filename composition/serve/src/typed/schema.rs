//! From the schemas that schemars writes to those that every client takes: references written out, objects closed, integers
//! that keep their digits, nothing that only names a Rust type.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use scion_domain::client_profile::MAX_SAFE_INTEGER;
use scion_domain::json::{Json, JsonObject};

/// Where a schema that leads back into itself is cut, in references that are open at once.
const MAX_OPEN: usize = 16;
/// Members that say nothing about values.
const NOISE: [&str; 5] = ["$schema", "$defs", "definitions", "$comment", "title"];
const BRANCHES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

pub(super) fn raw_input<T: JsonSchema>() -> Json {
    raw::<T>(Contract::Deserialize)
}

/// The schema of an argument without `null`, and whether it was there: then the argument is optional.
pub(super) fn finish_input(raw: &Json) -> (Json, bool) {
    without_null(Writer { root: raw, input: true }.schema(raw, &mut Vec::new()))
}

pub(super) fn of_output<T: JsonSchema>() -> Json {
    let raw = raw::<T>(Contract::Serialize);
    Writer { root: &raw, input: false }.schema(&raw, &mut Vec::new())
}

fn raw<T: JsonSchema>(contract: Contract) -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    Json::from(settings.into_generator().into_root_schema_for::<T>().to_value())
}

struct Writer<'w> {
    root: &'w Json,
    input: bool,
}

impl<'w> Writer<'w> {
    fn schema(&self, schema: &'w Json, open: &mut Vec<&'w str>) -> Json {
        let Some(members) = schema.as_object() else { return Json::Object(JsonObject::new()) };
        let mut out = JsonObject::new();
        if let Some(reference) = members.get("$ref").and_then(Json::as_str) {
            let target = self.target(reference).filter(|_| !open.contains(&reference) && open.len() < MAX_OPEN);
            if let Some(target) = target {
                open.push(reference);
                if let Json::Object(written) = self.schema(target, open) {
                    out = written;
                }
                open.pop();
            } else {
                let text = "Nested further in the same way; any value is taken here.";
                out.insert("description".to_owned(), text.into());
            }
        }
        for (key, value) in members {
            if key == "$ref" || NOISE.contains(&key.as_str()) {
                continue;
            }
            out.insert(key.clone(), self.member(key, value, open));
        }
        flatten_choices(&mut out);
        flatten_null(&mut out);
        number(&mut out, self.input);
        if self.input {
            close(&mut out);
        }
        Json::Object(out)
    }

    fn member(&self, key: &str, value: &'w Json, open: &mut Vec<&'w str>) -> Json {
        match (key, value) {
            ("properties" | "patternProperties", Json::Object(all)) => all
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema, open)))
                .collect::<JsonObject>()
                .into(),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Json::Array(all)) => {
                all.iter().map(|schema| self.schema(schema, open)).collect::<Vec<_>>().into()
            }
            // A map of anything: clients want to see a schema for its values.
            ("additionalProperties", Json::Bool(true)) => Json::from([("description", "any JSON value".into())]),
            ("additionalProperties" | "unevaluatedProperties", Json::Bool(_)) => value.clone(),
            ("items" | "additionalProperties" | "unevaluatedProperties" | "not" | "contains", _) => {
                self.schema(value, open)
            }
            _ => value.clone(),
        }
    }

    fn target(&self, reference: &str) -> Option<&'w Json> {
        let path = reference.strip_prefix('#')?;
        let mut here = self.root;
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            here = here.get(&segment.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(here)
    }
}

/// A choice of fixed texts as one `enum`; what is said about each goes into the description.
fn flatten_choices(schema: &mut JsonObject) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Json::Array(branches)) = schema.get(keyword) else { continue };
        let mut values = Vec::new();
        let mut said = Vec::new();
        for branch in branches {
            let one = branch.get("const").cloned();
            let many = branch.get("enum").and_then(Json::as_array).map(<[Json]>::to_vec);
            let Some(found) = one.map(|value| vec![value]).or(many) else { return };
            if !found.iter().all(|value| value.as_str().is_some()) {
                return;
            }
            if let (Some(text), [Json::String(name)]) = (branch.get("description").and_then(Json::as_str), &*found) {
                said.push(format!("`{name}`: {text}"));
            }
            values.extend(found);
        }
        schema.remove(keyword);
        schema.insert("type".to_owned(), "string".into());
        schema.insert("enum".to_owned(), values.into());
        if !said.is_empty() {
            let before = schema.get("description").and_then(Json::as_str).map(str::to_owned);
            let text = before.into_iter().chain(said).collect::<Vec<_>>().join("\n");
            schema.insert("description".to_owned(), text.into());
        }
    }
}

/// `anyOf: [X, null]` as X whose type may be `null`, where X has a type.
fn flatten_null(schema: &mut JsonObject) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Json::Array(branches)) = schema.get(keyword) else { continue };
        let is_null = |branch: &Json| branch.get("type").and_then(Json::as_str) == Some("null");
        let others: Vec<&Json> = branches.iter().filter(|branch| !is_null(branch)).collect();
        let ([Json::Object(only)], true) = (&*others, others.len() < branches.len()) else { continue };
        let Some(Json::String(kind)) = only.get("type") else { continue };
        let mut merged = only.clone();
        merged.insert("type".to_owned(), Json::from(vec![Json::from(kind.as_str()), "null".into()]));
        if let Some(Json::Array(values)) = merged.get_mut("enum") {
            values.push(Json::Null);
        }
        schema.remove(keyword);
        for (key, value) in std::mem::take(schema) {
            merged.insert(key, value);
        }
        *schema = merged;
    }
}

/// Bounds in place of the names of number types, and text beside an integer that some clients would round.
fn number(schema: &mut JsonObject, input: bool) {
    let Some(Json::String(format)) = schema.get("format") else { return };
    let (low, high): (i64, i64) = match format.as_str() {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "int" | "int64" | "uint" | "uint64" | "int128" | "uint128" => {
            schema.remove("format");
            if input {
                widen(schema);
            }
            return;
        }
        "float" | "double" => {
            schema.remove("format");
            return;
        }
        _ => return,
    };
    schema.remove("format");
    if input {
        schema.entry("minimum".to_owned()).or_insert_with(|| low.into());
        schema.entry("maximum".to_owned()).or_insert_with(|| high.into());
    }
}

fn widen(schema: &mut JsonObject) {
    let safe = |bound: &Json| {
        bound
            .as_number()
            .and_then(scion_domain::json::JsonNumber::as_i64)
            .is_some_and(|value| value.unsigned_abs() <= MAX_SAFE_INTEGER)
    };
    if ["minimum", "maximum"].iter().all(|bound| schema.get(*bound).is_some_and(safe)) {
        return;
    }
    let mut kinds = kinds(schema);
    kinds.insert(1.min(kinds.len()), "string".into());
    schema.insert("type".to_owned(), kinds.into());
    schema.insert("pattern".to_owned(), "^-?[0-9]+$".into());
}

fn kinds(schema: &JsonObject) -> Vec<Json> {
    match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.clone(),
        Some(kind) => vec![kind.clone()],
        None => Vec::new(),
    }
}

/// An object takes what it describes and nothing else. One with branches is left as it is: its members stand in several places.
fn close(schema: &mut JsonObject) {
    let is_object =
        schema.contains_key("properties") || kinds(schema).iter().any(|kind| kind.as_str() == Some("object"));
    let open = !schema.contains_key("additionalProperties") && !schema.contains_key("unevaluatedProperties");
    if is_object && open && !BRANCHES.iter().any(|key| schema.contains_key(*key)) {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// A schema that does not take `null`, and whether it did.
fn without_null(schema: Json) -> (Json, bool) {
    let Json::Object(mut members) = schema else { return (schema, false) };
    let null = Json::from("null");
    let mut nullable = false;
    if let Some(Json::Array(kinds)) = members.get_mut("type") {
        nullable = kinds.contains(&null);
        kinds.retain(|kind| *kind != null);
        if let [only] = &**kinds {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let (true, Some(Json::Array(values))) = (nullable, members.get_mut("enum")) {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Json::Array(branches)) = members.get_mut(keyword) {
            let before = branches.len();
            branches.retain(|branch| branch.get("type") != Some(&null));
            nullable |= branches.len() < before;
            if let ([Json::Object(only)], true) = (&**branches, before > 1) {
                let only = only.clone();
                members.remove(keyword);
                members.extend(only);
            }
        }
    }
    (Json::Object(members), nullable)
}
