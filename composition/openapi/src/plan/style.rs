//! The styles of OpenAPI 3 on the wire (RFC 6570 where the two agree).

use std::fmt::Write as _;

use scion_domain::json::{Json, to_compact};

use crate::model::Style;

/// How deep `deepObject` goes.
const MAX_DEEP: usize = 16;

/// Everything but unreserved characters (RFC 3986, section 2.3) as `%XX`.
pub(crate) fn encoded(text: &str) -> String {
    with_kept(text, "")
}

fn with_kept(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A value as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    One(String),
    List(Vec<String>),
    Object(Vec<(String, String)>),
}

/// A scalar as it stands on the wire; what is no scalar as JSON text.
pub(crate) fn scalar(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(flag) => flag.to_string(),
        Json::Number(number) => number.as_text().to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(_) | Json::Object(_) => to_compact(value),
    }
}

impl Parts {
    /// Members of an object that are `null` are absent.
    pub(crate) fn of(value: &Json) -> Self {
        match value {
            Json::Array(items) => Self::List(items.iter().map(scalar).collect()),
            Json::Object(members) => {
                let present = members.iter().filter(|(_, value)| !value.is_null());
                Self::Object(present.map(|(name, value)| (name.clone(), scalar(value))).collect())
            }
            one => Self::One(scalar(one)),
        }
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::One(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
        }
    }

    /// The parts in one list: names and values of an object in turn.
    fn flat(&self) -> Vec<&str> {
        match self {
            Self::One(text) => vec![text],
            Self::List(items) => items.iter().map(String::as_str).collect(),
            Self::Object(members) => members.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect(),
        }
    }

    /// `name=value` of an object, the values of anything else.
    fn exploded(&self, encode: impl Fn(&str) -> String) -> Vec<String> {
        match self {
            Self::Object(members) => {
                members.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect()
            }
            _ => self.flat().into_iter().map(encode).collect(),
        }
    }
}

/// A parameter of the path.
pub(crate) fn path(name: &str, parts: &Parts, style: Style, explode: bool) -> String {
    let joined = |separator: &str, encode: fn(&str) -> String| {
        if explode {
            parts.exploded(encode).join(separator)
        } else {
            parts.flat().into_iter().map(encode).collect::<Vec<_>>().join(",")
        }
    };
    match style {
        // A dot inside of a value would read as the next value.
        Style::Label => format!(".{}", joined(".", |text| encoded(text).replace('.', "%2E"))),
        Style::Matrix => {
            let name = encoded(name);
            match parts {
                Parts::List(items) if explode => {
                    items.iter().map(|item| format!(";{name}={}", encoded(item))).collect::<Vec<_>>().concat()
                }
                Parts::Object(_) if explode => format!(";{}", parts.exploded(encoded).join(";")),
                _ => format!(";{name}={}", joined(",", encoded)),
            }
        }
        _ => joined(",", encoded),
    }
}

/// A parameter of the query, as encoded pairs. Nothing for an empty list or object.
pub(crate) fn query(name: &str, parts: &Parts, style: Style, explode: bool, reserved: bool) -> Vec<(String, String)> {
    // `#&+=` keep their meaning in a query whatever the document allows.
    let kept = if reserved { ":/?@!$'()*,;[]" } else { "" };
    let encode = |text: &str| with_kept(text, kept);
    let name = encoded(name);
    if parts.is_empty() && !matches!(parts, Parts::One(_)) {
        return Vec::new();
    }
    match parts {
        Parts::One(text) => vec![(name, encode(text))],
        Parts::List(items) if explode => items.iter().map(|item| (name.clone(), encode(item))).collect(),
        Parts::Object(members) if explode => {
            members.iter().map(|(name, value)| (encoded(name), encode(value))).collect()
        }
        _ => {
            let separator = match style {
                Style::SpaceDelimited => "%20",
                Style::PipeDelimited => "%7C",
                Style::TabDelimited => "%09",
                _ => ",",
            };
            // The separator inside of a value: the comma is encoded unless reserved characters stay.
            let texts: Vec<String> = parts.flat().into_iter().map(encode).collect();
            vec![(name, texts.join(separator))]
        }
    }
}

/// An object as `name[key]=value`, nested ones as `name[key][key]=value`, lists repeated.
pub(crate) fn deep(name: &str, value: &Json) -> Vec<(String, String)> {
    let mut out = Vec::new();
    deeper(&encoded(name), value, 0, &mut out);
    out
}

fn deeper(name: &str, value: &Json, depth: usize, out: &mut Vec<(String, String)>) {
    match value {
        Json::Null if depth > 0 => {}
        Json::Object(members) if depth < MAX_DEEP => {
            for (key, value) in members {
                deeper(&format!("{name}%5B{}%5D", encoded(key)), value, depth + 1, out);
            }
        }
        Json::Array(items) => out.extend(items.iter().map(|item| (name.to_owned(), encoded(&scalar(item))))),
        other => out.push((name.to_owned(), encoded(&scalar(other)))),
    }
}

/// A header field: values stand as they are, so a value of a list may have no comma. `None` for one that has.
pub(crate) fn header(parts: &Parts, explode: bool) -> Option<String> {
    if let Parts::One(text) = parts {
        return Some(text.clone());
    }
    let paired = explode && matches!(parts, Parts::Object(_));
    let plain = |text: &&str| !text.contains(',') && (!paired || !text.contains('='));
    if !parts.flat().iter().all(plain) {
        return None;
    }
    Some(if explode { parts.exploded(str::to_owned).join(",") } else { parts.flat().join(",") })
}
