//! Configuration values as types (SDK-CONNECTOR-CONTROL-R780.5). Nothing is guessed: a value that is not understood is
//! refused, and no refusal repeats a value.

use crate::json::{Json, JsonObject, parse};
use crate::refusals;

refusals! {
    /// Why a value is not what was asked for. It is not repeated: it may be a secret in the wrong place.
    pub enum ValueRefusal {
        /// Not a boolean.
        NotBoolean => "value_not_boolean", CallerMistake, Never,
            "not a boolean", "write true or false";
        /// Not a whole number in the range of 64 bits.
        NotInteger => "value_not_integer", CallerMistake, Never,
            "not a whole number", "write digits, at most 19 of them";
        /// Not a finite number.
        NotNumber => "value_not_number", CallerMistake, Never,
            "not a finite number", "write a decimal number";
        /// Not a list.
        NotList => "value_not_list", CallerMistake, Never,
            "not a list", "write a JSON list, or words separated by commas";
        /// Not an object.
        NotObject => "value_not_object", CallerMistake, Never,
            "not an object", "write a JSON object";
    }
}

/// `1 true yes y on t` and `0 false no n off f` in any case, a boolean, or the numbers 1 and 0. Null and blank text are
/// false.
pub fn to_boolean(value: &Json) -> Result<bool, ValueRefusal> {
    let word = match value {
        Json::Bool(flag) => return Ok(*flag),
        Json::Null => return Ok(false),
        Json::String(text) => text.trim().to_ascii_lowercase(),
        Json::Number(number) => number.as_text().to_owned(),
        Json::Array(_) | Json::Object(_) => return Err(ValueRefusal::NotBoolean),
    };
    match word.as_str() {
        "1" | "true" | "yes" | "y" | "on" | "t" => Ok(true),
        "" | "0" | "false" | "no" | "n" | "off" | "f" => Ok(false),
        _ => Err(ValueRefusal::NotBoolean),
    }
}

/// A whole number, as a number or as text with outer blanks.
pub fn to_integer(value: &Json) -> Result<i64, ValueRefusal> {
    let read = match value {
        Json::Number(number) => number.as_i64(),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    read.ok_or(ValueRefusal::NotInteger)
}

/// A finite number, as a number or as text with outer blanks.
pub fn to_float(value: &Json) -> Result<f64, ValueRefusal> {
    let read = match value {
        Json::Number(number) => Some(number.as_f64()),
        Json::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    read.filter(|number: &f64| number.is_finite()).ok_or(ValueRefusal::NotNumber)
}

/// Words separated by commas, trimmed, blank ones dropped.
pub fn to_csv(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A list, text that holds a JSON list, or words separated by commas. Null and blank text are the empty list.
pub fn to_list(value: &Json) -> Result<Vec<Json>, ValueRefusal> {
    match value {
        Json::Null => Ok(Vec::new()),
        Json::Array(items) => Ok(items.clone()),
        Json::String(text) if text.trim_start().starts_with('[') => match parse(text) {
            Ok(Json::Array(items)) => Ok(items),
            _ => Err(ValueRefusal::NotList),
        },
        Json::String(text) => Ok(to_csv(text).into_iter().map(Json::from).collect()),
        _ => Err(ValueRefusal::NotList),
    }
}

/// An object, or text that holds a JSON object. Null and blank text are the empty object.
pub fn to_dict(value: &Json) -> Result<JsonObject, ValueRefusal> {
    match value {
        Json::Null => Ok(JsonObject::new()),
        Json::Object(members) => Ok(members.clone()),
        Json::String(text) if text.trim().is_empty() => Ok(JsonObject::new()),
        Json::String(text) => match parse(text) {
            Ok(Json::Object(members)) => Ok(members),
            _ => Err(ValueRefusal::NotObject),
        },
        _ => Err(ValueRefusal::NotObject),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(section: &str) -> Vec<Json> {
        let text = include_str!("../../../conformance/vectors/references.json");
        let cases = parse(text).unwrap().get(section).unwrap().as_array().unwrap().to_vec();
        assert!(!cases.is_empty());
        cases
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R780.5
    #[test]
    fn booleans_of_the_vectors_and_none_by_guessing() {
        for case in vectors("booleans") {
            let input = case.get("input").unwrap();
            match input.as_str() {
                // Deviation: the peer takes what it does not understand for false.
                Some("maybe" | "2") => assert_eq!(to_boolean(input), Err(ValueRefusal::NotBoolean)),
                _ => assert_eq!(to_boolean(input).ok(), case.get("ok").unwrap().as_bool(), "{input:?}"),
            }
        }
        assert_eq!(to_boolean(&Json::Array(vec![])), Err(ValueRefusal::NotBoolean));
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R780.5
    #[test]
    fn lists_and_objects_of_the_vectors() {
        for case in vectors("lists") {
            let input = case.get("input").unwrap();
            let read = match case.get("as").and_then(Json::as_str) {
                Some("dict") => to_dict(input).map(Json::Object),
                _ => to_list(input).map(Json::Array),
            };
            assert_eq!(read.ok().as_ref(), case.get("ok"), "{input:?}");
        }
        for case in vectors("csv") {
            let words = to_csv(case.get("input").unwrap().as_str().unwrap_or_default());
            let words = Json::Array(words.into_iter().map(Json::from).collect());
            assert_eq!(Some(&words), case.get("values"));
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R780.5
    #[test]
    fn numbers_are_read_whole_or_refused() {
        assert_eq!(to_integer(&" 42 ".into()), Ok(42));
        assert_eq!(to_integer(&parse("-7").unwrap()), Ok(-7));
        for bad in ["1.5", "\"1.5\"", "\"\"", "null", "true", "99999999999999999999", "\"0x1\""] {
            assert_eq!(to_integer(&parse(bad).unwrap()), Err(ValueRefusal::NotInteger), "{bad}");
        }
        assert_eq!(to_float(&"1.5".into()), Ok(1.5));
        for bad in ["\"nan\"", "\"inf\"", "1e400", "\"\"", "[]"] {
            assert_eq!(to_float(&parse(bad).unwrap()), Err(ValueRefusal::NotNumber), "{bad}");
        }
    }
}
