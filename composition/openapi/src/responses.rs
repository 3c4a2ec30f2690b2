//! The good answer of an operation.

use scion_domain::json::{Json, JsonObject};

use crate::document::Dialect;
use crate::model::OperationLink;
use crate::refs::Refs;

/// What the document says about the good answer.
#[derive(Default)]
pub(crate) struct Answer<'d> {
    pub(crate) schema: Option<&'d Json>,
    /// Whether it declares a `Link` header field.
    pub(crate) link_header: bool,
    pub(crate) links: Vec<OperationLink>,
    /// Whether it is said to be a web page, and nothing else.
    pub(crate) html: bool,
}

/// Reads the first of the 2xx answers. What cannot be resolved is left out: an operation is usable without it.
pub(crate) fn read<'d>(refs: Refs<'d>, dialect: Dialect, operation: &'d JsonObject) -> Answer<'d> {
    let Some(responses) = operation.get("responses").and_then(Json::as_object) else { return Answer::default() };
    let good = responses.iter().find(|(code, _)| code.len() == 3 && code.starts_with('2'));
    let Some(response) = good.and_then(|(_, response)| refs.resolve(response).ok()) else { return Answer::default() };
    let schema = if dialect == Dialect::Swagger2 { response.get("schema") } else { json_schema(refs, response) };
    let headers = response.get("headers").and_then(Json::as_object);
    let link_header = headers.is_some_and(|headers| headers.keys().any(|name| name.eq_ignore_ascii_case("link")));
    let media: Vec<&str> = if dialect == Dialect::Swagger2 {
        let produces = operation.get("produces").or_else(|| refs.root.get("produces")).and_then(Json::as_array);
        produces.unwrap_or_default().iter().take(64).filter_map(Json::as_str).collect()
    } else {
        let content = response.get("content").and_then(Json::as_object);
        content.into_iter().flat_map(JsonObject::keys).take(64).map(String::as_str).collect()
    };
    let html =
        !media.is_empty() && media.iter().all(|media| media.trim().to_ascii_lowercase().starts_with("text/html"));
    Answer { schema, link_header, links: links(refs, response), html }
}

fn json_schema<'d>(refs: Refs<'d>, response: &'d Json) -> Option<&'d Json> {
    let content = response.get("content").and_then(Json::as_object)?;
    let is_json = |media: &str| {
        let plain = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        plain == "*/*" || plain.ends_with("/json") || plain.ends_with("+json")
    };
    let media = content.iter().find(|(media, _)| is_json(media)).map(|(_, media)| media)?;
    refs.resolve(media).ok()?.get("schema")
}

fn links(refs: Refs<'_>, response: &Json) -> Vec<OperationLink> {
    let links = response.get("links").and_then(Json::as_object).into_iter().flatten().take(64);
    let read = |(name, link): (&String, &Json)| {
        let link = refs.resolve(link).ok()?;
        let target = link.get("operationId").or_else(|| link.get("operationRef")).and_then(Json::as_str)?;
        let parameters = link.get("parameters").and_then(Json::as_object);
        let small = |value: &&Json| value.as_str().is_none_or(|text| text.len() <= 1024) && value.as_object().is_none();
        let parameters =
            parameters.into_iter().flatten().take(64).filter(|(_, value)| small(value) && value.as_array().is_none());
        Some(OperationLink {
            name: name.clone(),
            target: target.chars().take(1024).collect(),
            parameters: parameters.map(|(name, value)| (name.clone(), value.clone())).collect(),
        })
    };
    links.filter_map(read).collect()
}
