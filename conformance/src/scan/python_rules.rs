//! The rules over Python tokens.

use std::collections::HashMap;

use super::{Cursor, Rule, Token, cursors};

/// Parameters, attributes and members that verify a certificate or a host name while they are true.
const VERIFY: [&str; 16] = [
    "verify",
    "verify_ssl",
    "ssl_verify",
    "verify_tls",
    "tls_verify",
    "verify_cert",
    "verify_certs",
    "verify_certificate",
    "validate_cert",
    "validate_certs",
    "check_hostname",
    "assert_hostname",
    "ssl_check_hostname",
    "ssl_verify_cert",
    "ssl_verify_identity",
    "pythonhttpsverify",
];
/// Parameters that switch verification off while they are true.
const INSECURE: [&str; 6] = [
    "tls_insecure",
    "tlsallowinvalidcertificates",
    "tlsallowinvalidhostnames",
    "tlsinsecure",
    "allow_invalid_certificates",
    "disable_ssl_certificate_validation",
];
/// What opens a connection, by module.
const CLIENTS: [(&str, &[&str]); 7] = [
    ("requests", REQUESTS),
    ("httpx", HTTPX),
    ("aiohttp", &["ClientSession", "TCPConnector", "request"]),
    (
        "urllib3",
        &["PoolManager", "ProxyManager", "HTTPSConnectionPool", "HTTPConnectionPool", "connection_from_url", "request"],
    ),
    ("urllib.request", &["urlopen", "build_opener", "urlretrieve"]),
    ("http.client", &["HTTPConnection", "HTTPSConnection"]),
    ("ssl", &[]),
];
const REQUESTS: &[&str] =
    &["get", "post", "put", "patch", "delete", "head", "options", "request", "Session", "session"];
const HTTPX: &[&str] =
    &["get", "post", "put", "patch", "delete", "head", "options", "request", "stream", "Client", "AsyncClient"];
/// What makes a TLS context, in module `ssl`.
const CONTEXTS: [&str; 3] = ["SSLContext", "create_default_context", "wrap_socket"];

pub(super) fn findings(tokens: &[Token]) -> Vec<(u32, Rule)> {
    let modules = modules(tokens);
    let mut found = Vec::new();
    for here in cursors(tokens) {
        let rule = switch(here).or_else(|| named(here)).or_else(|| silenced(here)).or_else(|| library(here, &modules));
        if let Some(rule) = rule {
            found.push((tokens[here.at].line, rule));
        }
    }
    found
}

/// The name or text at a place, in lower case, where it can be the name of a switch.
fn key(here: Cursor<'_>, offset: isize) -> Option<String> {
    let word = here.name(offset).or_else(|| here.text(offset))?;
    (word.len() <= 40).then(|| word.to_ascii_lowercase())
}

/// A switch that is given its bad value: `verify=False`, `session.verify = False`, `verify: bool = False`, `{"verify": False}`,
/// `("verify", False)`, `["verify"] = False`.
fn switch(here: Cursor<'_>) -> Option<Rule> {
    let name = key(here, 0)?;
    let is_text = here.text(0).is_some();
    let verify = VERIFY.contains(&name.as_str()) || (name == "ssl" && !is_text);
    let insecure = INSECURE.contains(&name.as_str());
    if !verify && !insecure {
        return None;
    }
    let mut value = if is_text {
        let assigned = here.is(1, b']') && here.is(2, b'=') && !here.is(3, b'=');
        let member = here.is(1, b':') || here.is(1, b',');
        if assigned {
            3
        } else if member {
            2
        } else {
            return None;
        }
    } else {
        assigned_value(here)?
    };
    while here.is(value, b'(') {
        value += 1;
    }
    let given = here.name(value).or_else(|| here.text(value)).unwrap_or_default().to_ascii_lowercase();
    let off = matches!(given.as_str(), "false" | "0" | "no" | "off");
    let on = matches!(given.as_str(), "true" | "1" | "yes" | "on");
    // `0.5` and `False == x` are no values of a switch; a comparison is not an assignment.
    let compared = here.is(value + 1, b'=') && here.is(value + 2, b'=');
    let whole = !compared && !here.is(value + 1, b'.');
    if whole && ((verify && off) || (insecure && on)) {
        return Some(Rule::VerificationOff);
    }
    // A session's switch that is set from anything but `True` is a switch someone can turn.
    let session = name == "verify" && here.is(-1, b'.') && here.name(-2).is_some_and(is_session);
    (session && given != "true").then_some(Rule::VerificationOff)
}

