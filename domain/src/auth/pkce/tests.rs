use proptest::prelude::*;

use super::*;
use crate::auth::{AuthUrl, RedirectMode, read_discovery};
use crate::id::Digest256;

const ISSUER: &str = "https://i.example";

fn discovery(more: &str) -> Discovery {
    let issuer = AuthUrl::parse("issuer", ISSUER).unwrap();
    let body = format!(
        r#"{{"issuer":"{ISSUER}","token_endpoint":"{ISSUER}/t","authorization_endpoint":"{ISSUER}/a?tenant=x"{more}}}"#
    );
    read_discovery(&issuer, body.as_bytes()).unwrap()
}

fn binding(caller: &str) -> PkceBinding {
    PkceBinding {
        connector: "desk".to_owned(),
        caller: caller.to_owned(),
        operation: Digest256::ZERO,
        challenge_ref: "challenge-1".to_owned(),
        grant_ref: Some("grant-7".to_owned()),
    }
}

fn begin() -> Ceremony {
    begin_with(&discovery("")).unwrap()
}

fn begin_with(issuer: &Discovery) -> Result<Ceremony, PkceRefusal> {
    let config = Pkce::issuer(ISSUER, "client", "desk").scope("openid mail");
    let redirect = RedirectBinding::new(RedirectMode::Loopback, "http://127.0.0.1:4711/callback").unwrap();
    let seed = CeremonySeed { verifier: [1; 48], state: [2; 32], nonce: [3; 32] };
    Ceremony::begin(&config, issuer, binding("anna"), redirect, &seed, 1000)
}

fn callback(query: &str) -> Secret<String> {
    Secret::new(format!("http://127.0.0.1:4711/callback?{query}"))
}

