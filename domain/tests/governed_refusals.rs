//! Refusals of the way out and of the listener that no vector reaches: each with its code and what it says.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use scion_domain::auth::{JwtRefusal, check_times};
use scion_domain::egress::{EgressPolicy, Plaintext, parse_url};
use scion_domain::http::StatusCode;
use scion_domain::json::{Json, parse};
use scion_domain::listener::{BodyBudget, ListenerSettings, cidr_list};
use scion_domain::proxy::ProxyProfile;
use scion_domain::refusal::{Blame, Refusal as _, Retry};
use scion_domain::tls::TlsProfiles;

#[test]
fn a_token_of_the_future_is_refused_beyond_the_skew() {
    let claims = |text: &str| match parse(text).unwrap() {
        Json::Object(claims) => claims,
        other => panic!("{other:?}"),
    };
    for name in ["nbf", "iat"] {
        let at = |ahead: u32| check_times(&claims(&format!(r#"{{"exp":5000,"{name}":{}}}"#, 1000 + ahead)), 1000.0);
        assert_eq!(at(30), Ok(()), "{name}");
        let refusal = at(31).unwrap_err();
        assert_eq!((refusal.code(), &refusal), ("jwt_not_yet", &JwtRefusal::NotYet), "{name}");
    }
}

#[test]
fn a_name_without_addresses_and_a_list_without_end_are_refused() {
    let egress = EgressPolicy::default().compile().unwrap();
    let target = egress.check_url(&parse_url("https://desk.example/").unwrap(), Plaintext::default()).unwrap();
    let refusal = egress.check_answers(&target, &[]).unwrap_err();
    assert_eq!((refusal.code(), refusal.retry()), ("egress_no_answers", Retry::Later));
    let hosts = |count: usize| EgressPolicy {
        allowed_private_hosts: (0..count).map(|n| format!("h{n}.internal")).collect(),
        ..EgressPolicy::default()
    };
    assert!(hosts(256).compile().is_ok());
    let refusal = hosts(257).compile().unwrap_err();
    assert_eq!((refusal.code(), refusal.blame()), ("egress_private_hosts_too_many", Blame::CallerMistake));
    assert!(refusal.to_string().contains("256"), "{refusal}");
}

#[test]
fn a_body_that_dawdles_is_answered_with_408_and_keeps_its_budget() {
    let mut budget = BodyBudget::new(10, Duration::from_secs(30), None).unwrap();
    budget.take(4).unwrap();
    let before = budget.clone();
    assert_eq!(budget.time_left(Duration::from_secs(29)), Ok(Duration::from_secs(1)));
    let refusal = budget.time_left(Duration::from_secs(30)).unwrap_err();
    assert_eq!((refusal.code(), refusal.answer().status), ("listener_body_timeout", StatusCode::REQUEST_TIMEOUT));
    assert_eq!(budget, before);
}

#[test]
fn half_a_key_pair_and_an_entry_that_is_none_name_their_field() {
    let half = ListenerSettings { tls_certfile: Some("c.pem".into()), ..ListenerSettings::default() };
    assert_eq!(half.validate(|_| true).unwrap_err().code(), "listener_tls_pair");
    let host =
        ListenerSettings { allowed_hosts: vec!["desk.example".into(), "*".into()], ..ListenerSettings::default() };
    for refusal in
        [host.validate(|_| true).unwrap_err(), cidr_list(&["10.0.0.0/8".into(), "10.0.0.1/8".into()]).unwrap_err()]
    {
        assert_eq!(refusal.code(), "listener_entry");
        assert!(refusal.to_string().contains('1'), "the place of the entry: {refusal}");
    }
}

#[test]
fn profiles_without_roots_or_with_half_a_credential_are_refused_and_not_repeated() {
    let refused =
        serde_json::from_str::<TlsProfiles>(r#"{"corp": {"platform_roots": false}}"#).unwrap_err().to_string();
    assert!(refused.contains("trusts nobody"), "{refused}");
    for profile in [
        r#"{"address": "http://proxy.example:3128", "username": "env://USER"}"#,
        r#"{"address": "http://proxy.example:3128", "username": "env://USER", "password": "hunter2"}"#,
    ] {
        let refused = serde_json::from_str::<ProxyProfile>(profile).unwrap_err().to_string();
        assert!(refused.contains("not two secret references") && !refused.contains("hunter2"), "{refused}");
    }
}
