//! A request from an operation and the arguments of a call.

mod body;
mod check;
mod next_page;
mod restore;
mod style;

use scion_domain::http::{Bytes, HeaderValue, Method};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::openapi::PlanRefusal;

use crate::model::{Operation, Parameter, ParameterForm, Place, Style};
pub(crate) use check::check_against;
pub use check::check_arguments;
pub use next_page::{next_page_of, next_page_query};
use restore::Restorer;
use style::{Parts, encoded};

/// The largest request that is planned: path, query, header fields and body together.
pub const MAX_REQUEST_BYTES: usize = 16 << 20;

/// A request, ready to be sent below a base URL. Credentials are added by whoever sends it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestPlan {
    /// The method.
    pub method: Method,
    /// The path, percent-encoded, beginning with a slash.
    pub path: String,
    /// The query, name and value percent-encoded, in order. A name without a `=` does not occur.
    pub query: Vec<(String, String)>,
    /// Header fields other than the content type.
    pub headers: Vec<(String, String)>,
    /// Cookies. The governed client sends none; kept so that a caller can tell.
    pub cookies: Vec<(String, String)>,
    /// The body.
    pub body: Option<Bytes>,
    /// The media type of the body.
    pub content_type: Option<String>,
}

impl std::fmt::Debug for RequestPlan {
    /// Names and sizes: values are payload.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        f.debug_struct("RequestPlan")
            .field("method", &self.method)
            .field("query", &names(&self.query))
            .field("headers", &names(&self.headers))
            .field("cookies", &names(&self.cookies))
            .field("body_bytes", &self.body.as_ref().map(Bytes::len))
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}

impl RequestPlan {
    /// The query as it stands behind the `?`; empty for none.
    pub fn query_string(&self) -> String {
        let pairs: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }
}

/// Makes the request of a call. Arguments that are `null` count as absent where they are not required; unknown ones are
/// refused. Texts that stand for JSON, wide integers or bytes are decoded. No refusal repeats a value.
pub fn request_plan(operation: &Operation, arguments: &JsonObject) -> Result<RequestPlan, PlanRefusal> {
    let properties = operation.input_schema.get("properties").and_then(Json::as_object);
    let known = |name: &String| properties.is_some_and(|properties| properties.contains_key(name));
    if !arguments.keys().all(known) {
        return Err(PlanRefusal::Unknown);
    }
    let restorer = Restorer { schema: &operation.input_schema, texts: &operation.texts };
    let mut plan = RequestPlan {
        method: operation.method.clone(),
        path: operation.path.clone(),
        query: operation.fixed_query.iter().map(|(name, value)| (literal(name), literal(value))).collect(),
        headers: Vec::new(),
        cookies: Vec::new(),
        body: None,
        content_type: None,
    };
    let mut filled: Vec<(String, String)> = Vec::new();
    for parameter in &operation.parameters {
        let argument = &parameter.argument;
        let value = match arguments.get(argument) {
            None | Some(Json::Null) if parameter.required => {
                return Err(PlanRefusal::Missing { argument: argument.clone() });
            }
            None | Some(Json::Null) => continue,
            Some(value) => restorer.argument(argument, value)?,
        };
        let (style, explode, _, parts) = written(parameter, &value);
        match parameter.place {
            Place::Path => {
                let text = style::path(&parameter.name, &parts, style, explode);
                if parts.is_empty() || text.is_empty() {
                    return Err(PlanRefusal::PathValue { argument: argument.clone() });
                }
                filled.push((parameter.name.clone(), text));
            }
            Place::Query => {
                if explode && style == Style::Form && names_another(operation, parameter, &parts) {
                    return Err(PlanRefusal::Unknown);
                }
                plan.query.extend(query_pairs(parameter, &value));
            }
            Place::Header => {
                let text = style::header(&parts, explode);
                let text = text.filter(|text| HeaderValue::from_str(text).is_ok() && text.trim() == text);
                let text = text.ok_or_else(|| PlanRefusal::HeaderValue { argument: argument.clone() })?;
                plan.headers.push((parameter.name.clone(), text));
            }
            Place::Cookie => plan.cookies.extend(style::query(&parameter.name, &parts, style, explode, false)),
        }
    }
    plan.path = fill(operation, &filled)?;
    if let Some(body) = &operation.body {
        match arguments.get("body") {
            None if body.required => return Err(PlanRefusal::Missing { argument: "body".to_owned() }),
            None => {}
            Some(Json::Null) if !body.required => {}
            Some(value) => {
                let value = restorer.argument("body", value)?;
                let (bytes, content_type) = body::write(body, &value, &restorer)?;
                plan.body = Some(Bytes::from(bytes));
                plan.content_type = Some(content_type);
            }
        }
    }
    let pairs = [&plan.query, &plan.headers, &plan.cookies].into_iter().flatten();
    let size = pairs.map(|(name, value)| name.len() + value.len() + 2).sum::<usize>()
        + plan.path.len()
        + plan.body.as_ref().map_or(0, Bytes::len);
    if size > MAX_REQUEST_BYTES { Err(PlanRefusal::TooLarge { limit: MAX_REQUEST_BYTES }) } else { Ok(plan) }
}

