use std::fmt;

use super::{Authority, MAX_ORIGIN_CHARACTERS};

/// The origin of a page (RFC 6454), without a default port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    scheme: &'static str,
    authority: Authority,
}

impl Origin {
    /// Reads an http(s) origin; one final `/` is dropped. `None` for `*`, `null`, paths, queries, user info and the rest.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t']);
        if text.chars().count() > MAX_ORIGIN_CHARACTERS {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let (scheme, default) = if scheme.eq_ignore_ascii_case("https") {
            ("https", 443)
        } else if scheme.eq_ignore_ascii_case("http") {
            ("http", 80)
        } else {
            return None;
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains([' ', '\t']) {
            return None;
        }
        let authority = Authority::parse(rest)?;
        let authority = if authority.port() == Some(default) { authority.without_port() } else { authority };
        Some(Self { scheme, authority })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}
