//! Reading the host of an address, strictly.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::EgressRefusal;

const MAX_NAME_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

/// A host: a name in its ASCII form, lower case and without the final dot, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EgressHost {
    /// A name to resolve.
    Name(Box<str>),
    /// An address.
    Address(IpAddr),
}

impl EgressHost {
    /// Reads a name or an address, IPv6 with or without brackets.
    pub fn parse(text: &str) -> Result<Self, EgressRefusal> {
        if let Some(inner) = text.strip_prefix('[') {
            return ipv6(inner.strip_suffix(']').ok_or(EgressRefusal::Host)?);
        }
        if text.contains(':') {
            return ipv6(text);
        }
        if !text.is_ascii() {
            return international(text);
        }
        if ends_in_number(text) {
            let address = text.parse::<Ipv4Addr>().map_err(|_| EgressRefusal::Spelling)?;
            return Ok(Self::Address(IpAddr::V4(address)));
        }
        let name = without_final_dot(text);
        if !is_name(name) {
            return Err(EgressRefusal::Host);
        }
        Ok(Self::Name(name.to_ascii_lowercase().into()))
    }
}

fn ipv6(text: &str) -> Result<EgressHost, EgressRefusal> {
    if text.contains('%') {
        return Err(EgressRefusal::Spelling);
    }
    let address = text.parse::<Ipv6Addr>().map_err(|_| EgressRefusal::Host)?;
    Ok(EgressHost::Address(IpAddr::V6(address)))
}

/// A name beyond ASCII. What becomes an address that way was written to look like something else.
fn international(text: &str) -> Result<EgressHost, EgressRefusal> {
    if text.len() > 4 * MAX_NAME_BYTES || text.contains('%') {
        return Err(EgressRefusal::Host);
    }
    match url::Host::parse(text) {
        Ok(url::Host::Domain(name)) if is_name(without_final_dot(&name)) => {
            Ok(EgressHost::Name(without_final_dot(&name).into()))
        }
        Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)) => Err(EgressRefusal::Spelling),
        _ => Err(EgressRefusal::Host),
    }
}

pub(super) fn without_final_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

/// Labels of letters, digits, hyphens and underscores, none at an edge a hyphen.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    matches!(bytes.len(), 1..=MAX_LABEL_BYTES)
        && bytes[0] != b'-'
        && bytes[bytes.len() - 1] != b'-'
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Whether readers of URLs take a host for an IPv4 address: its last label is a number, decimal or `0x…`.
pub(super) fn ends_in_number(host: &str) -> bool {
    let host = without_final_dot(host);
    let last = host.rsplit('.').next().unwrap_or(host);
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// `localhost` and every name below it (RFC 6761), in lower case and without the final dot.
pub(super) fn is_localhost(name: &str) -> bool {
    name.strip_suffix("localhost").is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
