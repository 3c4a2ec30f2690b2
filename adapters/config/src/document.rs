//! A document as plain values.

use scion_domain::config::ConfigRefusal;
use scion_domain::json::{Json, JsonObject, parse};

use crate::scalar;
use crate::tree::{Broken, Node, Value};

/// Nothing is guessed: a plain word is text, `true`, `false`, null or a number as JSON writes it; `yes`, `off`, `0o17` and the
/// like are refused and want quotes.
pub(crate) fn plain(node: &Node) -> Result<Json, Broken> {
    match &node.value {
        Value::Scalar { text, plain: false } => Ok(Json::from(text.as_str())),
        Value::Scalar { text, .. } => match (text.as_str(), scalar::kind(node)) {
            (_, "nothing") => Ok(Json::Null),
            ("true", _) => Ok(Json::Bool(true)),
            ("false", _) => Ok(Json::Bool(false)),
            (text, "text") => Ok(Json::from(text)),
            (text, "number" | "a number") if parse(text).is_ok() => Ok(parse(text).unwrap_or_default()),
            (_, found) => Err(Broken::at(node.place, ConfigRefusal::WrongType { expected: "text in quotes", found })),
        },
        Value::List(items) => items.iter().map(|item| plain(item)).collect::<Result<Vec<_>, _>>().map(Json::from),
        Value::Map(members) => {
            let mut object = JsonObject::new();
            for member in members {
                if let Some(first_line) = member.repeats {
                    return Err(Broken::at(member.place, ConfigRefusal::DuplicateKey { first_line }));
                }
                object.insert(member.key.clone(), plain(&member.value)?);
            }
            Ok(Json::Object(object))
        }
    }
}

#[cfg(test)]
mod tests {
    use scion_domain::json::to_compact;

    use crate::document;

    #[test]
    fn yaml_and_json_give_the_same_values() {
        let yaml = document("a: {b: [x, 'true', 1.50, true, ~]}\nc: \"1.3\"\n", "a.yaml").unwrap();
        let json = document(r#"{"a": {"b": ["x", "true", 1.50, true, null]}, "c": "1.3"}"#, "a.json").unwrap();
        assert_eq!((to_compact(&yaml), &yaml), (to_compact(&json), &json));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused_with_its_place() {
        for (text, place) in [("a: yes", "1:4"), ("a: 0o17", "1:4"), ("b: 1\na: {x: 1, x: 2}", "2:11"), ("a: [", "2:1")]
        {
            let problem = document(text, "a.yaml").unwrap_err().problems.remove(0);
            assert_eq!(format!("{}:{}", problem.line, problem.column), place, "{text}");
        }
    }
}
