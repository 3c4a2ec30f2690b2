//! Arguments as a person reads them: complete where that is readable, never able to pass for something else.

use std::fmt::Write as _;

use crate::canonical::lossless_json;
use crate::digest::sha256;
use crate::json::{Json, JsonObject, to_compact};
use crate::redaction::{MESSAGE_MARKER, is_sensitive_name, redact_message};

/// The longest value shown in full, in characters, and the longest rendering of all.
const VALUE_CHARS: usize = 256;
const ALL_CHARS: usize = 4096;

/// `{"name":value,…}`. Secrets are masked, long values cut with their length and digest, and characters that change how a
/// line reads (controls, direction marks, zero-width ones) are written as escapes.
pub(super) fn shown(arguments: &JsonObject) -> String {
    let mut out = String::from("{");
    for (index, (name, value)) in arguments.iter().enumerate() {
        let mut member = if index > 0 { String::from(",") } else { String::new() };
        member.push_str(&visible(&to_compact(&Json::String(name.clone()))));
        member.push(':');
        if is_sensitive_name(name) {
            let _ = write!(member, "\"{MESSAGE_MARKER}\"");
        } else {
            member.push_str(&shown_value(value));
        }
        if out.chars().count() + member.chars().count() > ALL_CHARS {
            let rest = arguments.len() - index;
            let digest = sha256(lossless_json(&Json::Object(arguments.clone())).as_bytes());
            let _ = write!(out, " and {rest} more; SHA-256 of all: {digest}");
            break;
        }
        out.push_str(&member);
    }
    out.push('}');
    out
}

fn shown_value(value: &Json) -> String {
    let text = visible(&redact_message(&to_compact(&masked(value)), &[]));
    let length = text.chars().count();
    if length <= VALUE_CHARS {
        return text;
    }
    let start: String = text.chars().take(VALUE_CHARS).collect();
    let digest = sha256(lossless_json(value).as_bytes());
    format!("{start}… ({length} characters, SHA-256 {digest})")
}

/// The value with the members of sensitive names masked, at any depth that is read.
fn masked(value: &Json) -> Json {
    match value {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(name, value)| {
                    let shown = if is_sensitive_name(name) { MESSAGE_MARKER.into() } else { masked(value) };
                    (name.clone(), shown)
                })
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(masked).collect()),
        other => other.clone(),
    }
}

fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let hidden = character.is_control()
            || matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
        if hidden {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}