fn written(parameter: &Parameter, value: &Json) -> (Style, bool, bool, Parts) {
    match parameter.form {
        ParameterForm::Json => {
            let style =
                if matches!(parameter.place, Place::Query | Place::Cookie) { Style::Form } else { Style::Simple };
            (style, false, false, Parts::One(to_compact(value)))
        }
        ParameterForm::Styled { style, explode, allow_reserved } => (style, explode, allow_reserved, Parts::of(value)),
    }
}

fn query_pairs(parameter: &Parameter, value: &Json) -> Vec<(String, String)> {
    if let (ParameterForm::Styled { style: Style::DeepObject, .. }, Json::Object(_)) = (parameter.form, value) {
        return style::deep(&parameter.name, value);
    }
    let (style, explode, reserved, parts) = written(parameter, value);
    style::query(&parameter.name, &parts, style, explode, reserved)
}

/// Whether a member of an object, which becomes a parameter of its own name, would set another parameter.
fn names_another(operation: &Operation, parameter: &Parameter, parts: &Parts) -> bool {
    let Parts::Object(members) = parts else { return false };
    let others =
        operation.parameters.iter().filter(|other| other.place == Place::Query && other.name != parameter.name);
    let names =
        others.map(|other| other.name.as_str()).chain(operation.fixed_query.iter().map(|(name, _)| name.as_str()));
    names.into_iter().any(|name| {
        let inside =
            |member: &String| member == name || member.strip_prefix(name).is_some_and(|rest| rest.starts_with('['));
        members.iter().any(|(member, _)| inside(member))
    })
}

/// A query that somebody gave in place of the planned one, with what is fixed in it as it was planned: the query of the
/// document's path, and the arguments an operator fixed.
pub fn with_fixed(operation: &Operation, fixed: &JsonObject, given: &str) -> String {
    let restorer = Restorer { schema: &operation.input_schema, texts: &operation.texts };
    let mut pairs: Vec<(String, String)> =
        operation.fixed_query.iter().map(|(name, value)| (literal(name), literal(value))).collect();
    let mut names: Vec<String> = operation.fixed_query.iter().map(|(name, _)| name.clone()).collect();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place == Place::Query) {
        let Some(value) = fixed.get(&parameter.argument).filter(|value| !value.is_null()) else { continue };
        let value = restorer.argument(&parameter.argument, value).unwrap_or_else(|_| value.clone());
        let own = query_pairs(parameter, &value);
        names.push(parameter.name.clone());
        names.extend(own.iter().map(|(name, _)| decoded(name)));
        pairs.extend(own);
    }
    let is_fixed = |name: &str| {
        names
            .iter()
            .any(|fixed| name == fixed || name.strip_prefix(fixed.as_str()).is_some_and(|rest| rest.starts_with('[')))
    };
    let kept = given.split('&').filter(|pair| !is_fixed(&decoded(pair.split('=').next().unwrap_or_default())));
    let fixed = pairs.iter().map(|(name, value)| format!("{name}={value}"));
    kept.map(str::to_owned).chain(fixed).collect::<Vec<_>>().join("&")
}

fn decoded(name: &str) -> String {
    percent_encoding::percent_decode_str(&name.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Fills the placeholders of the path. A value never makes a dot segment, which would lead elsewhere.
fn fill(operation: &Operation, filled: &[(String, String)]) -> Result<String, PlanRefusal> {
    let mut out = String::new();
    for segment in operation.path.split('/').skip(1) {
        out.push('/');
        let start = out.len();
        let mut rest = segment;
        let mut used = None;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(&literal(before));
            let (name, tail) = after.split_once('}').unwrap_or((after, ""));
            let value = filled.iter().find(|(known, _)| known == name);
            let (_, value) = value.ok_or_else(|| PlanRefusal::Missing { argument: name.to_owned() })?;
            out.push_str(value);
            used = Some(name);
            rest = tail;
        }
        out.push_str(&literal(rest));
        // An encoded slash is one to servers that decode a path before they take its dots out.
        let plain = out[start..].replace("%2E", ".").replace("%5C", "%2F");
        let leads_up = plain.split("%2F").any(|part| part == "..");
        if let Some(name) = used.filter(|_| leads_up || matches!(plain.as_str(), "." | ".." | "")) {
            let parameter = operation.parameters.iter().find(|parameter| parameter.name == name);
            let argument = parameter.map_or(name, |parameter| &parameter.argument).to_owned();
            return Err(PlanRefusal::PathValue { argument });
        }
    }
    Ok(out)
}

/// A part of the path as the document has it: what may stand in a path stays, what may not is encoded.
fn literal(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || "-._~!$'()*,;:@%".contains(c) {
            out.push(c);
        } else {
            out.push_str(&encoded(c.encode_utf8(&mut [0; 4])));
        }
    }
    out
}
