//! Addresses of authorities (`wire/mcp-surface.md` 0.4).

use super::AuthRefusal;
use crate::http::Url;

/// The address of an authority: https, or http to `localhost`, `127.0.0.1` or `::1`; no user info, no fragment, at most 2,048
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthUrl {
    text: String,
    url: Url,
}

impl AuthUrl {
    /// The longest address, in bytes.
    pub const MAX_BYTES: usize = 2048;

    /// Parses an address; outer blanks are trimmed. `field` names it in a refusal.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, AuthRefusal> {
        let refused = |what| AuthRefusal::Configuration { field, what };
        let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
        if text.is_empty() {
            return Err(refused("is missing"));
        }
        if text.len() > Self::MAX_BYTES || text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return Err(refused("is not an absolute URL"));
        }
        let url = Url::parse(text).map_err(|_| refused("is not an absolute URL"))?;
        // The parser forgives `https:host`; an address that is read in two ways is refused.
        let Some((_, rest)) = text.split_once("://") else { return Err(refused("is not an absolute URL")) };
        let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        match url.scheme() {
            "https" => {}
            "http" if loopback => {}
            _ => return Err(refused("is neither https nor http to this machine")),
        }
        if rest.contains('#') {
            return Err(refused("has a fragment"));
        }
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(refused("has user info"));
        }
        Ok(Self { text: text.to_owned(), url })
    }

    /// As it was written: issuers compare by text (RFC 8414, section 3.3).
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// The URL.
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// The authority in refusals and records: scheme, host and port alone.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

/// An issuer is an address without a query (RFC 8414, section 2).
pub fn issuer(field: &'static str, text: &str) -> Result<AuthUrl, AuthRefusal> {
    let url = AuthUrl::parse(field, text)?;
    if url.url.query().is_some() {
        return Err(AuthRefusal::Configuration { field, what: "has a query" });
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_vectors::{load, section, text};

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
    #[test]
    fn every_auth_url_of_the_vectors() {
        for case in section(&load("references.json"), "auth_urls") {
            let read = AuthUrl::parse("url", text(case, "url"));
            match case.get("ok") {
                Some(ok) => assert_eq!(Some(read.unwrap().as_text()), ok.as_str()),
                None => assert!(matches!(read, Err(AuthRefusal::Configuration { .. })), "{case:?}"),
            }
        }
    }

    #[test]
    fn tricks_are_refused() {
        for trick in [
            "https:i.example",
            "https:/i.example",
            "https://@i.example",
            "https://i.example#",
            "https://i.example\\@evil.example",
            "https://i.ex\tample",
            "http://localhost.evil.example",
            "http://127.1",
            "HTTP://i.example",
            "http://0x7f000001.example",
            "javascript://x",
        ] {
            let read = AuthUrl::parse("url", trick);
            // `127.1` is canonicalised by the URL standard to the loopback address it is.
            assert!(read.is_err() || trick == "http://127.1", "{trick}");
        }
        let text = format!("https://i.example/{}", "a".repeat(2048));
        assert!(AuthUrl::parse("url", &text).is_err());
        assert!(issuer("issuer", "https://i.example?x").is_err());
    }
}
