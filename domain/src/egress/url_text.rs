//! Reading a URL that a person, a document or a server wrote.

use url::Host;

use super::host::without_final_dot;
use super::{EgressHost, EgressRefusal};
use crate::http::Url;

/// The longest URL, in bytes.
pub const MAX_URL_BYTES: usize = 8192;

/// Reads an absolute http(s) URL. Refuses user info, even an empty one, and every spelling that another reader might take
/// for another host.
pub fn parse_url(text: &str) -> Result<Url, EgressRefusal> {
    check_characters(text)?;
    let (scheme, rest) = text.split_once("://").ok_or(EgressRefusal::Scheme)?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(EgressRefusal::Scheme);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(EgressRefusal::UserInfo);
    }
    let (host, port) = split_authority(authority)?;
    if !port.is_empty() && !port.parse::<u16>().is_ok_and(|number| number > 0 && port.as_bytes()[0] != b'+') {
        return Err(EgressRefusal::Port);
    }
    let host = EgressHost::parse(host)?;
    let url = Url::parse(text).map_err(|_| EgressRefusal::Text)?;
    // Two readers must have seen the same host.
    let same = match (url.host(), &host) {
        (Some(Host::Domain(seen)), EgressHost::Name(name)) => without_final_dot(seen) == name.as_ref(),
        (Some(Host::Ipv4(seen)), EgressHost::Address(address)) => *address == seen,
        (Some(Host::Ipv6(seen)), EgressHost::Address(address)) => *address == seen,
        _ => false,
    };
    if same { Ok(url) } else { Err(EgressRefusal::Host) }
}

/// Reads the URL of a document source: as [`parse_url`], and without a fragment.
pub fn parse_source_url(text: &str) -> Result<Url, EgressRefusal> {
    let url = parse_url(text)?;
    if url.fragment().is_some() { Err(EgressRefusal::Fragment) } else { Ok(url) }
}

pub(super) fn check_characters(text: &str) -> Result<(), EgressRefusal> {
    if text.len() > MAX_URL_BYTES {
        return Err(EgressRefusal::TooLong);
    }
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    if text.chars().any(odd) { Err(EgressRefusal::Text) } else { Ok(()) }
}

/// The host with its brackets, and the port's text, which may be empty.
fn split_authority(authority: &str) -> Result<(&str, &str), EgressRefusal> {
    if authority.is_empty() {
        return Err(EgressRefusal::Host);
    }
    if authority.starts_with('[') {
        let end = authority.find(']').ok_or(EgressRefusal::Host)? + 1;
        let (host, rest) = authority.split_at(end);
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, port)),
            None if rest.is_empty() => Ok((host, "")),
            None => Err(EgressRefusal::Host),
        };
    }
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    if port.contains(':') {
        return Err(EgressRefusal::Host);
    }
    Ok((host, port))
}
