use std::collections::BTreeSet;

use super::*;
use crate::http::{HeaderMap, HeaderValue, StatusCode, header};
use crate::json::JsonObject;

fn profile() -> ServedSecurityProfile {
    ServedSecurityProfile::new("desk", "tickets:read, tickets:write").unwrap()
}

fn words(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn token() -> VerifiedToken {
    VerifiedToken {
        subject: Some("ada".to_owned()),
        tenant: Some("acme".to_owned()),
        client: Some("assistant".to_owned()),
        scopes: words(&["tickets:read", "tickets:write", "more"]),
        audiences: words(&["desk", "other"]),
        expires_at: None,
        claims: JsonObject::new(),
    }
}

fn of(fields: &[&str]) -> Result<String, Unauthenticated> {
    let mut headers = HeaderMap::new();
    for field in fields {
        headers.append(header::AUTHORIZATION, HeaderValue::from_str(field).unwrap());
    }
    bearer(&headers).map(|token| token.expose().clone())
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[test]
fn a_caller_needs_subject_tenant_audience_and_every_scope() {
    let caller = profile().caller(&token()).unwrap();
    assert_eq!(
        (caller.principal.as_str(), caller.tenant.as_str(), caller.client.as_str()),
        ("ada", "acme", "assistant")
    );
    let without = |change: fn(&mut VerifiedToken)| {
        let mut token = token();
        change(&mut token);
        profile().caller(&token).unwrap_err().missing
    };
    assert_eq!(without(|token| token.subject = None), "a subject");
    assert_eq!(without(|token| token.subject = Some("  ".to_owned())), "a subject");
    assert_eq!(without(|token| token.tenant = None), "a tenant");
    assert_eq!(without(|token| token.audiences = words(&["other"])), "the audience");
    assert_eq!(without(|token| token.scopes = words(&["tickets:read"])), "a required scope");
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.18
#[test]
fn a_profile_needs_an_audience_and_an_override_a_reason() {
    assert_eq!(ServedSecurityProfile::new("  ", ""), Err(ServedSecurityRefusal::NoAudience));
    assert!(matches!(ServedSecurityProfile::new("a b", ""), Err(ServedSecurityRefusal::Word { .. })));
    assert!(matches!(ServedSecurityProfile::new("a", "x y"), Err(ServedSecurityRefusal::Word { .. })));
    for reason in ["", "because", "         x", "two\nlines of reason"] {
        assert_eq!(ServedSecurityOverride::new(reason), Err(ServedSecurityRefusal::Reason), "{reason:?}");
    }
    assert_eq!(ServedSecurityOverride::new(" a demo on this machine ").unwrap().reason(), "a demo on this machine");
}

#[test]
fn one_bearer_field_is_a_credential() {
    assert_eq!(of(&["Bearer abc.def"]).unwrap(), "abc.def");
    assert_eq!(of(&["bearer  abc"]).unwrap(), "abc");
    assert_eq!(of(&[]), Err(Unauthenticated::NoCredential));
    for other in ["Basic abc", "Basic", "Negotiate", ""] {
        assert_eq!(of(&[other]), Err(Unauthenticated::NoCredential), "{other:?}");
    }
    let long = format!("Bearer {}", "a".repeat(MAX_TOKEN_BYTES + 1));
    for fields in
        [&["Bearer a", "Bearer b"][..], &["Bearer"], &["Bearer "], &["Bearer a b"], &["Bearer a\"b"], &[&long]]
    {
        assert_eq!(of(fields), Err(Unauthenticated::Invalid), "{fields:.40?}");
    }
}

#[test]
fn answers_say_where_to_get_a_token_and_nothing_else() {
    let none = Unauthenticated::NoCredential.answer(&profile());
    assert_eq!((none.status, none.challenge.as_deref(), none.body), (StatusCode::UNAUTHORIZED, Some("Bearer"), ""));
    let resource = ProtectedResource::new(
        "https://desk.example/mcp",
        &["https://login.example/".to_owned()],
        words(&["tickets:read"]),
    )
    .unwrap();
    assert_eq!(resource.metadata_path(), "/.well-known/oauth-protected-resource/mcp");
    let document = r#"{"authorization_servers":["https://login.example/"],"bearer_methods_supported":["header"],"resource":"https://desk.example/mcp","scopes_supported":["tickets:read"]}"#;
    assert_eq!(resource.document(), document);
    let profile = profile().with_resource(resource);
    let invalid = Unauthenticated::from(TokenRefusal::Audience).answer(&profile);
    let challenge = invalid.challenge.unwrap();
    assert!(challenge.starts_with("Bearer error=\"invalid_token\""), "{challenge}");
    let metadata = "resource_metadata=\"https://desk.example/.well-known/oauth-protected-resource/mcp\"";
    assert!(challenge.ends_with(metadata), "{challenge}");
    assert!(invalid.body.contains("invalid_token") && !invalid.body.contains("audience"));
    let away = Unauthenticated::from(TokenRefusal::Unavailable).answer(&profile);
    assert_eq!((away.status, away.challenge), (StatusCode::SERVICE_UNAVAILABLE, None));
}

#[test]
fn metadata_names_secure_urls_only() {
    for url in [
        "http://desk.example/",
        "https://user@desk.example/",
        "https://desk.example/#x",
        "https://desk.example/?x=1",
        "https://desk .example/",
        "desk",
        "ftp://localhost/",
    ] {
        assert!(ProtectedResource::new(url, &[], BTreeSet::new()).is_err(), "{url}");
    }
    assert!(ProtectedResource::new("http://127.0.0.1:8000/mcp", &[], BTreeSet::new()).is_ok());
}

#[test]
fn metadata_repeats_names_as_they_were_written() {
    let servers = [
        "https://login.example".to_owned(),
        "https://login.example/".to_owned(),
        "https://LOGIN.example/x/".to_owned(),
    ];
    for url in ["https://desk.example", "https://desk.example/", "https://desk.example/mcp/"] {
        let resource = ProtectedResource::new(url, &servers, BTreeSet::new()).unwrap();
        let document = crate::json::parse(&resource.document()).unwrap();
        assert_eq!(document.get("resource").and_then(|text| text.as_str()), Some(url));
        let shown: Vec<_> = document
            .get("authorization_servers")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s.as_str().unwrap())
            .collect();
        assert_eq!(shown, servers);
    }
}
