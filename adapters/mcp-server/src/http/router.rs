//! Which part of the server answers a request.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use scion_domain::listener::{ListenerTransport, RequestFacts};
use scion_domain::served_route::{HEALTH, MCP, MESSAGES, READY, RouteRequest, SSE};
use scion_domain::served_security::Unauthenticated;
use scion_domain::tool_surface::{FilterField, ListingFilter};
use serde_json::Value;

use super::accept::Connection;
use super::admission::{self, Caller, NotAdmitted};
use super::answer::{self, Answer};
use super::{Security, Shared, body, limiter, ready, sse};

const SESSION: &str = "mcp-session-id";

pub(super) async fn answer(request: Request<Incoming>, connection: &Connection, shared: &Arc<Shared>) -> Answer {
    let is_head = request.method() == Method::HEAD;
    let mut answered = route(request, connection, shared).await;
    if is_head {
        // The length of what a GET would give stays.
        *answered.body_mut() = Full::new(Bytes::new()).boxed();
    }
    answered
}

async fn route(request: Request<Incoming>, connection: &Connection, shared: &Arc<Shared>) -> Answer {
    let authority = request.uri().authority().map(http::uri::Authority::as_str);
    let facts = RequestFacts { peer: Some(connection.peer.ip()), authority, headers: request.headers() };
    let budget = match shared.options.boundary.admit(facts) {
        Ok(budget) => budget,
        Err(refusal) => return answer::refused(&refusal),
    };
    let (reads, path) = (matches!(*request.method(), Method::GET | Method::HEAD), request.uri().path());
    match path {
        HEALTH if reads => return answer::json(StatusCode::OK, r#"{"status":"ok"}"#),
        READY if reads => {
            if let Some(probe) = &shared.options.readiness {
                return ready::answer(probe.as_ref()).await;
            }
        }
        _ if reads => {
            if let Some(document) = metadata(&shared.options.security, path) {
                return answer::json(StatusCode::OK, document);
            }
        }
        _ => {}
    }
    let Some(place) = Place::of(path, shared) else {
        return answer::json(StatusCode::NOT_FOUND, r#"{"error":"not found"}"#);
    };
    let admitted = admission::admit(&shared.options.security, request.headers()).await;
    let caller = match admitted {
        Err(NotAdmitted::Unknown(reason)) => return unknown(reason, &shared.options.security),
        Err(NotAdmitted::Denied(denied)) => {
            tracing::warn!(missing = denied.missing, "a caller was denied");
            let id = match body::read(request.into_body(), budget).await {
                Some(Ok(body)) => request_id(&body),
                Some(Err(refusal)) => return answer::refused(&refusal),
                None => Value::Null,
            };
            return answer::denied(&id);
        }
        Ok(caller) => caller,
    };
    let (parts, incoming) = request.into_parts();
    let body = match body::read(incoming, budget).await {
        Some(Ok(body)) => body,
        Some(Err(refusal)) => return answer::refused(&refusal),
        None => return answer::bare(StatusCode::BAD_REQUEST, ""),
    };
    match place {
        Place::Own => of_connector(shared, &parts, body).await,
        Place::Protocol => protocol(shared, parts, body, caller).await,
        Place::Stream => sse::open(shared, &parts.method, &caller, &connection.cut),
        Place::Messages => sse::message(shared, parts, &body, caller),
    }
}

/// What is at a path.
#[derive(Clone, Copy)]
enum Place {
    Own,
    Protocol,
    Stream,
    Messages,
}

impl Place {
    fn of(path: &str, shared: &Shared) -> Option<Self> {
        let streamable = shared.options.boundary.transport == ListenerTransport::StreamableHttp;
        match path {
            MCP => streamable.then_some(Self::Protocol),
            SSE => (!streamable).then_some(Self::Stream),
            path if path.strip_suffix('/').unwrap_or(path) == MESSAGES => (!streamable).then_some(Self::Messages),
            path => shared.options.routes.iter().any(|route| route.path() == path).then_some(Self::Own),
        }
    }
}

/// The metadata of the resource, where the profile has one and this is its place.
fn metadata(security: &Security, path: &str) -> Option<String> {
    let Security::Verified { profile, .. } = security else { return None };
    let resource = profile.resource.as_ref()?;
    let root = "/.well-known/oauth-protected-resource";
    (path == resource.metadata_path() || path == root).then(|| resource.document())
}

fn unknown(reason: Unauthenticated, security: &Security) -> Answer {
    match security {
        Security::Verified { profile, .. } => answer::unauthenticated(&reason.answer(profile)),
        // Without a check nobody is unknown.
        Security::Open(_) => answer::bare(StatusCode::UNAUTHORIZED, ""),
    }
}

async fn of_connector(shared: &Shared, parts: &http::request::Parts, body: Bytes) -> Answer {
    let path = parts.uri.path();
    let method = if parts.method == Method::HEAD { Method::GET } else { parts.method.clone() };
    let mut of_path = shared.options.routes.iter().filter(|route| route.path() == path);
    let Some(route) = of_path.find(|route| route.methods().contains(&method)) else {
        return answer::json(StatusCode::METHOD_NOT_ALLOWED, r#"{"error":"method not allowed"}"#);
    };
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let given = route.answer(RouteRequest { method, query, body }).await;
    let mut answered = answer::bare(given.status, given.body);
    answered.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(given.media_type));
    answered
}

async fn protocol(shared: &Shared, mut parts: http::request::Parts, body: Bytes, mut caller: Caller) -> Answer {
    let named = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if let Some(id) = &named {
        caller.session = shared.sessions.of(id, caller.identity.as_ref());
        if caller.session.is_none() {
            return answer::rpc_error(StatusCode::NOT_FOUND, &request_id(&body), -32600, "there is no such session");
        }
    }
    if let Some(wait) = too_soon(shared, &parts.method, &body, &caller) {
        return answer::rpc_failure(StatusCode::OK, &request_id(&body), &limiter::error(wait));
    }
    narrow(&parts, &mut caller);
    let ends = parts.method == Method::DELETE;
    let opens = named.is_none() && is_initialize(&body);
    if opens && !shared.sessions.has_room() {
        return answer::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"too many sessions"}"#);
    }
    let owner = caller.identity.clone();
    parts.extensions.insert(caller);
    // The credential has been looked at; nothing behind this line needs it as a header.
    parts.headers.remove(header::AUTHORIZATION);
    let is_json = parts.headers.get(header::CONTENT_TYPE).is_some_and(is_json);
    let mut answered = shared.mcp.handle(Request::from_parts(parts, Full::new(body.clone()))).await;
    if opens {
        if let Some(id) = answered.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
            shared.sessions.opened(id, owner.as_ref());
        }
    } else if let (true, Some(id)) = (ends && answered.status().is_success(), named) {
        shared.sessions.ended(&id);
        *answered.status_mut() = StatusCode::OK;
    }
    in_the_protocol(answered, is_json, &body)
}

