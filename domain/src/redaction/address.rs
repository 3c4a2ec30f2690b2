//! URLs and header fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use url::Position;

use super::{URL_MARKER, is_sensitive_header, is_sensitive_name};
use crate::http::{HeaderMap, Url};

/// A URL without user info and fragment, its sensitive query values replaced. A relative reference stays relative; what is not a
/// URL but may hide user info is shown as the marker.
pub fn redact_url(text: &str) -> String {
    let printable: String = text.chars().filter(|c| !c.is_control()).collect();
    let text = printable.trim();
    let fallback = Url::parse("https://redacted.invalid");
    if let Ok(mut url) = Url::parse(text) {
        if url.cannot_be_a_base() {
            // Nothing is known about what such a text holds (`mailto:`, `data:`, a password).
            return format!("{}:{URL_MARKER}", url.scheme());
        }
        if url.set_username("").is_err() || url.set_password(None).is_err() {
            return format!("{}:{URL_MARKER}", url.scheme());
        }
        url.set_fragment(None);
        let query = url.query().map(redact_query);
        url.set_query(query.as_deref());
        return as_written(text, &url);
    }
    let Ok(base) = fallback else { return URL_MARKER.to_owned() };
    let path = text.split(['?', '#']).next().unwrap_or("").trim_end();
    if path.contains('@') || path.contains(':') || text.starts_with("//") || base.join(text).is_err() {
        return URL_MARKER.to_owned();
    }
    let query = text.split('#').next().unwrap_or("").split_once('?').map(|(_, query)| redact_query(query));
    query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
}

/// The URL as it was written: with its default port, which the parser drops, and without the `/` it adds to an empty path.
fn as_written(written: &str, url: &Url) -> String {
    let after_scheme = written.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
    let Some(rest) = after_scheme else { return url.to_string() };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let default = match url.scheme() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let port = if url.port().is_none() && authority.ends_with(default) { default } else { "" };
    let tail = &url[Position::AfterPort..];
    let tail = if rest.len() == authority.len() { tail.strip_prefix('/').unwrap_or(tail) } else { tail };
    format!("{}{port}{tail}", &url[..Position::AfterPort])
}

fn redact_query(query: &str) -> String {
    let mut out = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let value = if is_sensitive_name(&name) && !value.is_empty() { Cow::Borrowed(URL_MARKER) } else { value };
        out.append_pair(&name, &value);
    }
    out.finish()
}

/// Header fields for a log: names as they are, the value of a sensitive or sensitive-marked one replaced, the last of several
/// kept, a value that is not text shown as the marker.
pub fn redact_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let shown = headers.iter().map(|(name, value)| {
        let hidden = is_sensitive_header(name) || value.is_sensitive();
        let text = value.to_str().ok().filter(|_| !hidden).unwrap_or(URL_MARKER);
        (name.as_str().to_owned(), text.to_owned())
    });
    shown.collect()
}
