//! What an API answered, as the value of a tool.

use scion_domain::base64;
use scion_domain::http::ResponseRefusal;
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with};
use scion_domain::openapi::AnswerRefusal;
use scion_openapi::CuratedOperation;
use scion_serve::ToolRefusal;

/// What an answer says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Html,
    Text,
    Bytes(String),
    Silent,
}

impl Kind {
    pub(super) fn of(content_type: Option<&str>) -> Self {
        let Some(stated) = content_type else { return Self::Silent };
        let plain = stated.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match plain.as_str() {
            "" => Self::Silent,
            "text/html" | "application/xhtml+xml" => Self::Html,
            _ if plain == "application/json" || plain.ends_with("+json") || plain.ends_with("/json") => Self::Json,
            _ if plain.starts_with("text/")
                || plain.ends_with("xml")
                || plain.ends_with("yaml")
                || plain.ends_with("javascript")
                || plain.ends_with("x-ndjson")
                || plain == "application/x-www-form-urlencoded" =>
            {
                Self::Text
            }
            "application/octet-stream" | "binary/octet-stream" => Self::Silent,
            _ => Self::Bytes(plain.chars().take(128).collect()),
        }
    }
}

/// The value. Nothing of what was answered stands in a refusal.
pub(super) fn read(
    operation: &CuratedOperation,
    kind: Kind,
    body: &[u8],
    host: &str,
    status: u16,
) -> Result<Json, ToolRefusal> {
    let host = || host.to_owned();
    let described = operation.operation.output_schema.is_some();
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if body.iter().all(u8::is_ascii_whitespace) {
        // A caller that was promised an object gets one.
        let object = described && !operation.operation.output_wrapped;
        return Ok(if object { Json::Object(JsonObject::new()) } else { Json::Null });
    }
    if let Kind::Bytes(media_type) = kind {
        return Ok(bytes(&media_type, body));
    }
    let page = kind == Kind::Html || (kind != Kind::Json && looks_like_html(body));
    if page && !operation.operation.answers_html {
        return Err(AnswerRefusal::Html { host: host(), status }.into());
    }
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(_) if kind == Kind::Silent && !described => return Ok(bytes("application/octet-stream", body)),
        Err(_) => return Err(AnswerRefusal::NotText { host: host(), status }.into()),
    };
    let limits = JsonLimits { max_bytes: body.len(), ..JsonLimits::DEFAULT };
    match kind {
        Kind::Json => parse_with(body, limits).map_err(|_| ResponseRefusal::NotJson { host: host(), status }.into()),
        // Many servers send JSON as text.
        _ if described => match parse_with(body, limits) {
            Ok(value) => Ok(value),
            Err(_) if takes_text(operation) => Ok(Json::from(text)),
            Err(_) => Err(ResponseRefusal::NotJson { host: host(), status }.into()),
        },
        Kind::Silent => Ok(parse_with(body, limits).unwrap_or_else(|_| Json::from(text))),
        _ => Ok(Json::from(text)),
    }
}

/// The refusal of a list whose next page is at another place.
pub(super) fn next_elsewhere(host: &str) -> ToolRefusal {
    AnswerRefusal::NextElsewhere { host: host.to_owned() }.into()
}

fn takes_text(operation: &CuratedOperation) -> bool {
    let schema = operation.operation.output_schema.as_ref().filter(|_| operation.operation.output_wrapped);
    let kind = schema.and_then(|schema| schema.get("properties")?.get("result")?.get("type"));
    match kind {
        Some(Json::String(kind)) => kind == "string",
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some("string")),
        _ => false,
    }
}

fn looks_like_html(body: &[u8]) -> bool {
    let start: Vec<u8> = body.iter().copied().skip_while(u8::is_ascii_whitespace).take(15).collect();
    let start = start.to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

fn bytes(media_type: &str, body: &[u8]) -> Json {
    Json::from([
        ("content_type", Json::from(media_type)),
        ("bytes", Json::from(body.len() as u64)),
        ("base64", Json::from(base64::encode(body))),
    ])
}
