//! The body of a request.

use std::collections::BTreeMap;

use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::OperationRefusal;

use crate::document::Dialect;
use crate::model::{BodyKind, FieldEncoding, RequestBody, Style};
use crate::parameters::{Parameters, collection};
use crate::refs::Refs;

/// A body and where its schema stands.
pub(crate) struct StatedBody<'d> {
    pub(crate) body: RequestBody,
    pub(crate) schema: Schema<'d>,
    pub(crate) description: Option<&'d str>,
}

pub(crate) enum Schema<'d> {
    /// None; the kind of body says what it takes.
    Silent,
    /// One of the document.
    Stated(&'d Json),
    /// The form fields of Swagger 2, each its own schema.
    Fields(Vec<&'d Json>),
}

pub(crate) fn read<'d>(
    refs: Refs<'d>,
    dialect: Dialect,
    operation: &'d JsonObject,
    parameters: &Parameters<'d>,
) -> Result<Option<StatedBody<'d>>, OperationRefusal> {
    if dialect == Dialect::Swagger2 {
        return Ok(swagger(refs, operation, parameters));
    }
    let Some(stated) = operation.get("requestBody") else { return Ok(None) };
    let members = refs.resolve(stated)?.as_object();
    let members = members.ok_or(OperationRefusal::Shape { what: "the request body is not an object" })?;
    let Some(content) = members.get("content").and_then(Json::as_object).filter(|content| !content.is_empty()) else {
        return Ok(None);
    };
    let best = content.iter().min_by_key(|(media, _)| rank(media));
    let Some((media, described)) = best else { return Ok(None) };
    let described = refs.resolve(described)?;
    let (kind, media_type) = kind_of(media);
    let mut fields = BTreeMap::new();
    if let Some(encoding) = described.get("encoding").and_then(Json::as_object) {
        if encoding.len() > 256 {
            return Err(OperationRefusal::Shape { what: "the request body has more than 256 encodings" });
        }
        for (name, encoding) in encoding {
            fields.insert(name.clone(), field(encoding));
        }
    }
    let required = members.get("required").and_then(Json::as_bool) == Some(true);
    Ok(Some(StatedBody {
        body: RequestBody { required, media_type, kind, fields },
        schema: described.get("schema").map_or(Schema::Silent, Schema::Stated),
        description: members.get("description").and_then(Json::as_str),
    }))
}

fn field(encoding: &Json) -> FieldEncoding {
    let style = match encoding.get("style").and_then(Json::as_str) {
        Some("form") => Some(Style::Form),
        Some("spaceDelimited") => Some(Style::SpaceDelimited),
        Some("pipeDelimited") => Some(Style::PipeDelimited),
        Some("deepObject") => Some(Style::DeepObject),
        _ => None,
    };
    let explode = encoding.get("explode").and_then(Json::as_bool);
    let style = match (style, explode) {
        (None, None) => None,
        (style, explode) => {
            let style = style.unwrap_or(Style::Form);
            Some((style, explode.unwrap_or(style == Style::Form)))
        }
    };
    let media_type = encoding.get("contentType").and_then(Json::as_str);
    let media_type = media_type.and_then(|list| list.split(',').next()).map(str::trim).filter(|media| is_media(media));
    FieldEncoding { style, media_type: media_type.map(str::to_owned) }
}

/// Which of several media types is sent: what loses least.
fn rank(media: &str) -> (u8, &str) {
    let rank = match kind_of(media).0 {
        BodyKind::Json if media.eq_ignore_ascii_case("application/json") => 0,
        BodyKind::Json => 1,
        BodyKind::Form => 2,
        BodyKind::Multipart => 3,
        BodyKind::Text => 4,
        BodyKind::Bytes => 5,
    };
    (rank, media)
}

/// A media type that can be sent as it stands.
fn is_media(media: &str) -> bool {
    let plain = media.split(';').next().unwrap_or_default();
    media.len() <= 128
        && media.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && plain.split_once('/').is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty())
        && !plain.contains('*')
}

fn kind_of(media: &str) -> (BodyKind, String) {
    let plain = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let kind = match plain.as_str() {
        "application/json" | "*/*" | "application/*" => BodyKind::Json,
        "application/x-www-form-urlencoded" => BodyKind::Form,
        "multipart/form-data" => BodyKind::Multipart,
        _ if plain.ends_with("+json") || plain.ends_with("/json") => BodyKind::Json,
        _ if plain.starts_with("text/") || plain.ends_with("xml") || plain.ends_with("yaml") => BodyKind::Text,
        // Other multipart types cannot be told from their name.
        _ => BodyKind::Bytes,
    };
    let media_type = match kind {
        BodyKind::Form | BodyKind::Multipart => plain,
        _ if is_media(media) => media.trim().to_owned(),
        BodyKind::Json => "application/json".to_owned(),
        BodyKind::Text => "text/plain".to_owned(),
        BodyKind::Bytes => "application/octet-stream".to_owned(),
    };
    (kind, media_type)
}

fn swagger<'d>(refs: Refs<'d>, operation: &'d JsonObject, parameters: &Parameters<'d>) -> Option<StatedBody<'d>> {
    let consumes = operation.get("consumes").or_else(|| refs.root.get("consumes")).and_then(Json::as_array);
    let consumes: Vec<&str> = consumes.unwrap_or_default().iter().take(64).filter_map(Json::as_str).collect();
    if let Some(members) = parameters.body {
        let media = consumes.iter().copied().min_by_key(|media| rank(media)).unwrap_or("application/json");
        let (kind, media_type) = match kind_of(media) {
            // A body with a schema is no form in Swagger 2.
            (BodyKind::Form | BodyKind::Multipart, _) => (BodyKind::Json, "application/json".to_owned()),
            other => other,
        };
        let required = members.get("required").and_then(Json::as_bool) == Some(true);
        return Some(StatedBody {
            body: RequestBody { required, media_type, kind, fields: BTreeMap::new() },
            schema: members.get("schema").map_or(Schema::Silent, Schema::Stated),
            description: members.get("description").and_then(Json::as_str),
        });
    }
    if parameters.form.is_empty() {
        return None;
    }
    let text = |members: &'d Json, name: &str| members.get(name).and_then(Json::as_str);
    let multipart = parameters.form.iter().any(|members| text(members, "type") == Some("file"))
        || (consumes.iter().any(|media| kind_of(media).0 == BodyKind::Multipart)
            && !consumes.iter().any(|media| kind_of(media).0 == BodyKind::Form));
    let (kind, media) = if multipart {
        (BodyKind::Multipart, "multipart/form-data")
    } else {
        (BodyKind::Form, "application/x-www-form-urlencoded")
    };
    let mut fields = BTreeMap::new();
    for members in &parameters.form {
        if text(members, "type") == Some("array") {
            let style = Some(collection(members.as_object(), Style::Form));
            let name = text(members, "name").unwrap_or_default().to_owned();
            fields.insert(name, FieldEncoding { style, media_type: None });
        }
    }
    let required = parameters.form.iter().any(|members| members.get("required").and_then(Json::as_bool) == Some(true));
    Some(StatedBody {
        body: RequestBody { required, media_type: media.to_owned(), kind, fields },
        schema: Schema::Fields(parameters.form.clone()),
        description: None,
    })
}
