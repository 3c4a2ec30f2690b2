//! Problems (RFC 9457), bounded. A problem holds what a vendor wrote, so it is a value an author may read and never part of a
//! refusal; only its type is, when it is a plain identifier.

use super::{HttpRefusal, Method, StatusCode};
use crate::json::{Json, JsonLimits, JsonObject, parse_with};
use crate::redaction::redact_url;

/// Characters of a text member that are kept.
const MAX_TEXT: usize = 2048;
/// Extension members; more make a problem malformed.
const MAX_EXTENSIONS: usize = 32;
/// Bytes of a type that may stand in a refusal.
const MAX_TYPE: usize = 200;
const BLANK: &str = "about:blank";
const OURS: &str = "urn:agent-connector-sdk:problem:";

/// A problem. `Debug` shows type and status only.
#[derive(Clone, PartialEq, Eq)]
pub struct Problem {
    /// A URI that says what kind it is; `about:blank` says no more than the status.
    pub kind: String,
    /// A summary.
    pub title: Option<String>,
    /// The status of the answer, whatever the body claims.
    pub status: u16,
    /// What happened this time.
    pub detail: Option<String>,
    /// A URI of this occurrence.
    pub instance: Option<String>,
    /// Other members.
    pub extensions: JsonObject,
    /// The body claimed to be a problem and is none.
    pub malformed: bool,
}

impl std::fmt::Debug for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Problem").field("kind", &self.safe_kind()).field("status", &self.status).finish_non_exhaustive()
    }
}

impl Problem {
    /// The bytes of an error body that are worth reading.
    pub const MAX_BODY: usize = 64 * 1024;

    /// Reads the body of an error answer. Only `application/problem+json` is believed; anything else is a problem made of the
    /// status alone.
    pub fn read(status: StatusCode, content_type: Option<&str>, body: &[u8]) -> Self {
        let media = content_type.and_then(|value| value.split(';').next()).map(str::trim);
        if !media.is_some_and(|media| media.eq_ignore_ascii_case("application/problem+json")) {
            return Self::of_status(status);
        }
        let limits = JsonLimits { max_bytes: Self::MAX_BODY, max_depth: 16, ..JsonLimits::DEFAULT };
        let read = match parse_with(body, limits) {
            Ok(Json::Object(members)) => Self::from_members(status, members),
            _ => None,
        };
        read.unwrap_or_else(|| Self { malformed: true, ..Self::of_status(status) })
    }

    fn from_members(status: StatusCode, mut members: JsonObject) -> Option<Self> {
        let mut text = |name: &str| match members.remove(name) {
            None | Some(Json::Null) => Some(None),
            Some(Json::String(text)) => Some(Some(text.chars().take(MAX_TEXT).collect::<String>())),
            Some(_) => None,
        };
        let kind = text("type")?.unwrap_or_else(|| BLANK.to_owned());
        let (title, detail, instance) = (text("title")?, text("detail")?, text("instance")?);
        members.remove("status");
        if kind.is_empty() || members.len() > MAX_EXTENSIONS {
            return None;
        }
        let status = status.as_u16();
        Some(Self { kind, title, status, detail, instance, extensions: members, malformed: false })
    }

    /// The problem of a status alone.
    pub fn of_status(status: StatusCode) -> Self {
        let title = match status.as_u16() {
            418 => "I'm a Teapot",
            _ => status.canonical_reason().unwrap_or("HTTP error"),
        };
        Self {
            kind: BLANK.to_owned(),
            title: Some(title.to_owned()),
            status: status.as_u16(),
            detail: None,
            instance: None,
            extensions: JsonObject::new(),
            malformed: false,
        }
    }

    /// The type, when it is a plain identifier of at most 200 bytes: `urn:`, `tag:`, `http(s):` without user info, query and
    /// fragment; `about:blank` otherwise.
    pub fn safe_kind(&self) -> &str {
        let kind = self.kind.as_str();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte);
        let known = ["https://", "http://", "urn:", "tag:"].iter().any(|scheme| kind.starts_with(scheme));
        if known && kind.len() <= MAX_TYPE && kind.bytes().all(plain) { kind } else { BLANK }
    }

    /// The members that are set, extensions among them.
    pub fn to_json(&self) -> Json {
        let mut members = self.extensions.clone();
        members.insert("type".into(), self.kind.as_str().into());
        members.insert("status".into(), u64::from(self.status).into());
        let texts = [("title", &self.title), ("detail", &self.detail), ("instance", &self.instance)];
        for (name, text) in texts {
            if let Some(text) = text {
                members.insert(name.into(), text.as_str().into());
            }
        }
        if self.malformed {
            members.insert("malformed_problem".into(), true.into());
        }
        Json::Object(members)
    }
}

/// The problem of an exchange that brought no answer, in the types the peer uses. Its detail names the method and the URL, with
/// user info, fragment and sensitive query values removed.
pub fn problem_of_exchange(refusal: &HttpRefusal, method: &Method, url: &str) -> Problem {
    let (word, status) = match refusal {
        HttpRefusal::Tls { .. } => ("tls-verification-failed", StatusCode::BAD_GATEWAY),
        HttpRefusal::Timeout { .. } => ("timeout", StatusCode::GATEWAY_TIMEOUT),
        HttpRefusal::Connect { .. } => ("unavailable", StatusCode::BAD_GATEWAY),
        HttpRefusal::TooLarge { .. } => ("response-too-large", StatusCode::BAD_GATEWAY),
        HttpRefusal::Destination { .. } | HttpRefusal::Url { .. } => ("destination-refused", StatusCode::FORBIDDEN),
        _ => ("transport-failed", StatusCode::BAD_GATEWAY),
    };
    Problem {
        kind: format!("{OURS}{word}"),
        detail: Some(format!("{method} {}", redact_url(url))),
        ..Problem::of_status(status)
    }
}
