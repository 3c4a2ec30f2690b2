//! The host and port a request is for.

use std::fmt;
use std::net::Ipv6Addr;

const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;
const MAX_ZONE_BYTES: usize = 32;

/// A host with an optional port, in the one form in which authorities are compared: lower case, no final dot, ASCII,
/// IPv6 compressed. Without a port it does not match one with a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    /// Reads `host`, `host:port`, `[ipv6]` or `[ipv6]:port`; outer blanks are trimmed and an empty port is none. `None` for
    /// wildcards, user info, paths and everything else.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t']);
        let (host, port) = if let Some(inner) = text.strip_prefix('[') {
            let (address, rest) = inner.split_once(']')?;
            (ipv6(address)?, rest.strip_prefix(':').or_else(|| rest.is_empty().then_some(""))?)
        } else {
            let (host, port) = text.split_once(':').unwrap_or((text, ""));
            (name(host)?, port)
        };
        let port = match port {
            "" => None,
            digits if digits.bytes().all(|b| b.is_ascii_digit()) => Some(digits.parse().ok()?),
            _ => return None,
        };
        Some(Self { host, port })
    }

    /// The host, IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, when one is named.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The same without its port.
    #[must_use]
    pub(super) fn without_port(self) -> Self {
        Self { port: None, ..self }
    }

    pub(super) fn with_port(self, port: u16) -> Self {
        Self { port: Some(port), ..self }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

fn ipv6(text: &str) -> Option<String> {
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    let address = address.parse::<Ipv6Addr>().ok()?;
    let Some(zone) = zone else { return Some(format!("[{address}]")) };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'~');
    let good = matches!(zone.len(), 1..=MAX_ZONE_BYTES) && zone.bytes().all(plain);
    good.then(|| format!("[{address}%{zone}]"))
}

fn name(text: &str) -> Option<String> {
    let ascii;
    let text = if text.is_ascii() {
        text
    } else {
        if text.len() > 4 * MAX_NAME_BYTES || text.contains('%') {
            return None;
        }
        match url::Host::parse(text).ok()? {
            url::Host::Domain(name) => ascii = name,
            url::Host::Ipv4(_) | url::Host::Ipv6(_) => return None,
        }
        &ascii
    };
    let text = text.strip_suffix('.').unwrap_or(text);
    let good = text.len() <= MAX_NAME_BYTES && text.split('.').all(is_label);
    good.then(|| text.to_ascii_lowercase())
}

fn is_label(label: &str) -> bool {
    matches!(label.len(), 1..=MAX_LABEL_BYTES)
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
