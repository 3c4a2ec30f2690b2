//! Whether a URL is public enough to be cited.

use std::net::IpAddr;

use url::{Host, Url};

use crate::egress::AddressClass;

/// Names under which no public host lives: RFC 6761, RFC 6762, RFC 8375 and common private roots.
const PRIVATE_ROOTS: [&str; 10] =
    ["local", "localhost", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa"];
/// Longer URLs are not citations.
const MAX_BYTES: usize = 8192;

/// Whether a text is an absolute http or https URL without user info whose host is public: a name with a dot outside the
/// private roots, or a globally routed address. Names are not resolved. Blanks, controls and backslashes, which readers
/// of URLs disagree about, make it not public.
pub fn public_http_url(text: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    if text.len() > MAX_BYTES || text.chars().any(odd) {
        return false;
    }
    let lower = text.as_bytes().get(..8).unwrap_or(text.as_bytes()).to_ascii_lowercase();
    if !lower.starts_with(b"http://") && !lower.starts_with(b"https://") {
        return false;
    }
    let Ok(url) = Url::parse(text) else { return false };
    if !url.username().is_empty() || url.password().is_some() {
        return false;
    }
    match url.host() {
        Some(Host::Domain(name)) => is_public_name(name),
        Some(Host::Ipv4(address)) => is_public_address(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_public_address(IpAddr::V6(address)),
        None => false,
    }
}

fn is_public_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let private = PRIVATE_ROOTS
        .iter()
        .any(|root| name.strip_suffix(root).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    name.contains('.') && !private && name.split('.').all(|label| !label.is_empty())
}

/// Whether an address is globally routed, by the special-purpose registries of IANA (RFC 6890). IPv6 forms that carry an
/// IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) never are.
pub fn is_public_address(address: IpAddr) -> bool {
    let mapped = matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some());
    !mapped && AddressClass::of(address) == AddressClass::Public
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    use crate::json::{Json, parse};
    use proptest::prelude::*;

    /// Proves: SDK-SOURCE-INGEST-R004.26
    #[test]
    fn every_url_of_the_vectors() {
        let vectors = parse(include_str!("../../../conformance/vectors/redaction.json")).unwrap();
        let cases = vectors.get("public_urls").unwrap().as_array().unwrap();
        assert!(!cases.is_empty());
        for case in cases {
            let url = case.get("url").and_then(Json::as_str).unwrap_or_default();
            assert_eq!(Some(public_http_url(url)), case.get("public").unwrap().as_bool(), "{url}");
        }
    }

    #[test]
    fn other_spellings_of_inside_are_not_public() {
        for url in [
            "https://LOCALHOST/",
            "https://localhost./",
            "https://a.LOCAL",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://127.1/",
            "https://[::ffff:8.8.8.8]/",
            "https://[64:ff9b::808:808]/",
            "https://[2002:808:808::]/",
            "https://[2001::1]/",
            "https://[fe80::1]/",
            "https://[fc00::1]/",
            "https://[2606:4700::5efe:a00:1]/",
            "https://224.0.0.1/",
            "https://169.254.169.254/",
            "https://198.18.0.1/",
            "https:a.example",
            "https:/a.example",
            "https:\\\\a.example",
            "https://a.example\\@localhost/",
            " https://a.example",
            "https://a..example",
            "https://u:p@a.example",
            "javascript:alert(1)",
            "https://",
            "https://metadata.google.internal/",
        ] {
            assert!(!public_http_url(url), "{url}");
        }
        for url in ["HTTPS://A.Example/X", "http://a.example:8080/?q=1#f", "https://xn--bcher-kva.example/"] {
            assert!(public_http_url(url), "{url}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in any::<String>(), address in any::<[u8; 4]>()) {
            let _ = public_http_url(&text);
            let address = Ipv4Addr::from(address);
            prop_assert_eq!(public_http_url(&format!("https://{address}/x")), is_public_address(IpAddr::V4(address)));
        }
    }
}
