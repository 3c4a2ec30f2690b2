//! What operations give, made ready for JSON (`wire/mcp-surface.md` 2.5).

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use crate::base64;
use crate::json::{Json, JsonObject};
use crate::time::Timestamp;

/// A value of an operation. Turn it into [`Json`] with `Json::from`; that cannot fail and loses no digit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolValue {
    /// What is JSON already.
    Json(Json),
    /// Bytes; base64 with padding.
    Bytes(Vec<u8>),
    /// An instant; its own text, with `Z` for a zero offset.
    Time(Timestamp),
    /// A span; ISO 8601, `PT1M30S`.
    Span(Duration),
    /// A list, a set in its order, or a tuple.
    List(Vec<ToolValue>),
    /// An object or a record; keys are texts.
    Object(BTreeMap<String, ToolValue>),
    /// An answer whose body is not shown.
    Status(u16),
    /// A text.
    Text(String),
}

impl ToolValue {
    /// Anything with a text of its own: a decimal, a UUID, a word of an enumeration, a date.
    pub fn shown(value: impl Display) -> Self {
        Self::Text(value.to_string())
    }
}

impl From<Json> for ToolValue {
    fn from(value: Json) -> Self {
        Self::Json(value)
    }
}

impl From<ToolValue> for Json {
    fn from(value: ToolValue) -> Self {
        match value {
            ToolValue::Json(json) => json,
            ToolValue::Bytes(bytes) => base64::encode(&bytes).into(),
            ToolValue::Time(time) => {
                let text = time.as_text();
                match text.strip_suffix("+00:00") {
                    Some(clock) => format!("{clock}Z").into(),
                    None => text.into(),
                }
            }
            ToolValue::Span(span) => iso_span(span).into(),
            ToolValue::List(items) => items.into_iter().map(Json::from).collect::<Vec<_>>().into(),
            ToolValue::Object(members) => {
                members.into_iter().map(|(name, value)| (name, Json::from(value))).collect::<JsonObject>().into()
            }
            ToolValue::Status(status) => Json::from([("status_code", i64::from(status).into())]),
            ToolValue::Text(text) => text.into(),
        }
    }
}

/// ISO 8601 in days, hours, minutes and seconds; a day has 24 hours.
fn iso_span(span: Duration) -> String {
    let seconds = span.as_secs();
    let (days, hours, minutes, rest) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let mut out = String::from("P");
    let part = |count: u64, unit: char| if count > 0 { format!("{count}{unit}") } else { String::new() };
    out += &part(days, 'D');
    let fraction = format!(".{:09}", span.subsec_nanos());
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    let last = if rest > 0 || !fraction.is_empty() { format!("{rest}{fraction}S") } else { String::new() };
    let clock = part(hours, 'H') + &part(minutes, 'M') + &last;
    if !clock.is_empty() {
        out.push('T');
        out += &clock;
    }
    if out == "P" { "PT0S".to_owned() } else { out }
}
