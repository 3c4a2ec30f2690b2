//! Credentials of sources by name.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_credentials::SourceCredentials;
use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal};
use scion_domain::http::{HeaderValue, HttpProfile, HttpRefusal, OutboundRequest, StatusCode, header};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::Refusal as _;
use scion_ports::{AuthFactory, HttpDialer, HttpExchange, InboundResponse, RequestAuth};

use crate::support::{Counting, connector};

struct NoExchange;

#[async_trait]
impl HttpExchange for NoExchange {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        Err(HttpRefusal::Connect { host: request.url.host_str().unwrap_or_default().to_owned() })
    }
}

/// Opens exchanges that go nowhere and notes under which TLS profile.
#[derive(Default)]
struct Dialer {
    profiles: Mutex<Vec<Option<String>>>,
    /// Why the next ones are not opened.
    failures: Mutex<VecDeque<HttpRefusal>>,
}

#[async_trait]
impl HttpDialer for Dialer {
    async fn open(&self, profile: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        self.profiles.lock().unwrap().push(profile.tls.clone());
        if let Some(refusal) = self.failures.lock().unwrap().pop_front() {
            return Err(refusal);
        }
        Ok(Arc::new(NoExchange))
    }
}

/// A scheme with prepared answers.
struct Prepared {
    answers: Mutex<VecDeque<Result<AuthMaterial, AuthRefusal>>>,
    rejected: AtomicUsize,
}

#[async_trait]
impl RequestAuth for Prepared {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        self.answers.lock().unwrap().pop_front().expect("an answer was prepared")
    }

    async fn rejected(&self, _: u64, _: StatusCode) -> Result<bool, AuthRefusal> {
        self.rejected.fetch_add(1, Ordering::SeqCst);
        Ok(true)
    }
}

/// Opens prepared schemes and notes what was declared.
#[derive(Default)]
struct Factory {
    declared: Mutex<Vec<AuthDeclaration>>,
    answers: Mutex<VecDeque<Result<AuthMaterial, AuthRefusal>>>,
}

#[async_trait]
impl AuthFactory for Factory {
    async fn open(
        &self,
        _: &ConnectorName,
        declaration: &AuthDeclaration,
        _: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        self.declared.lock().unwrap().push(declaration.clone());
        let answers = Mutex::new(std::mem::take(&mut *self.answers.lock().unwrap()));
        Ok(Arc::new(Prepared { answers, rejected: AtomicUsize::new(0) }))
    }
}

const DESCRIPTORS: &str = r#"{
    "feed": {"kind": "keyless"},
    "tickets": {"kind": "api_key", "key_ref": "env://KEY", "name": "x-desk-key"},
    "wiki": {"kind": "cookie_session", "cookie_ref": "env://SESSION", "name": "sid"},
    "people": {"kind": "basic", "username": "ada", "password_ref": "openbao://apps/desk/people#PASSWORD"},
    "mail": {"kind": "oauth2", "token_url": "https://id.example/token", "client_id": "c", "client_secret_ref": "env://S",
             "refresh_token_ref": "env://R", "scope": "mail.read", "tls_profile": "corp"},
    "literal": {"kind": "api_key", "key_ref": "hunter2"},
    "loose": {"kind": "keyless", "verify": false}
}"#;

struct Setup {
    sources: SourceCredentials,
    factory: Arc<Factory>,
    dialer: Arc<Dialer>,
    env: Arc<Counting>,
}

fn setup(answers: Vec<Result<AuthMaterial, AuthRefusal>>) -> Setup {
    let environment = BTreeMap::from([("SOURCE_CREDENTIALS".to_owned(), DESCRIPTORS.to_owned())]);
    let (factory, dialer) = (Arc::new(Factory::default()), Arc::new(Dialer::default()));
    *factory.answers.lock().unwrap() = answers.into();
    let env = Counting::with(&[("env://SESSION", "hunter2")]);
    let desk = connector("desk");
    let profile = HttpProfile::default();
    let sources =
        SourceCredentials::from_environment(&environment, &desk, env.clone(), factory.clone(), dialer.clone(), profile);
    Setup { sources: sources.unwrap(), factory, dialer, env }
}

