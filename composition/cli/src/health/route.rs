//! Which request gets which answer.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::{Method, Response, StatusCode, Uri};
use scion::sync::health::HealthAnswer;

use super::body;

/// What a route answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// `/health`.
    Live,
    /// `/health/ready`.
    Ready,
    /// Another path.
    NotFound,
    /// Another method.
    NotAllowed,
}

/// Paths are exact, a query string is ignored. A path that does not exist is not found, whatever the method.
pub(super) fn route(method: &Method, uri: &Uri) -> Route {
    let found = match uri.path() {
        "/health" => Route::Live,
        "/health/ready" => Route::Ready,
        _ => return Route::NotFound,
    };
    if matches!(*method, Method::GET | Method::HEAD) { found } else { Route::NotAllowed }
}

/// An answer with a body.
pub(super) fn answer(answer: &HealthAnswer) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    let mut response = plain(status, Bytes::from(body::text(&answer.body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An answer without one.
pub(super) fn refusal(route: Route) -> Response<Full<Bytes>> {
    if route != Route::NotAllowed {
        return plain(StatusCode::NOT_FOUND, Bytes::new());
    }
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, Bytes::new());
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn plain(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("connector-sync-health/1"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
