//! Output schemas as they are served. Clients hold answers against them and lose an answer that breaks one, while APIs answer
//! less faithfully than their documents say: nulls, absent members, values that were added later. So a served output schema says
//! what may be there, and no more.

use scion_domain::json::{Json, JsonObject};

/// Keywords that an honest answer breaks.
const DROPPED: [&str; 13] = [
    "required",
    "enum",
    "const",
    "format",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "multipleOf",
    "default",
];

/// The schema without what an honest answer breaks; values may be null.
pub(super) fn lenient(schema: Json, root: bool) -> Json {
    let Json::Object(members) = schema else { return schema };
    let mut out = JsonObject::new();
    for (keyword, value) in members {
        if DROPPED.contains(&keyword.as_str()) || keyword.starts_with("exclusive") {
            continue;
        }
        let value = match (keyword.as_str(), value) {
            ("type", Json::String(kind)) if !root && kind != "null" => {
                Json::from(vec![Json::String(kind), Json::from("null")])
            }
            ("type", Json::Array(mut kinds)) if !root => {
                if !kinds.iter().any(|kind| kind.as_str() == Some("null")) {
                    kinds.push(Json::from("null"));
                }
                Json::Array(kinds)
            }
            ("properties", Json::Object(properties)) => {
                Json::Object(properties.into_iter().map(|(name, schema)| (name, lenient(schema, false))).collect())
            }
            ("items" | "additionalProperties", schema) => lenient(schema, false),
            ("anyOf", Json::Array(branches)) => {
                Json::Array(branches.into_iter().map(|branch| lenient(branch, false)).collect())
            }
            (_, other) => other,
        };
        out.insert(keyword, value);
    }
    Json::Object(out)
}
