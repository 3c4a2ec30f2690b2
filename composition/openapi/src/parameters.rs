//! The parameters of an operation.

use std::collections::BTreeMap;

use scion_domain::http::HeaderName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::openapi::OperationRefusal;

use crate::document::Dialect;
use crate::model::{Parameter, ParameterForm, Place, Style};
use crate::names::argument_name;
use crate::refs::Refs;

/// Header fields that no parameter sets: the specification leaves them to other parts, or they are the client's own.
const NOT_PARAMETERS: [&str; 17] = [
    "accept",
    "authorization",
    "content-type",
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "keep-alive",
    "expect",
    "accept-encoding",
    "cookie",
    // They would make another method of the one whose risk was judged.
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
];

/// A parameter as the document has it.
pub(crate) struct Stated<'d> {
    pub(crate) parameter: Parameter,
    /// Its schema; in Swagger 2 the parameter itself.
    pub(crate) schema: Option<&'d Json>,
    pub(crate) description: Option<&'d str>,
    pub(crate) deprecated: bool,
}

/// What the parameters of an operation are, with the parts of Swagger 2 that are its body.
#[derive(Default)]
pub(crate) struct Parameters<'d> {
    pub(crate) stated: Vec<Stated<'d>>,
    /// `in: body`.
    pub(crate) body: Option<&'d JsonObject>,
    /// `in: formData`.
    pub(crate) form: Vec<&'d Json>,
    /// Names of header fields that are left out.
    pub(crate) ignored: Vec<&'d str>,
}

/// Reads the parameters of a path and of one of its operations; those of the operation replace those of the path.
pub(crate) fn read<'d>(
    refs: Refs<'d>,
    dialect: Dialect,
    lists: [Option<&'d Json>; 2],
    limit: usize,
) -> Result<Parameters<'d>, OperationRefusal> {
    let mut found: BTreeMap<(&str, &str), (&'d Json, &'d JsonObject)> = BTreeMap::new();
    for list in lists.into_iter().flatten().filter_map(Json::as_array) {
        if list.len() > limit {
            return Err(OperationRefusal::TooManyParameters { limit });
        }
        for item in list {
            let itself = refs.resolve(item)?;
            let members = itself.as_object();
            let members = members.ok_or(OperationRefusal::Shape { what: "a parameter is not an object" })?;
            let text = |name: &str| members.get(name).and_then(Json::as_str);
            let (Some(place), Some(name)) = (text("in"), text("name")) else {
                return Err(OperationRefusal::Shape { what: "a parameter has no name or no place" });
            };
            if name.is_empty() || name.len() > 256 {
                return Err(OperationRefusal::Shape { what: "a parameter's name is empty or too long" });
            }
            found.insert((place, name), (itself, members));
        }
    }
    if found.len() > limit {
        return Err(OperationRefusal::TooManyParameters { limit });
    }
    let mut out = Parameters::default();
    let mut ordered: Vec<(Place, &str, (&'d Json, &'d JsonObject))> = Vec::new();
    for ((place, name), (itself, members)) in found {
        let place = match place {
            "path" => Place::Path,
            "query" => Place::Query,
            "header" => Place::Header,
            "cookie" if dialect != Dialect::Swagger2 => Place::Cookie,
            "body" if dialect == Dialect::Swagger2 => {
                out.body = Some(members);
                continue;
            }
            "formData" if dialect == Dialect::Swagger2 => {
                out.form.push(itself);
                continue;
            }
            _ => return Err(OperationRefusal::Shape { what: "a parameter has an unknown place" }),
        };
        if place == Place::Header {
            let lower = name.to_ascii_lowercase();
            if NOT_PARAMETERS.contains(&lower.as_str()) || lower.starts_with("proxy-") {
                out.ignored.push(members.get("name").and_then(Json::as_str).unwrap_or_default());
                continue;
            }
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(OperationRefusal::Shape { what: "a header parameter has no name of a header field" });
            }
        }
        ordered.push((place, name, (itself, members)));
    }
    // Path parameters get the plain names, then the query.
    ordered.sort_by_key(|(place, name, _)| (*place, *name));
    let mut taken = BTreeMap::new();
    for (place, name, members) in ordered {
        let argument = argument_name(&taken, name, place.as_str());
        taken.insert(argument.clone(), 0);
        out.stated.push(stated(refs, dialect, (place, name, argument), members)?);
    }
    out.stated.sort_by(|a, b| a.parameter.argument.cmp(&b.parameter.argument));
    Ok(out)
}

fn stated<'d>(
    refs: Refs<'d>,
    dialect: Dialect,
    (place, name, argument): (Place, &str, String),
    (itself, members): (&'d Json, &'d JsonObject),
) -> Result<Stated<'d>, OperationRefusal> {
    let required = place == Place::Path || members.get("required").and_then(Json::as_bool) == Some(true);
    let (form, schema) = match members.get("content").and_then(Json::as_object) {
        Some(content) if dialect != Dialect::Swagger2 => {
            let media = content.values().next().map(|media| refs.resolve(media)).transpose()?;
            (ParameterForm::Json, media.and_then(|media| media.get("schema")))
        }
        _ => {
            let own = (dialect == Dialect::Swagger2).then_some(itself);
            (styled(dialect, place, members), members.get("schema").or(own))
        }
    };
    Ok(Stated {
        parameter: Parameter { argument, name: name.to_owned(), place, required, form },
        schema,
        description: members.get("description").and_then(Json::as_str),
        deprecated: members.get("deprecated").and_then(Json::as_bool) == Some(true),
    })
}

