//! What the records of a list are called.

use scion_domain::json::Json;

use crate::names::snake_case;
use crate::refs::Refs;

/// The most `allOf` parts and levels that are looked into.
const MAX_PARTS: usize = 64;

/// The name of the schema of one record, else the collection in the path of the operation, in the singular.
pub(crate) fn type_name(refs: Refs<'_>, answer: Option<&Json>, path: &str, operation_path: &str) -> String {
    let named = answer.and_then(|schema| schema_name(refs, schema, path));
    let name = named.map(|name| pascal(&name)).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| {
        let fixed = operation_path.rsplit('/').find(|segment| !segment.is_empty() && !segment.contains('{'));
        let name = pascal(&singular(&snake_case(fixed.unwrap_or_default())));
        if name.is_empty() { "Record".to_owned() } else { name }
    })
}

fn schema_name<'d>(refs: Refs<'d>, schema: &'d Json, path: &str) -> Option<String> {
    let mut here = schema;
    for segment in path.split('.').filter(|segment| !segment.is_empty()) {
        here = member(refs, here, "properties", Some(segment))?;
    }
    let item = member(refs, here, "items", None)?;
    let reference = |schema: &'d Json| schema.get("$ref").and_then(Json::as_str);
    let parts = ["allOf", "oneOf", "anyOf"].iter().find_map(|key| item.get(key).and_then(Json::as_array));
    let named = reference(item).or_else(|| match parts {
        Some([only]) => reference(only),
        _ => None,
    });
    let last = named.and_then(|reference| reference.rsplit('/').next()).map(str::to_owned);
    last.or_else(|| refs.resolve(item).ok()?.get("title").and_then(Json::as_str).map(str::to_owned))
}

/// A keyword of a schema or of one of its parts, or one member of that keyword.
fn member<'d>(refs: Refs<'d>, schema: &'d Json, keyword: &str, name: Option<&str>) -> Option<&'d Json> {
    let mut open = vec![schema];
    let mut looked_at = 0;
    while let Some(schema) = open.pop() {
        looked_at += 1;
        if looked_at > MAX_PARTS {
            return None;
        }
        let schema = refs.resolve(schema).ok()?;
        let found = schema.get(keyword).and_then(|value| match name {
            Some(name) => value.get(name),
            None => Some(value),
        });
        if found.is_some() {
            return found;
        }
        open.extend(schema.get("allOf").and_then(Json::as_array).unwrap_or_default().iter().rev().take(MAX_PARTS));
    }
    None
}

/// Words with capitals and nothing between them; at most 64 characters.
fn pascal(text: &str) -> String {
    let words = snake_case(text);
    let words = words.split('_').map(|word| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
    });
    let name: String = words.collect();
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
    name.chars().take(64).collect()
}

fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    if let Some(stem) =
        ["sses", "xes", "ches", "shes"].iter().find_map(|end| word.strip_suffix(end).map(|stem| (stem, end)))
    {
        return format!("{}{}", stem.0, stem.1.trim_end_matches("es"));
    }
    let kept = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    word.strip_suffix('s').filter(|stem| !kept && stem.len() > 1).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scion_domain::json::parse;

    #[test]
    fn records_are_called_after_their_schema_or_their_collection() {
        let root = parse(
            r##"{"page":{"allOf":[{"properties":{"data":{"type":"array","items":{"$ref":"#/components/schemas/simple-user"}}}}]},
                "plain":{"type":"array","items":{"type":"object"}},"titled":{"items":{"title":"Bank account"}},
                "one":{"items":{"allOf":[{"$ref":"#/defs/note"}]}}}"##,
        )
        .unwrap();
        let refs = Refs { root: &root };
        for (schema, path, operation, name) in [
            ("page", "data", "/x", "SimpleUser"),
            ("plain", "", "/v1/{org}/companies/{id}", "Company"),
            ("plain", "", "/boxes", "Box"),
            ("plain", "", "/status", "Status"),
            ("plain", "", "/{a}", "Record"),
            ("titled", "", "/x", "BankAccount"),
            ("one", "", "/x", "Note"),
        ] {
            assert_eq!(type_name(refs, root.get(schema), path, operation), name, "{schema} {operation}");
        }
        assert_eq!(type_name(refs, None, "", "/notes"), "Note");
    }
}
