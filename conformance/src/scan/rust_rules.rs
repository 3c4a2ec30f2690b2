//! The rules over Rust tokens.

use super::{Cursor, Rule, Token, cursors};

/// Switches whose argument turns verification off.
const OFF_WHEN_TRUE: [&str; 10] = [
    "danger_accept_invalid_certs",
    "danger_accept_invalid_hostnames",
    "tls_danger_accept_invalid_certs",
    "tls_danger_accept_invalid_hostnames",
    "danger_disable_hostname_verification",
    "disable_verification",
    "accept_invalid_certs",
    "accept_invalid_hostnames",
    "allow_invalid_certificates",
    "allow_invalid_hostnames",
];
/// Switches whose argument `false` turns verification off.
const OFF_WHEN_FALSE: [&str; 7] = [
    "ssl_verify_peer",
    "ssl_verify_host",
    "set_verify_hostname",
    "verify_hostname",
    "verify_hostnames",
    "proxy_ssl_verify_peer",
    "proxy_ssl_verify_host",
];
/// Names that only exist to put another judge in place of the library's.
const VERIFIERS: [&str; 7] = [
    "ServerCertVerifier",
    "ServerCertVerified",
    "DangerousClientConfig",
    "DangerousClientConfigBuilder",
    "set_certificate_verifier",
    "with_custom_certificate_verifier",
    "set_verify_callback",
];
/// Crates that are HTTP clients and nothing else.
const CLIENT_CRATES: [&str; 6] = ["ureq", "isahc", "attohttpc", "minreq", "awc", "surf"];

/// How many segments of a path are looked at.
const MAX_SEGMENTS: isize = 16;
/// How many tokens of an import group are looked at.
const MAX_GROUP: isize = 1024;

pub(super) fn findings(tokens: &[Token]) -> Vec<(u32, Rule)> {
    let mut found = Vec::new();
    for here in cursors(tokens) {
        let Some(name) = here.name(0) else { continue };
        // A connector may call a function of its own what it likes; calling it is what counts.
        if matches!(here.name(-1), Some("fn" | "mod" | "let")) {
            continue;
        }
        if let Some(rule) = rule(here, name) {
            found.push((tokens[here.at].line, rule));
        }
    }
    found
}

fn rule(here: Cursor<'_>, name: &str) -> Option<Rule> {
    let argument = |word: &str| here.is(1, b'(') && here.name(2) == Some(word) && here.is(3, b')');
    if OFF_WHEN_TRUE.contains(&name) || name.starts_with("DANGER_ACCEPT_") {
        // As a method name without a call it is still handed to someone who calls it.
        let harmless = argument("false") || is_field(here);
        return (!harmless).then_some(Rule::VerificationOff);
    }
    if OFF_WHEN_FALSE.contains(&name) && argument("false") {
        return Some(Rule::VerificationOff);
    }
    if name == "SslVerifyMode" && here.path(1) && matches!(here.name(3), Some("NONE" | "empty")) {
        return Some(Rule::VerificationOff);
    }
    if VERIFIERS.contains(&name) {
        return Some(Rule::OwnVerifier);
    }
    if name == "dangerous" && here.is(-1, b'.') && here.is(1, b'(') {
        return Some(Rule::OwnVerifier);
    }
    // `rustls::client::danger::…`, whatever it is renamed to.
    if name == "danger" && here.path(-2) && matches!(here.name(-3), Some("client" | "server" | "rustls")) {
        return Some(Rule::OwnVerifier);
    }
    tls_context(here, name).or_else(|| raw_client(here, name))
}

/// A struct field or binding of that name, rather than a use of a library's.
fn is_field(here: Cursor<'_>) -> bool {
    here.is(1, b':') && !here.path(1)
}

fn tls_context(here: Cursor<'_>, name: &str) -> Option<Rule> {
    let own = match name {
        "ClientConfig" => crate_of(here) == Some("rustls"),
        "rustls" => here.path(1) && here.is(3, b'{') && names_client(here, &["ClientConfig"]),
        "TlsConnector" | "SslConnector" | "SslConnectorBuilder" => {
            here.path(1)
                || matches!(crate_of(here), Some("tokio_rustls" | "native_tls" | "openssl" | "tokio_native_tls"))
        }
        _ => false,
    };
    own.then_some(Rule::OwnTlsContext)
}

/// The first segment of the path that ends here.
fn crate_of(here: Cursor<'_>) -> Option<&str> {
    let mut offset = 0;
    while here.path(offset - 2) && offset > -3 * MAX_SEGMENTS {
        here.name(offset - 3)?;
        offset -= 3;
    }
    if offset == 0 { None } else { here.name(offset) }
}

fn raw_client(here: Cursor<'_>, name: &str) -> Option<Rule> {
    let first = !here.path(-2) || here.name(-3).is_none();
    if !first {
        return None;
    }
    let raw = match name {
        "reqwest" => names_client(here, &["Client", "ClientBuilder", "blocking", "get", "self"]),
        "hyper" => here.path(1) && names_client(here, &["client", "Client"]),
        "hyper_util" => here.path(1) && names_client(here, &["client"]),
        "curl" => here.path(1) && names_client(here, &["easy", "multi"]),
        _ if CLIENT_CRATES.contains(&name) => here.path(1) || imported(here),
        _ => false,
    };
    raw.then_some(Rule::RawClient)
}

/// Whether the path or import that starts here reaches one of these items; a whole crate under its name or another one does.
fn names_client(here: Cursor<'_>, items: &[&str]) -> bool {
    if !here.path(1) {
        return imported(here);
    }
    if let Some(name) = here.name(3) {
        return items.contains(&name);
    }
    if here.is(3, b'*') {
        return true;
    }
    if !here.is(3, b'{') {
        return false;
    }
    // Only the first names of the group: deeper ones belong to other modules.
    let (mut depth, mut offset, mut start) = (0u32, 3, true);
    while let Some(token) = here.token(offset).filter(|_| offset < MAX_GROUP) {
        match token.as_name() {
            Some(name) if depth == 1 && start && items.contains(&name) => return true,
            Some(_) => start = false,
            None => {}
        }
        if token.is(b'{') {
            depth += 1;
            start = true;
        } else if token.is(b'}') {
            depth = depth.saturating_sub(1);
        } else if token.is(b',') {
            start = true;
        } else if token.is(b'*') && depth == 1 && start {
            return true;
        }
        if depth == 0 {
            return false;
        }
        offset += 1;
    }
    false
}

/// `use reqwest;`, `use reqwest as r;`, `extern crate reqwest;`.
fn imported(here: Cursor<'_>) -> bool {
    matches!(here.name(-1), Some("use" | "crate")) && (here.is(1, b';') || here.name(1) == Some("as"))
}