fn styled(dialect: Dialect, place: Place, members: &JsonObject) -> ParameterForm {
    let usual = match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    };
    if dialect == Dialect::Swagger2 {
        let (style, explode) = collection(Some(members), usual);
        return ParameterForm::Styled { style, explode, allow_reserved: false };
    }
    let style = match (members.get("style").and_then(Json::as_str), place) {
        (Some("label"), Place::Path) => Style::Label,
        (Some("matrix"), Place::Path) => Style::Matrix,
        (Some("spaceDelimited"), Place::Query) => Style::SpaceDelimited,
        (Some("pipeDelimited"), Place::Query) => Style::PipeDelimited,
        (Some("deepObject"), Place::Query) => Style::DeepObject,
        _ => usual,
    };
    let explode = members.get("explode").and_then(Json::as_bool).unwrap_or(style == Style::Form);
    let allow_reserved = place == Place::Query && members.get("allowReserved").and_then(Json::as_bool) == Some(true);
    ParameterForm::Styled { style, explode, allow_reserved }
}

/// `collectionFormat` of Swagger 2.
pub(crate) fn collection(members: Option<&JsonObject>, usual: Style) -> (Style, bool) {
    match members.and_then(|members| members.get("collectionFormat")).and_then(Json::as_str) {
        Some("ssv") if usual == Style::Form => (Style::SpaceDelimited, false),
        Some("tsv") if usual == Style::Form => (Style::TabDelimited, false),
        Some("pipes") if usual == Style::Form => (Style::PipeDelimited, false),
        Some("multi") if usual == Style::Form => (Style::Form, true),
        _ => (usual, false),
    }
}

/// Where an operation leads.
pub(crate) struct Target<'d> {
    pub(crate) path: &'d str,
    /// Query parameters that stand in the path and are always the same.
    pub(crate) query: Vec<(String, String)>,
    /// Whether a fragment was left out. Some documents tell operations of one path apart by it.
    pub(crate) fragment: bool,
}

/// Takes a path of the document apart and matches its placeholders with the parameters. A query in the path is no OpenAPI, but
/// plain in its meaning: its placeholders are query parameters, the rest is sent as it is.
pub(crate) fn target<'d>(text: &'d str, stated: &mut Vec<Stated<'_>>) -> Result<Target<'d>, OperationRefusal> {
    if text.len() > 2048 {
        return Err(OperationRefusal::Path { what: "is too long" });
    }
    let (text, fragment) = text.split_once('#').map_or((text, false), |(before, _)| (before, true));
    let (path, tail) = text.split_once('?').unwrap_or((text, ""));
    let refuse = |name: &str| OperationRefusal::PathParameter { name: crate::text::shortened(name, 64) };
    let mut query = Vec::new();
    for pair in tail.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if let Some(inner) = value.strip_prefix('{').and_then(|value| value.strip_suffix('}')) {
            let wanted = |one: &&mut Stated<'_>| {
                let named = &one.parameter.name;
                named == inner && one.parameter.place == Place::Path
                    || named == name && one.parameter.place == Place::Query
            };
            let parameter = &mut stated.iter_mut().find(wanted).ok_or_else(|| refuse(inner))?.parameter;
            if parameter.place == Place::Path {
                parameter.place = Place::Query;
                name.clone_into(&mut parameter.name);
                parameter.form = ParameterForm::Styled { style: Style::Form, explode: false, allow_reserved: false };
            }
        } else if value.contains(['{', '}']) || !tail.is_ascii() {
            return Err(OperationRefusal::Path { what: "has a query that is not understood" });
        } else {
            query.push((name.to_owned(), value.to_owned()));
        }
    }
    let holes = placeholders(path)?;
    for name in &holes {
        if !stated.iter().any(|one| one.parameter.place == Place::Path && one.parameter.name == *name) {
            return Err(refuse(name));
        }
    }
    // A path parameter without its placeholder has nowhere to go.
    stated.retain(|one| one.parameter.place != Place::Path || holes.contains(&one.parameter.name.as_str()));
    Ok(Target { path, query, fragment })
}

/// The names in the braces of a path. Refused: braces that do not match, and what is no path.
pub(crate) fn placeholders(path: &str) -> Result<Vec<&str>, OperationRefusal> {
    let refuse = |what| OperationRefusal::Path { what };
    if !path.starts_with('/') {
        return Err(refuse("does not begin with a slash"));
    }
    if path.chars().any(|c| c.is_control() || c == ' ' || c == '\\') {
        return Err(refuse("has characters a path cannot have"));
    }
    let mut found = Vec::new();
    let mut rest = path;
    while let Some(open) = rest.find(['{', '}']) {
        if rest[open..].starts_with('}') {
            return Err(refuse("has braces that do not match"));
        }
        let inner = &rest[open + 1..];
        let close = inner.find(['{', '}']).filter(|close| inner[*close..].starts_with('}'));
        let close = close.ok_or_else(|| refuse("has braces that do not match"))?;
        if close == 0 {
            return Err(refuse("has an empty placeholder"));
        }
        found.push(&inner[..close]);
        rest = &inner[close + 1..];
    }
    let dotted = path.split('/').any(|segment| matches!(segment, "." | ".."));
    if dotted { Err(refuse("has dot segments")) } else { Ok(found) }
}
