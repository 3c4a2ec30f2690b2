//! Arguments as a person reads them: complete where that is readable, never able to pass for something else.

use std::fmt::Write as _;

use crate::canonical::lossless_json;
use crate::digest::sha256;
use crate::json::{Json, JsonObject, to_compact};
use crate::redaction::{MESSAGE_MARKER, is_sensitive_name, redact_message};

/// The longest text shown in full, in characters, and the longest rendering of all.
const TEXT_CHARS: usize = 256;
const ALL_CHARS: usize = 4096;
/// What every list or object inside may take at least.
const INNER_CHARS: usize = 512;
/// The longest name of an operation.
const NAME_CHARS: usize = 128;

/// `{"name":value,…}`. Secrets are masked, long texts cut with their length and digest, and characters that change how a line
/// reads (controls, direction marks, invisible ones) are written as escapes. Where not all of it fits, short members stay and
/// long ones are left out, so that nothing short hides behind something long; how many were left out is said, with the digest
/// of the whole.
pub(super) fn shown(arguments: &JsonObject) -> String {
    object(arguments, ALL_CHARS)
}

/// The name of an operation, which a router may take from its caller.
pub(super) fn shown_name(name: &str) -> String {
    let text = visible(&name.replace('`', "\u{0}")).replace("\\u{0}", "\\u{60}");
    let length = text.chars().count();
    if length <= NAME_CHARS {
        return text;
    }
    let start: String = text.chars().take(NAME_CHARS).collect();
    format!("{start}… ({length} characters)")
}

fn value(value: &Json, room: usize) -> String {
    match value {
        Json::Object(members) => object(members, room),
        Json::Array(items) => list(items, room),
        Json::String(text) => leaf(&Json::String(redact_message(text, &[])), value),
        other => leaf(other, value),
    }
}

fn leaf(masked: &Json, whole: &Json) -> String {
    let text = visible(&to_compact(masked));
    let length = text.chars().count();
    if length <= TEXT_CHARS {
        return text;
    }
    let start: String = text.chars().take(TEXT_CHARS).collect();
    format!("{start}… ({length} characters, SHA-256 {})", digest(whole))
}

fn digest(whole: &Json) -> String {
    sha256(lossless_json(whole).as_bytes()).to_string()
}

fn object(members: &JsonObject, room: usize) -> String {
    let inner = (room / 2).max(INNER_CHARS);
    let parts = members.iter().map(|(name, member)| {
        let shown = if is_secret(name, member) { format!("\"{MESSAGE_MARKER}\"") } else { value(member, inner) };
        let named = Json::String(name.clone());
        format!("{}:{shown}", leaf(&named, &named))
    });
    format!("{{{}}}", fitted(parts.collect(), room, || digest(&Json::Object(members.clone()))))
}

fn list(items: &[Json], room: usize) -> String {
    let inner = (room / 2).max(INNER_CHARS);
    let parts = items.iter().map(|item| value(item, inner));
    format!("[{}]", fitted(parts.collect(), room, || digest(&Json::Array(items.to_vec()))))
}

/// The parts in their order, the longest of them left out until the others have room.
fn fitted(parts: Vec<String>, room: usize, whole: impl FnOnce() -> String) -> String {
    let sizes: Vec<usize> = parts.iter().map(|part| part.chars().count() + 1).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| sizes[*index]);
    let mut left = room;
    let mut kept = vec![false; parts.len()];
    for index in order {
        let Some(rest) = left.checked_sub(sizes[index]) else { break };
        (left, kept[index]) = (rest, true);
    }
    let missing = kept.iter().filter(|kept| !**kept).count();
    let shown: Vec<String> = parts.into_iter().zip(kept).filter_map(|(part, kept)| kept.then_some(part)).collect();
    let mut out = shown.join(",");
    if missing > 0 {
        let _ = write!(out, " … NOT SHOWN: {missing} more; SHA-256 of all: {}", whole());
    }
    out
}

/// Whether the value under a name is a secret. What names the object of an operation (`key`, `author`, `session_id`) is none: a
/// person who does not see it cannot say yes to it.
fn is_secret(name: &str, value: &Json) -> bool {
    let lower = name.trim().to_ascii_lowercase();
    let names_something = matches!(lower.as_str(), "key" | "code")
        || lower.ends_with("_id")
        || name.trim().ends_with("Id")
        || lower.ends_with("name")
        || (lower.contains("author") && !lower.contains("authori"));
    is_sensitive_name(&lower) && !names_something && !matches!(value, Json::Null | Json::Bool(_))
}

fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let hidden = character.is_control()
            || (character.is_whitespace() && character != ' ')
            || matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
        if hidden {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        } else {
            out.push(character);
        }
    }
    out
}
