//! Small answers of the listener itself.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use scion_domain::listener::ListenerRefusal;
use scion_domain::served_security::{AccessDenied, SecurityAnswer};

/// What goes back over a connection.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// JSON that nobody keeps.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = bare(status, body);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Bytes without a type that nobody keeps.
pub(super) fn bare(status: StatusCode, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

pub(super) fn refused(refusal: &ListenerRefusal) -> Answer {
    let answer = refusal.answer();
    let mut response = json(answer.status, answer.body);
    // The rest of the body is not read, so nothing else can follow on this connection.
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

pub(super) fn unauthenticated(answer: &SecurityAnswer) -> Answer {
    let mut response = if answer.body.is_empty() { bare(answer.status, "") } else { json(answer.status, answer.body) };
    let challenge = answer.challenge.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
    if let Some(challenge) = challenge {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The JSON-RPC error of a known caller that may not; `id` is the request's own.
pub(super) fn denied(id: &serde_json::Value) -> Answer {
    rpc_error(StatusCode::OK, id, AccessDenied::CODE, AccessDenied::MESSAGE)
}

pub(super) fn rpc_error(status: StatusCode, id: &serde_json::Value, code: i32, message: &str) -> Answer {
    rpc_failure(status, id, &serde_json::json!({ "code": code, "message": message }))
}

pub(super) fn rpc_failure(status: StatusCode, id: &serde_json::Value, error: &serde_json::Value) -> Answer {
    json(status, serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string())
}
