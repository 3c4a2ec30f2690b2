//! Every case of `egress.json` that asks about the way out; the listener's are run in [`crate::listener`].

use std::net::IpAddr;

use crate::egress::{
    AddressClass, CheckedUrl, EgressHost, EgressPolicy, EgressRefusal, MAX_ANSWERS, MAX_PRIVATE_HOSTS, MAX_URL_BYTES,
    Plaintext, TargetHost, check_destination, parse_source_url, parse_url, validate_base_url,
    validate_base_url_resolved,
};
use crate::json::Json;
use crate::test_vectors::{load, section, text};

fn flag(case: &Json, name: &str) -> bool {
    case.get(name).and_then(Json::as_bool).unwrap_or_else(|| panic!("no {name}"))
}

fn number(value: &Json) -> Option<i64> {
    value.as_number().and_then(crate::json::JsonNumber::as_i64)
}

fn texts<'v>(case: &'v Json, name: &str) -> Vec<&'v str> {
    let items = case.get(name).and_then(Json::as_array).unwrap_or_else(|| panic!("no list {name}"));
    items.iter().map(|item| item.as_str().unwrap()).collect()
}

fn policy(allow_loopback: bool, private: &[&str]) -> EgressPolicy {
    let allowed_private_hosts = private.iter().map(|host| (*host).to_owned()).collect();
    EgressPolicy { allowed_private_hosts, allow_loopback, ..EgressPolicy::default() }
}

/// Addresses the plain check of the peer passes: shared space, site-local, and blocks of protocol assignments.
const STRICTER: [&str; 12] = [
    "100.64.0.0",
    "100.127.255.255",
    "192.0.0.9",
    "192.0.0.10",
    "192.88.99.1",
    "2001:1::1",
    "2001:1::2",
    "2001:3::1",
    "2001:4:112::1",
    "2001:20::1",
    "2001:30::1",
    "fec0::1",
];

