//! What a client may be configured with, checked once.

use std::time::Duration;

use crate::egress::{EgressRefusal, Plaintext, parse_url};
use crate::refusal::Refusal as _;

use super::{CallRefusal, ExchangeLimits, HeaderMap, HeaderName, HeaderValue, HttpProfile, Url};
use crate::redaction::is_sensitive_header;

const BASE: &str = "base_url";
/// Header fields the exchange sets itself.
const OWN: [&str; 10] = [
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
];

/// The options of a client that both a builder and a configuration can set.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Where the API lives; every call stays below it.
    pub base_url: Url,
    /// The bounds of each call.
    pub limits: ExchangeLimits,
    /// Header fields of every call.
    pub headers: HeaderMap,
    /// Egress policy, TLS and proxy profile.
    pub profile: HttpProfile,
}

impl ClientOptions {
    /// Default options for a base URL: https, or http to this machine or to a host listed as private. No user info, no query, no
    /// fragment. The path counts as a folder, with or without its last slash.
    pub fn new(base_url: &str) -> Result<Self, CallRefusal> {
        Ok(Self {
            base_url: base_url_of(base_url)?,
            limits: ExchangeLimits::default(),
            headers: HeaderMap::new(),
            profile: HttpProfile::default(),
        })
    }

    /// Adds a header field to every call. Credentials and the fields of the exchange itself are refused.
    pub fn header(&mut self, name: &str, value: &str) -> Result<(), CallRefusal> {
        let (name, value) = checked_header(name, value)?;
        self.headers.insert(name, value);
        Ok(())
    }

    /// Sets the one deadline of a call.
    pub fn total(&mut self, total: Duration) -> Result<(), CallRefusal> {
        if total.is_zero() {
            return Err(CallRefusal::Option { option: "timeout", what: "is zero" });
        }
        self.limits.total = total;
        Ok(())
    }

    /// Checks what only shows when everything is set.
    pub fn check(&self) -> Result<(), CallRefusal> {
        let egress = &self.profile.egress;
        let option = |option, what| Err(CallRefusal::Option { option, what });
        if !egress.pin_egress && egress.allow_loopback {
            return option("allow_loopback", "needs pinned egress");
        }
        if !egress.pin_egress && self.base_url.scheme() == "http" {
            return option(BASE, "is http, and that needs pinned egress");
        }
        let refused = |option| move |refusal: EgressRefusal| CallRefusal::Egress { option, reason: refusal.code() };
        let compiled = egress.compile().map_err(refused("allowed_private_hosts"))?;
        compiled.check_url(&self.base_url, Plaintext::PrivateOnly).map_err(refused(BASE))?;
        if self.limits.total.is_zero() || self.limits.connect.is_zero() || self.limits.idle.is_zero() {
            return option("timeout", "is zero");
        }
        Ok(())
    }

    /// The URL of a call an author makes: `path` below the base URL, whether or not it starts with a slash, or a whole URL below it.
    /// What leads outside the base path is refused.
    pub fn join(&self, path: &str) -> Result<Url, CallRefusal> {
        join(&self.base_url, path, false)
    }

    /// The URL of a link the server gave, as for the next page: like [`Self::join`], but a whole URL may lead anywhere on the same
    /// origin.
    pub fn follow(&self, link: &str) -> Result<Url, CallRefusal> {
        join(&self.base_url, link, true)
    }
}

fn base_url_of(text: &str) -> Result<Url, CallRefusal> {
    let bad = |what| CallRefusal::Option { option: BASE, what };
    // One reader for all URLs a person writes: it refuses what readers disagree about.
    let mut url =
        parse_url(text.trim()).map_err(|refusal| CallRefusal::Egress { option: BASE, reason: refusal.code() })?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(bad("has a query or a fragment"));
    }
    if !url.path().ends_with('/') {
        let folder = format!("{}/", url.path());
        url.set_path(&folder);
    }
    Ok(url)
}

fn join(base: &Url, path: &str, given: bool) -> Result<Url, CallRefusal> {
    let bad = |what| CallRefusal::Path { what };
    if path.contains('\\') || path.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(bad("has a blank, a control character or a backslash"));
    }
    let whole = path.starts_with("https://") || path.starts_with("http://");
    let mut url = if whole {
        Url::parse(path).map_err(|_| bad("is not a URL"))?
    } else {
        if path.starts_with("//") || path.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':')) {
            return Err(bad("names another place"));
        }
        // Without the dot, `/files:upload` would be read as a URL of the scheme `files`.
        base.join(&format!("./{}", path.trim_start_matches('/')))
            .map_err(|_| bad("cannot be joined to the base URL"))?
    };
    if url.origin() != base.origin() || !url.username().is_empty() || url.password().is_some() {
        return Err(bad("leads to another origin"));
    }
    let in_path = path.split(['?', '#']).next().unwrap_or_default();
    if !(whole && given) && (dotted(in_path) || !url.path().starts_with(base.path())) {
        return Err(bad("leads out of the base URL"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// A segment that a server may take for "up", however it is written.
fn dotted(path: &str) -> bool {
    if !path.contains(['.', '%']) {
        return false;
    }
    path.split('/').any(|segment| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        matches!(plain.as_str(), "." | "..") || plain.contains("%2f") && plain.contains("..") || plain.contains("%5c")
    })
}

/// A header field an author may set.
pub fn checked_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), CallRefusal> {
    let bad = |what| CallRefusal::Header { name: name.chars().filter(char::is_ascii_graphic).take(64).collect(), what };
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("is not a header name"))?;
    if OWN.contains(&header.as_str()) || header.as_str().starts_with("proxy-") {
        return Err(bad("is set by the client itself"));
    }
    if is_sensitive_header(&header) {
        return Err(bad("would hold a credential"));
    }
    let value = HeaderValue::from_str(value).map_err(|_| bad("has a value that cannot be sent"))?;
    Ok((header, value))
}
