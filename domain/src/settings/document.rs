//! A configuration document as environment variables.

use std::collections::BTreeMap;

use super::DocumentRefusal;
use crate::credential::SecretRef;
use crate::json::Json;

/// Projects a document, one JSON object of scalars, into an environment. A variable that is there already, even empty,
/// stays as it is. Names that end in `_TOKEN`, `_SECRET`, `_PASSWORD` or `_API_KEY` (any case) must hold secret
/// references. Nothing is projected when any member is refused. Gives the number of variables added.
pub fn load_config(document: &Json, environment: &mut BTreeMap<String, String>) -> Result<usize, DocumentRefusal> {
    let members = document.as_object().ok_or(DocumentRefusal::NotAnObject)?;
    let mut read = Vec::with_capacity(members.len());
    for (key, value) in members {
        read.push((key, value_text(key, value)?));
    }
    let before = environment.len();
    for (key, value) in read {
        environment.entry(key.clone()).or_insert(value);
    }
    Ok(environment.len() - before)
}

fn value_text(key: &str, value: &Json) -> Result<String, DocumentRefusal> {
    let usable = (1..=128).contains(&key.len())
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !usable {
        return Err(DocumentRefusal::BadKey);
    }
    let key = key.to_owned();
    let text = match value {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        Json::Bool(flag) => flag.to_string(),
        Json::Null | Json::Array(_) | Json::Object(_) => return Err(DocumentRefusal::NotScalar { key }),
    };
    if text.contains('\0') {
        return Err(DocumentRefusal::Nul { key });
    }
    if is_secret_name(&key) && !text.is_empty() && SecretRef::parse(&text).is_err() {
        return Err(DocumentRefusal::NotAReference { key });
    }
    Ok(text)
}

fn is_secret_name(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["_token", "_secret", "_password", "_api_key"].iter().any(|ending| key.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{JsonObject, parse};

    /// Proves: SDK-CONNECTOR-CONTROL-R780.5, SDK-CONNECTOR-CONTROL-R016
    #[test]
    fn every_document_value_of_the_vectors() {
        let text = include_str!("../../../conformance/vectors/references.json");
        let vectors = parse(text).unwrap();
        let cases = vectors.get("config_document_values").unwrap().as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let key = case.get("key").unwrap().as_str().unwrap();
            let document = JsonObject::from([(key.to_owned(), case.get("value").unwrap().clone())]);
            let mut environment = BTreeMap::new();
            let loaded = load_config(&Json::Object(document), &mut environment);
            assert_eq!(environment.get(key).map(String::as_str), case.get("ok").and_then(Json::as_str));
            assert_eq!(loaded.is_ok(), case.get("ok").is_some());
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R780.5
    #[test]
    fn what_is_set_stays_and_a_refused_document_changes_nothing() {
        let mut environment = BTreeMap::from([("A".to_owned(), "kept".to_owned()), ("E".to_owned(), String::new())]);
        let document = parse(r#"{"A": "new", "B": 2, "E": "new"}"#).unwrap();
        assert_eq!(load_config(&document, &mut environment), Ok(1));
        assert_eq!(environment["A"], "kept");
        assert_eq!(environment["E"], "");
        assert_eq!(environment["B"], "2");
        let before = environment.clone();
        for bad in [r#"{"C": 1, "D": null}"#, r#"{"C": 1, "a-b": 1}"#, "[]", r#"{"C": 1, "X_SECRET": "hunter2"}"#] {
            let refused = load_config(&parse(bad).unwrap(), &mut environment).unwrap_err();
            assert!(!refused.to_string().contains("hunter2"));
        }
        assert_eq!(environment, before);
    }
}