fn is_json(media: &http::HeaderValue) -> bool {
    let media = media.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    media.trim().eq_ignore_ascii_case("application/json")
}

/// The library refuses some messages with a text alone; clients read errors of the protocol.
fn in_the_protocol(answered: Answer, is_json: bool, body: &[u8]) -> Answer {
    let told = answered.headers().get(header::CONTENT_TYPE).is_some_and(self::is_json);
    match answered.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE if is_json => {
            answer::rpc_error(StatusCode::BAD_REQUEST, &Value::Null, -32_700, "the body is no JSON-RPC message")
        }
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if !told => {
            let message = "the request needs a session, or the envelope of 2026-07-28";
            answer::rpc_error(StatusCode::BAD_REQUEST, &request_id(body), -32_600, message)
        }
        _ => answered,
    }
}

/// Notes what the caller asked to see.
pub(super) fn narrow(parts: &http::request::Parts, caller: &mut Caller) {
    match filter(parts) {
        Ok(filter) => caller.filter = filter.map(Arc::new),
        Err(_) => caller.lists_nothing = true,
    }
}

/// How long the caller has to wait before this message. Only requests are refused: the rest of a conversation under way goes on.
pub(super) fn too_soon(shared: &Shared, method: &Method, body: &[u8], caller: &Caller) -> Option<Duration> {
    let limiter = shared.limiter.as_ref().filter(|_| method == Method::POST)?;
    // Reading the message is left to the few that are refused.
    limiter.take(caller.identity.as_ref()).err().filter(|_| is_request(body))
}

fn is_request(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        id: Option<serde::de::IgnoredAny>,
        method: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Head>(body).is_ok_and(|head| head.id.is_some() && head.method.is_some())
}

/// The id of a JSON-RPC request; null when there is none to read.
pub(super) fn request_id(body: &[u8]) -> Value {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(default)]
        id: Value,
    }
    let id = serde_json::from_slice::<Head>(body).map(|head| head.id).unwrap_or_default();
    // Anything else is no id, and is not repeated.
    if id.is_string() || id.is_number() { id } else { Value::Null }
}

fn is_initialize(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        method: std::borrow::Cow<'a, str>,
    }
    serde_json::from_slice::<Head<'_>>(body).is_ok_and(|head| head.method == "initialize")
}

/// What the request asks to see (`wire/mcp-surface.md` 0.7); `None` when it says nothing about it.
fn filter(parts: &http::request::Parts) -> Result<Option<ListingFilter>, scion_domain::tool_surface::FilterRefusal> {
    let query: Vec<(FilterField, String)> = parts
        .uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter_map(|(name, value)| Some((FilterField::of_query(name)?, decoded(value))))
        .collect();
    let headers = of_headers(&parts.headers);
    if query.is_empty() && headers.is_empty() {
        return Ok(None);
    }
    let all = query.iter().map(|(field, value)| (*field, value.as_str())).chain(headers);
    ListingFilter::read(all).map(Some)
}

fn of_headers(headers: &HeaderMap) -> Vec<(FilterField, &str)> {
    let members = headers.iter().filter_map(|(name, value)| {
        // A value that is no text cannot be a name; an impossible one refuses the filter.
        Some((FilterField::of_header(name.as_str())?, value.to_str().unwrap_or("\u{0}")))
    });
    members.collect()
}

fn decoded(value: &str) -> String {
    percent_encoding::percent_decode_str(&value.replace('+', " ")).decode_utf8_lossy().into_owned()
}
