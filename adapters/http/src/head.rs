//! The head of a request as it goes out, and the bounds of the head that comes back.

use http_body_util::Full;
use hyper::http::uri::Uri;
use scion_domain::http::{Bytes, ExchangeLimits, HeaderMap, HeaderName, HeaderValue, HttpRefusal, Method, Url, header};

/// What the adapter can decode and asks for. `deflate` is decoded when it comes, and not asked for: servers disagree about it.
const ACCEPTED: HeaderValue = HeaderValue::from_static("gzip, br, zstd");
const IDENTITY: HeaderValue = HeaderValue::from_static("identity");

/// Fields of one connection, or written by hyper (RFC 9110 section 7.6.1).
const OURS: [HeaderName; 9] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// Makes the header fields of a request ready; done once for all its redirects.
pub(crate) fn prepare(headers: &mut HeaderMap) {
    for name in OURS {
        headers.remove(name);
    }
    if !headers.contains_key(header::ACCEPT_ENCODING) {
        // A part of an encoded body cannot be decoded.
        let accepted = if headers.contains_key(header::RANGE) { IDENTITY } else { ACCEPTED };
        headers.insert(header::ACCEPT_ENCODING, accepted);
    }
}

/// One request for hyper.
pub(crate) fn request(
    method: &Method,
    url: &Url,
    headers: HeaderMap,
    body: Bytes,
) -> Result<hyper::Request<Full<Bytes>>, HttpRefusal> {
    let uri = Uri::try_from(url.as_str())
        .map_err(|_| HttpRefusal::Url { what: "has characters that must be percent-encoded" })?;
    let announce = body.is_empty() && matches!(*method, Method::POST | Method::PUT | Method::PATCH);
    let mut request = hyper::Request::new(Full::new(body));
    *request.method_mut() = method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    if announce {
        request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    Ok(request)
}

/// Checks the bounds of an answer's head.
pub(crate) fn check(
    headers: &HeaderMap,
    limits: &ExchangeLimits,
    host: impl FnOnce() -> String,
) -> Result<(), HttpRefusal> {
    if headers.len() > limits.headers {
        return Err(HttpRefusal::TooLarge { host: host(), what: "headers", limit: limits.headers as u64 });
    }
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes > limits.header_bytes {
        return Err(HttpRefusal::TooLarge { host: host(), what: "header bytes", limit: limits.header_bytes as u64 });
    }
    Ok(())
}

/// Removes what holds credentials, for another origin.
pub(crate) fn drop_credentials(headers: &mut HeaderMap) {
    let secret: Vec<HeaderName> =
        headers.iter().filter(|(_, value)| value.is_sensitive()).map(|(name, _)| name.clone()).collect();
    let known = [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION];
    for name in secret.into_iter().chain(known) {
        headers.remove(name);
    }
}

/// Removes what describes a body that is not sent again.
pub(crate) fn drop_body_fields(headers: &mut HeaderMap) {
    for name in [
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LANGUAGE,
        header::CONTENT_LOCATION,
        HeaderName::from_static("content-md5"),
        HeaderName::from_static("content-digest"),
        HeaderName::from_static("digest"),
    ] {
        headers.remove(name);
    }
}