fn is_session(owner: &str) -> bool {
    let owner = owner.to_ascii_lowercase();
    ["session", "client", "http"].iter().any(|word| owner.contains(word))
}

/// Where the value of `name = value` or `name: type = value` starts.
fn assigned_value(here: Cursor<'_>) -> Option<isize> {
    if here.is(1, b'=') && !here.is(2, b'=') {
        return Some(2);
    }
    if !here.is(1, b':') {
        return None;
    }
    // An annotation: names, dots, brackets and bars up to the sign.
    for offset in 2..32 {
        let token = here.token(offset)?;
        if token.is(b'=') {
            return (!here.is(offset + 1, b'=')).then_some(offset + 1);
        }
        let annotation = token.as_name().is_some()
            || token.as_text().is_some()
            || [b'.', b'[', b']', b'|'].iter().any(|byte| token.is(*byte));
        if !annotation {
            return None;
        }
    }
    None
}

/// Names that only exist to switch something off.
fn named(here: Cursor<'_>) -> Option<Rule> {
    if let Some(text) = here.text(0) {
        let constant = matches!(text, "CERT_NONE" | "VERIFY_NONE" | "SSL_VERIFY_NONE");
        let used = here.is(-1, b'=') || here.is(-1, b':') || here.is(-1, b',') || here.is(-1, b'(');
        return (constant && used).then_some(Rule::VerificationOff);
    }
    let name = here.name(0)?;
    if matches!(here.name(-1), Some("def" | "class")) {
        return None;
    }
    let off = matches!(
        name,
        "CERT_NONE"
            | "VERIFY_NONE"
            | "SSL_VERIFY_NONE"
            | "_create_unverified_context"
            | "create_unverified_context"
            | "_create_unverified_https_context"
    ) || (name == "_create_default_https_context" && here.is(1, b'='));
    // A comparison looks whether someone else did; it does not do it.
    let compared = (here.is(-1, b'=') && (here.is(-2, b'=') || here.is(-2, b'!'))) || compared_through_module(here);
    (off && !compared).then_some(Rule::VerificationOff)
}

/// `== ssl.CERT_NONE`, `is ssl.CERT_NONE`, `is not ssl.CERT_NONE`.
fn compared_through_module(here: Cursor<'_>) -> bool {
    let start = if here.is(-1, b'.') { -2 } else { 0 };
    let sign = here.is(start - 1, b'=') && (here.is(start - 2, b'=') || here.is(start - 2, b'!'));
    let word = here.name(start - 1) == Some("is")
        || (here.name(start - 1) == Some("not") && here.name(start - 2) == Some("is"));
    sign || word
}

/// Warnings that are switched off: by their own function, by a filter on their class or text, or with all others.
fn silenced(here: Cursor<'_>) -> Option<Rule> {
    let name = here.name(0).or_else(|| here.text(0))?;
    let silenced = match name {
        "disable_warnings" => here.name(0).is_some() && here.name(-1) != Some("def"),
        "filterwarnings" | "simplefilter" => here.is(1, b'(') && ignores_tls(here),
        "PYTHONWARNINGS" => key(here, assigned_or_member(here)?)?.starts_with("ignore"),
        _ => false,
    };
    silenced.then_some(Rule::WarningsSilenced)
}

fn assigned_or_member(here: Cursor<'_>) -> Option<isize> {
    (1..4).find(|offset| here.is(*offset, b'=') || here.is(*offset, b':') || here.is(*offset, b',')).map(|at| at + 1)
}

/// Whether the call that starts here ignores warnings about TLS, by name or because it ignores all.
fn ignores_tls(here: Cursor<'_>) -> bool {
    let (mut depth, mut offset, mut words, mut ignore, mut tls) = (0u32, 1, 0u32, false, false);
    while let Some(token) = here.token(offset).filter(|_| offset < 512) {
        if token.is(b'(') {
            depth += 1;
        } else if token.is(b')') {
            depth -= 1;
            if depth == 0 {
                break;
            }
        }
        if let Some(text) = token.as_text() {
            words += 1;
            ignore |= text == "ignore";
            let text = text.to_ascii_lowercase();
            tls |= ["unverified", "insecure", "certificate", "urllib3"].iter().any(|word| text.contains(word));
        } else if let Some(name) = token.as_name()
            && !matches!(name, "action" | "append" | "True" | "False")
        {
            words += 1;
            tls |= matches!(name, "InsecureRequestWarning" | "SecurityWarning" | "HTTPWarning" | "Warning" | "urllib3");
        }
        offset += 1;
    }
    ignore && (tls || words == 1)
}

