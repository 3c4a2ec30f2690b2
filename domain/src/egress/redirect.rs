//! Following redirects, one decision at a time.

use super::target::same_origin;
use super::url_text::check_characters;
use super::{CompiledEgress, EgressRefusal, Plaintext, Target, parse_url};
use crate::http::{Method, StatusCode, Url};

/// Whether a status is a redirect that may be followed: 301, 302, 303, 307, 308.
pub fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// The next request of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Where to, without a fragment.
    pub url: Url,
    /// The checked destination.
    pub target: Target,
    /// Whether header fields that hold credentials may be sent. Once false, false for the rest of the walk.
    pub credentials: bool,
    /// The method (RFC 9110 section 15.4).
    pub method: Method,
    /// Whether the body is sent again.
    pub body: bool,
}

/// Where a request stands on its way through redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectWalk {
    current: Url,
    plaintext: Plaintext,
    limit: u8,
    followed: u8,
    credentials: bool,
    method: Method,
    body: bool,
}

impl RedirectWalk {
    /// A walk that starts with a checked request and follows at most `limit` redirects; `body` says whether it has one.
    pub fn new(url: Url, plaintext: Plaintext, limit: u8, method: Method, body: bool) -> Self {
        Self { current: url, plaintext, limit, followed: 0, credentials: true, method, body }
    }

    /// How many redirects were followed.
    pub fn followed(&self) -> u8 {
        self.followed
    }

    /// Decides about a redirect ([`is_redirect`]) from its status and its `Location`. After a refusal the walk is over: the
    /// same redirect is refused again, and the walk stays where it was.
    pub fn step(&mut self, egress: &CompiledEgress, status: StatusCode, location: &str) -> Result<Hop, EgressRefusal> {
        if self.followed >= self.limit {
            return Err(EgressRefusal::RedirectCount);
        }
        if !is_redirect(status) {
            return Err(EgressRefusal::RedirectLocation);
        }
        let url = self.resolve(location)?;
        if self.current.scheme() == "https" && url.scheme() != "https" {
            return Err(EgressRefusal::RedirectDowngrade);
        }
        let target = egress.check_url(&url, self.plaintext)?;
        let elsewhere = !same_origin(&self.current, &url);
        let (method, body) = self.rewritten(status);
        if body && elsewhere {
            return Err(EgressRefusal::RedirectBody);
        }
        self.followed += 1;
        self.credentials &= !elsewhere;
        self.current = url.clone();
        self.method = method.clone();
        self.body = body;
        Ok(Hop { url, target, credentials: self.credentials, method, body })
    }

    fn resolve(&self, location: &str) -> Result<Url, EgressRefusal> {
        if location.is_empty() {
            return Err(EgressRefusal::RedirectLocation);
        }
        check_characters(location)?;
        let scheme = location.split(['/', '?', '#']).next().unwrap_or_default();
        let mut url = if scheme.contains(':') {
            parse_url(location)?
        } else if location.starts_with("//") {
            parse_url(&format!("{}:{location}", self.current.scheme()))?
        } else {
            self.current.join(location).map_err(|_| EgressRefusal::RedirectLocation)?
        };
        url.set_fragment(None);
        Ok(url)
    }

    /// 303 asks with GET; 301 and 302 turn POST into GET, as every client does; 307 and 308 change nothing.
    fn rewritten(&self, status: StatusCode) -> (Method, bool) {
        let to_get = match status.as_u16() {
            303 => self.method != Method::HEAD && self.method != Method::GET,
            301 | 302 => self.method == Method::POST,
            _ => false,
        };
        if to_get { (Method::GET, false) } else { (self.method.clone(), self.body) }
    }
}
