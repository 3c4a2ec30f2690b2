//! The bytes of a body.

use scion_domain::base64;
use scion_domain::digest;
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::openapi::PlanRefusal;

use super::restore::Restorer;
use super::style::{self, Parts, encoded, scalar};
use crate::model::{BodyKind, RequestBody, Style};
use crate::schema::escaped;

/// The bytes and their media type.
pub(super) fn write(
    body: &RequestBody,
    value: &Json,
    restorer: &Restorer<'_>,
) -> Result<(Vec<u8>, String), PlanRefusal> {
    let plain = body.media_type.clone();
    match body.kind {
        BodyKind::Json => Ok((to_compact(value).into_bytes(), plain)),
        BodyKind::Text => match value {
            Json::String(text) => Ok((text.clone().into_bytes(), plain)),
            _ => Err(wrong("text")),
        },
        BodyKind::Bytes => match value {
            Json::String(text) => Ok((bytes_of(text)?, plain)),
            _ => Err(wrong("Base64 text")),
        },
        BodyKind::Form => Ok((form(body, members(value)?).into_bytes(), plain)),
        BodyKind::Multipart => multipart(body, members(value)?, restorer),
    }
}

fn wrong(expected: &'static str) -> PlanRefusal {
    PlanRefusal::Type { argument: "body".to_owned(), expected }
}

fn members(value: &Json) -> Result<&JsonObject, PlanRefusal> {
    value.as_object().ok_or_else(|| wrong("an object"))
}

fn bytes_of(text: &str) -> Result<Vec<u8>, PlanRefusal> {
    let refused = || PlanRefusal::Encoded { argument: "body".to_owned(), expected: "Base64" };
    base64::decode_either(text).ok_or_else(refused)
}

fn form(body: &RequestBody, members: &JsonObject) -> String {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (name, value) in members {
        if value.is_null() {
            continue;
        }
        match body.fields.get(name).and_then(|field| field.style) {
            Some((Style::DeepObject, _)) if value.as_object().is_some() => pairs.extend(style::deep(name, value)),
            Some((kind, explode)) => pairs.extend(style::query(name, &Parts::of(value), kind, explode, false)),
            None => match value {
                Json::Array(items) => pairs.extend(items.iter().map(|item| (encoded(name), encoded(&scalar(item))))),
                other => pairs.push((encoded(name), encoded(&scalar(other)))),
            },
        }
    }
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

struct Part {
    name: String,
    file: bool,
    media_type: Option<String>,
    bytes: Vec<u8>,
}

fn multipart(
    body: &RequestBody,
    members: &JsonObject,
    restorer: &Restorer<'_>,
) -> Result<(Vec<u8>, String), PlanRefusal> {
    let mut parts = Vec::new();
    for (name, value) in members {
        if value.is_null() {
            continue;
        }
        let at = format!("/properties/body/properties/{}", escaped(name));
        let items_at = format!("{at}/items");
        let (values, bytes) = match value {
            Json::Array(items) => (items.as_slice(), restorer.is_bytes(&items_at)),
            one => (std::slice::from_ref(one), restorer.is_bytes(&at)),
        };
        let stated = body.fields.get(name).and_then(|field| field.media_type.clone());
        for value in values {
            let (bytes, file, usual) = match value {
                Json::String(text) if bytes => (bytes_of(text)?, true, Some("application/octet-stream")),
                Json::Object(_) | Json::Array(_) => (to_compact(value).into_bytes(), false, Some("application/json")),
                other => (scalar(other).into_bytes(), false, None),
            };
            let media_type = stated.clone().or_else(|| usual.map(str::to_owned));
            parts.push(Part { name: name.clone(), file, media_type, bytes });
        }
    }
    let boundary = boundary(&parts);
    let mut out = Vec::new();
    for part in &parts {
        let name = quoted(&part.name);
        out.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"").as_bytes());
        if part.file {
            out.extend_from_slice(format!("; filename=\"{name}\"").as_bytes());
        }
        if let Some(media_type) = &part.media_type {
            out.extend_from_slice(format!("\r\nContent-Type: {media_type}").as_bytes());
        }
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&part.bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((out, format!("multipart/form-data; boundary={boundary}")))
}

/// A name as browsers write it (RFC 7578, section 2).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// A line that stands in no part. It follows from the parts, so that the same call makes the same request.
fn boundary(parts: &[Part]) -> String {
    let fields: Vec<&[u8]> = parts.iter().flat_map(|part| [part.name.as_bytes(), part.bytes.as_slice()]).collect();
    let mut seed = digest::framed("scion-openapi-multipart", &fields);
    loop {
        let boundary = format!("scion-{}", &seed.to_hex()[..32]);
        let taken = |part: &Part| part.bytes.windows(boundary.len()).any(|window| window == boundary.as_bytes());
        if !parts.iter().any(taken) {
            return boundary;
        }
        seed = digest::sha256(boundary.as_bytes());
    }
}
