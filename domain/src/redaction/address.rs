//! URLs and header fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{URL_MARKER, is_sensitive_header, is_sensitive_name};
use crate::http::{HeaderMap, Url};

/// A URL without user info and fragment, its sensitive query values replaced. A relative reference stays relative; what is not a
/// URL but may hide user info is shown as the marker.
pub fn redact_url(text: &str) -> String {
    let text = text.trim();
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
        // A port that was written stays visible: it says where a request went.
        return with_written_port(text, &url);
    }
    let Ok(base) = fallback else { return URL_MARKER.to_owned() };
    let path = text.split(['?', '#']).next().unwrap_or("");
    if path.contains('@') || path.contains(':') || text.starts_with("//") || base.join(text).is_err() {
        return URL_MARKER.to_owned();
    }
    let query = text.split('#').next().unwrap_or("").split_once('?').map(|(_, query)| redact_query(query));
    query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
}

/// The parser drops the default port; a reader should see what was written.
fn with_written_port(written: &str, url: &Url) -> String {
    let default = match url.scheme() {
        "http" => ":80",
        "https" => ":443",
        _ => return shown(written, url),
    };
    let authority = written.split_once("//").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(""));
    if url.port().is_some() || !authority.ends_with(default) {
        return shown(written, url);
    }
    let Some(host) = url.host_str() else { return shown(written, url) };
    shown(written, url).replacen(host, &format!("{host}{default}"), 1)
}

/// The parser adds a `/` to an empty path; a reader should not see what was not written.
fn shown(written: &str, url: &Url) -> String {
    let rest = written.split_once("//").map_or("", |(_, rest)| rest);
    let text = url.to_string();
    if url.path() == "/" && url.query().is_none() && !rest.contains('/') {
        return text.trim_end_matches('/').to_owned();
    }
    text
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