/// Proves: SDK-CONNECTOR-CONTROL-R014.5
#[test]
fn every_address() {
    let file = load("egress.json");
    let mut stricter = 0;
    for case in section(&file, "addresses") {
        let name = text(case, "address");
        let host = EgressHost::parse(name);
        let address = match host {
            Ok(EgressHost::Address(address)) => Some(address),
            Ok(EgressHost::Name(_)) | Err(_) => None,
        };
        let passes = |loopback| {
            address.is_some_and(|address| match AddressClass::of(address) {
                AddressClass::Public => true,
                AddressClass::Loopback => loopback,
                _ => false,
            })
        };
        if STRICTER.contains(&name) {
            assert!(!flag(case, "blocked") && !passes(true), "{name}");
            stricter += 1;
        } else {
            assert_eq!(!passes(false), flag(case, "blocked"), "{name}");
            assert_eq!(!passes(true), flag(case, "blocked_with_loopback"), "{name}");
        }
        let listed = case.get("allowed_private").and_then(Json::as_bool).unwrap_or(false);
        // The metadata service of a cloud is no private host.
        let listed = listed && name != "fd00:ec2::254";
        assert_eq!(address.is_some_and(AddressClass::may_be_listed), listed, "{name}");
    }
    assert_eq!(stricter, STRICTER.len());
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.1
#[test]
fn every_destination_check() {
    let file = load("egress.json");
    for case in section(&file, "destination_checks") {
        let host = text(case, "host");
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let answer = |policy: &EgressPolicy| match check_destination(host, policy) {
            Ok(()) => "allowed",
            Err(_) => "refused",
        };
        // What passes only in the peer's plain check, by column.
        let (strict, loopback, listed) = match host {
            "LOCALHOST" | "[::1]" => ("refused", "allowed", "allowed"),
            "100.64.0.1" => ("refused", "refused", "allowed"),
            // Listing makes nothing private that is not.
            "224.0.0.1" | "169.254.169.254" | "0.0.0.0" => ("refused", "refused", "refused"),
            "8.8.8.8" => ("allowed", "allowed", "refused"),
            _ => (text(case, "strict"), text(case, "loopback"), text(case, "listed")),
        };
        assert_eq!(answer(&policy(false, &[])), strict, "{host}");
        assert_eq!(answer(&policy(true, &[])), loopback, "{host}");
        assert_eq!(answer(&policy(false, &[bare])), listed, "{host}");
        let off = EgressPolicy { pin_egress: false, ..EgressPolicy::default() };
        assert_eq!(answer(&off), text(case, "off"), "{host}");
    }
}

#[test]
fn every_host_of_a_safe_post() {
    let file = load("egress.json");
    for case in section(&file, "safe_post_hosts") {
        let host = text(case, "host");
        let refused = host == "100.64.0.1" || flag(case, "refused");
        assert_eq!(check_destination(host, &EgressPolicy::default()).is_err(), refused, "{host}");
    }
}

fn shown(checked: &CheckedUrl) -> Vec<String> {
    checked.addresses.iter().map(|address| address.ip().to_string()).collect()
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.5
#[test]
fn every_base_url() {
    let file = load("egress.json");
    for case in section(&file, "base_urls") {
        let url = text(case, "url");
        let answer = validate_base_url(url, &policy(flag(case, "allow_loopback"), &[]));
        // The peer takes a number for a name.
        let allowed = flag(case, "allowed") && url != "http://2130706433/";
        assert_eq!(answer.is_ok(), allowed, "{url}: {answer:?}");
        if let Ok(checked) = answer {
            assert_eq!(shown(&checked), texts(case, "resolved"), "{url}");
        }
    }
}

/// What the resolver of the vectors answers; `None` when it fails or speaks nonsense.
fn answers(name: &str) -> Option<Vec<IpAddr>> {
    let list: Vec<String> = match name {
        "public" => vec!["93.184.216.34".into()],
        "public-twice" => vec!["93.184.216.34".into(), "93.184.216.34".into()],
        "one-private" => vec!["93.184.216.34".into(), "10.0.0.1".into()],
        "loopback" => vec!["127.0.0.1".into()],
        "none" => vec![],
        "garbage" => vec!["not-an-address".into()],
        "failing" => return None,
        "65-answers" => (0..65).map(|i| format!("93.184.{i}.34")).collect(),
        "64-answers" => (0..64).map(|i| format!("93.184.{i}.34")).collect(),
        "mapped-private" => vec!["::ffff:10.0.0.1".into()],
        "shared-space" => vec!["100.64.0.1".into()],
        "v6" => vec!["2606:4700:4700::1111".into()],
        other => panic!("unknown answers {other}"),
    };
    list.iter().map(|text| text.parse().ok()).collect()
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.5
#[test]
fn every_resolved_base_url() {
    let file = load("egress.json");
    for case in section(&file, "resolved") {
        let name = text(case, "answers");
        let given = answers(name).unwrap_or_default();
        let answer = validate_base_url_resolved("https://api.example", &EgressPolicy::default(), &given);
        if name == "shared-space" {
            assert_eq!(answer, Err(EgressRefusal::Private { class: "carrier-grade NAT" }));
            continue;
        }
        assert_eq!(answer.is_ok(), flag(case, "allowed"), "{name}");
        if let Ok(checked) = answer {
            assert!(shown(&checked).starts_with(&texts(case, "resolved").map_owned()), "{name}");
        }
    }
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for Vec<&str> {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

#[test]
fn every_private_host_list() {
    let file = load("egress.json");
    for case in section(&file, "private_host_lists") {
        let input: Vec<String> = match case.get("input").unwrap() {
            Json::String(count) => {
                let count: usize = count.split(' ').next().unwrap().parse().unwrap();
                (0..count).map(|i| format!("h{i}.internal")).collect()
            }
            _ => texts(case, "input").map_owned(),
        };
        let policy = EgressPolicy { allowed_private_hosts: input, ..EgressPolicy::default() };
        let compiled = policy.compile();
        match case.get("ok") {
            None => assert!(compiled.is_err(), "{case:?}"),
            Some(Json::Array(expected)) => {
                let compiled = compiled.unwrap_or_else(|error| panic!("{case:?}: {error}"));
                let addresses = compiled.private_addresses().iter().map(ToString::to_string);
                let have: Vec<String> = compiled.private_names().map(str::to_owned).chain(addresses).collect();
                let expected: Vec<&str> = expected.iter().filter_map(Json::as_str).collect();
                assert_eq!(have, expected);
            }
            Some(count) => {
                assert_eq!(number(count), i64::try_from(compiled.unwrap().private_names().count()).ok());
            }
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.5
#[test]
fn every_pinned_request() {
    let file = load("egress.json");
    for case in section(&file, "pinned_requests") {
        let id = text(case, "id");
        let url = match id {
            "url-8193" => format!("https://api.example/{}", "x".repeat(8193 - 20)),
            _ => text(case, "url").to_owned(),
        };
        let egress = policy(flag(case, "allow_loopback"), &texts(case, "private_hosts")).compile().unwrap();
        let given: Vec<IpAddr> = texts(case, "answers").iter().map(|text| text.parse().unwrap()).collect();
        let answer = parse_url(&url).and_then(|url| {
            let target = egress.check_url(&url, Plaintext::PrivateOnly)?;
            let addresses = egress.check_answers(&target, &given)?;
            Ok((url, target, addresses))
        });
        let Some(expected) = case.get("ok") else {
            assert!(answer.is_err(), "{id}");
            continue;
        };
        let (url, target, addresses) = answer.unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(addresses[0].ip().to_string(), text(expected, "dial"), "{id}");
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        assert_eq!(format!("{}{port}", url.host_str().unwrap()), text(expected, "host_header"), "{id}");
        let server_name = match target.host() {
            TargetHost::Name(name) => name.to_string(),
            TargetHost::Address(address) => address.to_string(),
        };
        let sni = expected.get("sni").and_then(Json::as_str);
        assert_eq!(target.is_tls().then_some(server_name.as_str()), sni, "{id}");
        let origin = expected.get("origin").and_then(Json::as_array).unwrap();
        assert_eq!(Some(url.scheme()), origin[0].as_str(), "{id}");
        assert_eq!(Some(i64::from(target.port())), number(&origin[1]), "{id}");
    }
}

#[test]
fn every_source_url() {
    let file = load("egress.json");
    let egress = EgressPolicy::default().compile().unwrap();
    for case in section(&file, "source_urls") {
        let url = text(case, "url");
        let answer = parse_source_url(url).and_then(|url| {
            let target = egress.check_url(&url, Plaintext::Anywhere)?;
            egress.check_answers(&target, &["93.184.216.34".parse().unwrap()])
        });
        assert_eq!(answer.is_ok(), case.get("ok").is_some(), "{url}: {answer:?}");
        if let Ok(addresses) = answer {
            assert_eq!(addresses[0].ip().to_string(), texts(case, "ok")[0], "{url}");
        }
    }
}

#[test]
fn the_limits() {
    let file = load("egress.json");
    let limits = file.get("limits").unwrap();
    let limit = |name: &str| limits.get(name).and_then(number).and_then(|n| usize::try_from(n).ok());
    assert_eq!(limit("resolved_addresses"), Some(MAX_ANSWERS));
    assert_eq!(limit("url_length"), Some(MAX_URL_BYTES));
    assert_eq!(limit("private_hosts"), Some(MAX_PRIVATE_HOSTS));
}