fn bearer(token: &str, generation: u64) -> AuthMaterial {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    value.set_sensitive(true);
    AuthMaterial { headers: vec![(header::AUTHORIZATION, value)], generation, ..AuthMaterial::default() }
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.6, SDK-CONNECTOR-CONTROL-R900.3
#[tokio::test]
async fn a_source_has_one_credential_however_often_it_is_asked_for() {
    let setup = setup(Vec::new());
    let (first, second) = tokio::join!(setup.sources.get("mail"), setup.sources.get("mail"));
    assert!(Arc::ptr_eq(&first, &second));
    assert!(Arc::ptr_eq(&first, &setup.sources.get("mail").await));
    let declared = setup.factory.declared.lock().unwrap().clone();
    let [AuthDeclaration::RefreshToken(refresh)] = declared.as_slice() else { panic!("{declared:?}") };
    assert_eq!((refresh.token_url.as_str(), refresh.client_id.as_str()), ("https://id.example/token", "c"));
    assert_eq!(refresh.refresh_token_ref.get("refresh").unwrap().to_string(), "env://R");
    assert_eq!(refresh.scope, "mail.read");
    // The token endpoint is called under the TLS profile the descriptor names.
    assert_eq!(*setup.dialer.profiles.lock().unwrap(), [Some("corp".to_owned())]);
    assert_eq!(setup.env.asked(), 0, "building resolves nothing");
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.6
#[tokio::test]
async fn a_failure_that_passes_is_not_kept_and_one_that_stays_is() {
    let setup = setup(vec![Ok(bearer("one", 1))]);
    let status = |source: &str| setup.sources.status().into_iter().find(|status| status.source == source).unwrap();
    let away = HttpRefusal::Connect { host: "id.example".into() };
    setup.dialer.failures.lock().unwrap().extend([away.clone(), away]);
    for _ in 0..2 {
        let keyless = setup.sources.get("mail").await;
        assert_eq!((keyless.kind(), keyless.degraded().unwrap().code()), ("keyless", "source_credential_unresolved"));
        assert!(!status("mail").ready && status("mail").kind == "keyless");
    }
    let mail = setup.sources.get("mail").await;
    assert_eq!((mail.kind(), mail.degraded()), ("oauth2", None));
    assert_eq!(mail.material().await.unwrap().generation, 1);
    assert!(status("mail").ready && Arc::ptr_eq(&mail, &setup.sources.get("mail").await));
    let unknown = HttpRefusal::UnknownProfile { kind: "tls", name: "corp".into() };
    setup.dialer.failures.lock().unwrap().push_back(unknown);
    let people = setup.sources.get("people").await;
    assert_eq!(people.kind(), "keyless");
    assert!(Arc::ptr_eq(&people, &setup.sources.get("people").await), "a refusal that stays was asked for again");
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.1
#[tokio::test]
async fn five_kinds_are_built_and_the_factory_gets_their_declarations() {
    let setup = setup(Vec::new());
    for (source, kind) in [
        ("feed", "keyless"),
        ("tickets", "api_key"),
        ("wiki", "cookie_session"),
        ("people", "basic"),
        ("mail", "oauth2"),
    ] {
        assert_eq!(setup.sources.get(source).await.kind(), kind);
    }
    let declared = setup.factory.declared.lock().unwrap().clone();
    let [AuthDeclaration::ApiKey(key), AuthDeclaration::Basic(basic), AuthDeclaration::RefreshToken(_)] =
        declared.as_slice()
    else {
        panic!("{declared:?}")
    };
    assert_eq!(key.name, "x-desk-key");
    assert_eq!(basic.username.as_deref(), Some("ada"));
    let keyless = setup.sources.get("feed").await.material().await.unwrap();
    assert!(keyless.headers.is_empty() && keyless.query.is_empty());
    let cookie = setup.sources.get("wiki").await;
    for count in 1..=2 {
        let material = cookie.material().await.unwrap();
        assert_eq!((material.headers[0].0.as_str(), material.headers[0].1.as_bytes()), ("cookie", &b"sid=hunter2"[..]));
        assert!(!format!("{material:?}").contains("hunter2"));
        assert_eq!(setup.env.asked(), count, "the cookie is read for each request");
    }
    setup.env.put("env://SESSION", "a; admin=1");
    assert!(cookie.material().await.is_err(), "a cookie with a second one inside was sent");
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.2
#[tokio::test]
async fn a_refresh_that_fails_sends_no_header_and_the_status_says_so() {
    let unreachable = || Err(AuthRefusal::Unreachable { authority: "id.example".into() });
    let setup = setup(vec![Ok(bearer("one", 1)), unreachable(), Ok(bearer("two", 2))]);
    let mail = setup.sources.get("mail").await;
    let status = || setup.sources.status().into_iter().find(|status| status.source == "mail").unwrap();
    assert_eq!(mail.material().await.unwrap().headers.len(), 1);
    assert!(status().ready);
    let none = mail.material().await.unwrap();
    assert!(none.headers.is_empty() && none.query.is_empty());
    let told = status();
    assert!(!told.ready);
    let text = serde_json::to_string(&told).unwrap();
    assert!(text.contains("source_credential_not_refreshed") && text.contains("auth_unreachable"), "{text}");
    assert_eq!(mail.material().await.unwrap().generation, 2);
    assert!(status().ready);
    assert_eq!(mail.rejected(2, StatusCode::UNAUTHORIZED).await, Ok(true));
}

/// Proves: SDK-CONNECTOR-CONTROL-R900.4, SDK-CONNECTOR-CONTROL-R900.5, SDK-CONNECTOR-CONTROL-R900
#[tokio::test]
async fn what_cannot_be_built_is_keyless_with_a_reason_and_the_status_has_no_value() {
    let setup = setup(Vec::new());
    for (source, code) in [
        ("literal", "source_credential_literal"),
        ("loose", "source_credential_tls_override"),
        ("nobody", "source_credential_not_configured"),
    ] {
        let credential = setup.sources.get(source).await;
        assert_eq!(credential.kind(), "keyless");
        assert_eq!(credential.degraded().unwrap().entry().code, code);
        assert!(credential.material().await.unwrap().headers.is_empty());
    }
    setup.sources.get("wiki").await.material().await.unwrap();
    let status = setup.sources.status();
    let text = format!("{} {:?}", serde_json::to_string(&status).unwrap(), setup.sources);
    for hidden in ["hunter2", "SESSION", "env://R", "desk/people", "id.example"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
    let states: Vec<_> = status.iter().map(|s| (s.source.as_str(), s.kind, s.ready)).collect();
    let expected = [
        ("feed", "keyless", true),
        ("literal", "keyless", false),
        ("loose", "keyless", false),
        ("mail", "oauth2", true),
        ("people", "basic", true),
        ("tickets", "api_key", true),
        ("wiki", "cookie_session", true),
    ];
    assert_eq!(states, expected);
}