fn good() -> Secret<String> {
    callback(&format!("code=c0de&state={}", encode_url(&[2; 32])))
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2, SDK-CONNECTOR-CONTROL-R014.11
#[test]
fn the_verifier_has_64_characters_and_its_challenge_is_s256() {
    // RFC 7636, appendix B.
    assert_eq!(
        challenge_of("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
    let mut ceremony = begin();
    let url = ceremony.challenge().authorization_url.clone();
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let value = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()).unwrap();
    assert_eq!((value("code_challenge_method"), value("tenant")), ("S256".to_owned(), "x".to_owned()));
    let exchange = ceremony.answer(&binding("anna"), &good(), 2000).unwrap();
    assert_eq!(exchange.verifier.expose().len(), 64);
    assert_eq!(value("code_challenge"), challenge_of(exchange.verifier.expose()));
    assert_eq!(value("redirect_uri"), exchange.redirect_url);
    assert_eq!(value("nonce"), exchange.nonce);
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[test]
fn an_issuer_without_s256_or_login_page_is_refused() {
    let plain = discovery(r#","code_challenge_methods_supported":["plain"]"#);
    assert_eq!(begin_with(&plain).unwrap_err(), PkceRefusal::ProviderUnavailable);
    let none = Discovery { authorization: None, ..discovery("") };
    assert_eq!(begin_with(&none).unwrap_err(), PkceRefusal::ProviderUnavailable);
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[test]
fn an_answer_that_does_not_fit_ends_the_login_without_a_token_request() {
    let state = encode_url(&[2; 32]);
    for (answer, expected) in [
        (callback("code=c"), PkceRefusal::StateMismatch),
        (callback(&format!("code=c&state={}", encode_url(&[9; 32]))), PkceRefusal::StateMismatch),
        (callback(&format!("code=c&state={state}&state={state}")), PkceRefusal::StateMismatch),
        (callback(&format!("code=c&code=d&state={state}")), PkceRefusal::StateMismatch),
        (callback(&format!("code=c&state={state}&iss=https://evil.example")), PkceRefusal::StateMismatch),
        (callback(&format!("error=access_denied&state={state}")), PkceRefusal::Cancelled),
        (callback(&format!("error=server_error&state={state}")), PkceRefusal::ProviderUnavailable),
        (callback(&format!("error=login_required&state={state}")), PkceRefusal::InteractionRequired),
        (callback(&format!("state={state}")), PkceRefusal::ProviderUnavailable),
        (Secret::new(format!("http://127.0.0.1:4712/callback?code=c&state={state}")), PkceRefusal::InsecureRedirect),
        (Secret::new(format!("http://127.0.0.1:4711/other?code=c&state={state}")), PkceRefusal::InsecureRedirect),
        (Secret::new(format!("https://127.0.0.1:4711/callback?code=c&state={state}")), PkceRefusal::InsecureRedirect),
        (Secret::new(format!("http://localhost:4711/callback?code=c&state={state}")), PkceRefusal::InsecureRedirect),
        (Secret::new("code=c".to_owned()), PkceRefusal::StateMismatch),
        (callback(&"a".repeat(MAX_REDIRECT_BYTES)), PkceRefusal::StateMismatch),
    ] {
        let mut ceremony = begin();
        assert_eq!(ceremony.answer(&binding("anna"), &answer, 2000).unwrap_err(), expected);
        let again = ceremony.answer(&binding("anna"), &good(), 2001);
        assert_eq!(again.unwrap_err(), expected, "what ended does not go on");
        assert_eq!(ceremony.evidence().outcome, expected.reason());
    }
    let mut named = begin_with(&discovery(r#","authorization_response_iss_parameter_supported":true"#)).unwrap();
    assert_eq!(named.answer(&binding("anna"), &good(), 2000).unwrap_err(), PkceRefusal::StateMismatch);
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.1, SDK-CONNECTOR-CONTROL-R046.4
#[test]
fn a_login_belongs_to_its_caller_and_operation() {
    let mut others = vec![binding("bert"), binding("anna"), binding("anna"), binding("anna"), binding("anna")];
    others[1].operation = Digest256::from_bytes([1; 32]);
    others[2].challenge_ref = "challenge-2".to_owned();
    others[3].connector = "other".to_owned();
    others[4].grant_ref = None;
    let mut ceremony = begin();
    for other in &others {
        assert_eq!(ceremony.answer(other, &good(), 2000).unwrap_err(), PkceRefusal::StateMismatch);
        assert_ne!(other.digest(), binding("anna").digest());
    }
    assert!(ceremony.answer(&binding("anna"), &good(), 2000).is_ok(), "strangers cannot end it");
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.4
#[test]
fn a_repeated_answer_ends_the_exchange() {
    let mut ceremony = begin();
    ceremony.answer(&binding("anna"), &good(), 2000).unwrap();
    assert_eq!(ceremony.answer(&binding("anna"), &good(), 2001).unwrap_err(), PkceRefusal::StateMismatch);
    let receipt = PersistReceipt { account: "desk".to_owned(), version: 1 };
    assert_eq!(ceremony.persisted(receipt.clone(), 2002).unwrap_err(), PkceRefusal::StateMismatch);
    let mut done = begin();
    done.answer(&binding("anna"), &good(), 2000).unwrap();
    done.persisted(receipt, 2001).unwrap();
    assert_eq!(done.answer(&binding("anna"), &good(), 2002).unwrap_err(), PkceRefusal::StateMismatch);
    assert_eq!(done.evidence().outcome, "ready", "what is kept stays kept");
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.2, SDK-CONNECTOR-CONTROL-R046.4, SDK-CONNECTOR-CONTROL-R046.5
#[test]
fn the_deadline_holds_in_each_phase() {
    let mut late = begin();
    assert_eq!(late.challenge().deadline_ms, 121_000);
    assert_eq!(late.answer(&binding("anna"), &good(), 121_000).unwrap_err(), PkceRefusal::InputTimeout);
    let mut slow = begin();
    slow.answer(&binding("anna"), &good(), 120_999).unwrap();
    assert_eq!(slow.remaining_ms(120_999), 1);
    let receipt = PersistReceipt { account: "desk".to_owned(), version: 1 };
    assert_eq!(slow.persisted(receipt.clone(), 121_000).unwrap_err(), PkceRefusal::Expired);
    assert_eq!(slow.evidence().receipt, None);
    let mut unasked = begin();
    assert_eq!(unasked.persisted(receipt, 1001).unwrap_err(), PkceRefusal::StateMismatch);
    let mut cancelled = begin();
    assert_eq!(cancelled.fail(PkceRefusal::Cancelled), PkceRefusal::Cancelled);
    assert_eq!(cancelled.fail(PkceRefusal::Expired), PkceRefusal::Cancelled);
    assert_eq!(cancelled.remaining_ms(1001), 0);
    assert_eq!(cancelled.answer(&binding("anna"), &good(), 1002).unwrap_err(), PkceRefusal::Cancelled);
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.5
#[test]
fn nothing_shown_holds_a_code_a_verifier_or_an_answer() {
    let mut ceremony = begin();
    let exchange = ceremony.answer(&binding("anna"), &good(), 2000).unwrap();
    let result = ceremony.persisted(PersistReceipt { account: "desk.x".to_owned(), version: 4 }, 2001).unwrap();
    let json = serde_json::to_string(&result).unwrap();
    let shown = format!("{ceremony:?}{exchange:?}{result:?}{json}");
    assert!(!shown.contains("c0de") && !shown.contains(exchange.verifier.expose().as_str()), "{shown}");
    assert!(!shown.contains(&encode_url(&[2; 32])));
    assert_eq!(result.evidence.receipt, Some(result.receipt));
    assert_eq!(result.evidence.grant_ref.as_deref(), Some("grant-7"));
    assert_eq!(result.evidence.binding_digest, binding("anna").digest().to_hex());
}

proptest! {
    /// Proves: SDK-CONNECTOR-CONTROL-R046.4
    #[test]
    fn no_other_answer_gets_a_token_request(query in "[ -~]{0,80}", port in 1u16.., path in "[a-z]{0,9}") {
        let mut ceremony = begin();
        let text = Secret::new(format!("http://127.0.0.1:{port}/{path}?{query}"));
        prop_assert!(ceremony.answer(&binding("anna"), &text, 2000).is_err());
    }

    #[test]
    fn loopback_addresses_only(host in "[a-z0-9.]{1,20}") {
        let rule = RedirectBinding::new(RedirectMode::Loopback, &format!("http://{host}:1/x"));
        prop_assert_eq!(rule.is_ok(), crate::http::Url::parse(&format!("http://{host}:1/x"))
            .is_ok_and(|url| url.host_str() == Some("127.0.0.1")));
    }
}