/// Clients and contexts of libraries, under the names they were imported by.
fn library(here: Cursor<'_>, modules: &HashMap<String, &'static str>) -> Option<Rule> {
    let name = here.name(0)?;
    // `from requests import Session as S`: the import is the finding.
    if name == "from" && (here.at == 0 || here.is(-1, b'\n') || here.is(-1, b';')) {
        return imported(here);
    }
    if here.is(-1, b'.') {
        return None;
    }
    let (module, item) = dotted(here, modules)?;
    if module == "ssl" {
        return CONTEXTS.contains(&item).then_some(Rule::OwnTlsContext);
    }
    items(module).contains(&item).then_some(Rule::RawClient)
}

fn items(module: &str) -> &'static [&'static str] {
    CLIENTS.iter().find(|(name, _)| *name == module).map_or(&[], |(_, items)| items)
}

/// `module.item` or `package.module.item` at a name.
fn dotted<'t>(here: Cursor<'t>, modules: &HashMap<String, &'static str>) -> Option<(&'static str, &'t str)> {
    let first = here.name(0)?;
    if !here.is(1, b'.') {
        return None;
    }
    let second = here.name(2)?;
    if let Some(module) = modules.get(first) {
        return Some((module, second));
    }
    let long = format!("{first}.{second}");
    let module = modules.get(&long)?;
    if here.is(3, b'.') { Some((module, here.name(4)?)) } else { None }
}

/// A `from` import of a client or a context.
fn imported(here: Cursor<'_>) -> Option<Rule> {
    let mut module = here.name(1)?.to_owned();
    let mut offset = 2;
    while here.is(offset, b'.') && offset < 32 {
        module = format!("{module}.{}", here.name(offset + 1)?);
        offset += 2;
    }
    // Submodules re-export: `requests.sessions`, `urllib3.util.ssl_`.
    let known = CLIENTS
        .iter()
        .find(|(name, _)| module == *name || module.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))?
        .0;
    if here.name(offset) != Some("import") {
        return None;
    }
    let mut rule = None;
    for at in offset + 1..offset + 1024 {
        let token = here.token(at)?;
        if token.is(b'\n') {
            break;
        }
        let Some(name) = token.as_name() else { continue };
        if here.name(at - 1) == Some("as") {
            continue;
        }
        if known == "ssl" && CONTEXTS.contains(&name) {
            rule = rule.or(Some(Rule::OwnTlsContext));
        } else if items(known).contains(&name) {
            rule = rule.or(Some(Rule::RawClient));
        }
    }
    rule
}

/// What each local name of a known module stands for.
fn modules(tokens: &[Token]) -> HashMap<String, &'static str> {
    let mut known = HashMap::new();
    for here in cursors(tokens) {
        match here.name(0) {
            Some("import") => {}
            // `from urllib import request`, `from http import client as c`.
            Some("from") if here.name(2) == Some("import") => {
                let Some(package) = here.name(1) else { continue };
                for (module, _) in CLIENTS {
                    if let Some((of, item)) = module.split_once('.')
                        && of == package
                        && here.name(3) == Some(item)
                    {
                        let local = if here.name(4) == Some("as") { here.name(5) } else { Some(item) };
                        known.extend(local.map(|local| (local.to_owned(), module)));
                    }
                }
                continue;
            }
            _ => continue,
        }
        if !(here.at == 0 || here.is(-1, b'\n') || here.is(-1, b';') || here.is(-1, b':')) {
            continue;
        }
        let mut at = 1;
        while let Some(first) = here.name(at) {
            let mut full = first.to_owned();
            at += 1;
            while here.is(at, b'.') && full.len() < 128 {
                full = format!("{full}.{}", here.name(at + 1).unwrap_or_default());
                at += 2;
            }
            let mut local = full.clone();
            if here.name(at) == Some("as") {
                here.name(at + 1).unwrap_or_default().clone_into(&mut local);
                at += 2;
            }
            if let Some((module, _)) = CLIENTS.iter().find(|(module, _)| *module == full) {
                known.insert(local, *module);
            }
            if !here.is(at, b',') {
                break;
            }
            at += 1;
        }
    }
    known
}
