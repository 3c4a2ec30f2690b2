//! Credentials on calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal, Bearer};
use scion_domain::http::{HeaderValue, StatusCode, header};
use scion_domain::id::ConnectorName;
use scion_domain::json::Json;
use scion_ports::{AuthFactory, HttpExchange, RequestAuth, async_trait};

use crate::support::{Script, Token, builder, code, ok, signed, status, with};

/// Proves: SDK-CONNECTOR-CONTROL-R014.10, SDK-CENTRALIZED-CAPABILITIES-R003
#[tokio::test(start_paused = true)]
async fn a_rejected_credential_is_renewed_once() {
    for post in [false, true] {
        let script = Script::new([status(401), ok("{}")]);
        let (client, token) = signed(&script, Token::default()).await;
        let call = if post { client.post("/x") } else { client.get("/x") };
        assert_eq!(code(call.json::<Json>().await), "ok");
        let sent: Vec<_> = script.requests().iter().map(|sent| sent.headers[header::AUTHORIZATION].clone()).collect();
        assert_eq!(sent, ["Bearer tok-1-hunter2", "Bearer tok-2-hunter2"]);
        assert!(sent.iter().all(header::HeaderValue::is_sensitive));
        assert_eq!(token.renewals.load(Ordering::SeqCst), 1);
    }
    let script = Script::new([status(401)]);
    let (client, token) = signed(&script, Token::default()).await;
    assert_eq!(code(client.get("/x").send().await), "response_unauthorized");
    assert_eq!((script.count(), token.renewals.load(Ordering::SeqCst)), (2, 1));
    let script = Script::new([status(401)]);
    let (client, _) = signed(&script, Token { renewable: false, ..Token::default() }).await;
    assert_eq!(code(client.get("/x").send().await), "response_unauthorized");
    assert_eq!(script.count(), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.10, SDK-CENTRALIZED-CAPABILITIES-R006
#[tokio::test(start_paused = true)]
async fn the_secrets_of_the_credential_leave_every_text() {
    let script = Script::new([ok("{}")]);
    let (client, _) = signed(&script, Token { in_query: true, ..Token::default() }).await;
    let response = client.get("/x?api_key=old&page=2").send().await.unwrap();
    let url = &script.requests()[0].url;
    assert_eq!(url.query(), Some("page=2&api_key=tok-1-hunter2"), "the key is there once");
    assert_eq!(response.url().query(), Some("page=2"), "and not in what is handed on");
    let text = "the vendor says: key tok-1-hunter2 is wrong";
    assert_eq!(client.redact(text), "the vendor says: key [REDACTED] is wrong");
    let shown = format!("{client:?} {:?}", client.get("/x"));
    assert!(!shown.contains("hunter2"), "{shown}");
}

/// Callers whose tokens are exchanged each have a first generation of their own.
struct ManyCallers(AtomicUsize);

#[async_trait]
impl RequestAuth for ManyCallers {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let caller = self.0.fetch_add(1, Ordering::SeqCst);
        let value = HeaderValue::from_str(&format!("Bearer caller-{caller}-hunter2")).unwrap();
        Ok(AuthMaterial { headers: vec![(header::AUTHORIZATION, value)], generation: 1, ..AuthMaterial::default() })
    }

    async fn rejected(&self, _: u64, _: StatusCode) -> Result<bool, AuthRefusal> {
        Ok(false)
    }
}

#[async_trait]
impl AuthFactory for ManyCallers {
    async fn open(
        &self,
        _: &ConnectorName,
        _: &AuthDeclaration,
        _: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        Ok(Arc::new(Self(AtomicUsize::new(0))))
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R006
#[tokio::test(start_paused = true)]
async fn the_secrets_of_every_caller_and_of_before_a_renewal_leave_texts() {
    let script = Script::new([status(401), ok("{}")]);
    let (client, _) = signed(&script, Token::default()).await;
    client.get("/x").send().await.unwrap();
    assert_eq!(client.redact("not tok-1-hunter2, tok-2-hunter2"), "not [REDACTED], [REDACTED]");
    let script = Script::new([ok("{}")]);
    let ports = script.ports_with(Arc::new(ManyCallers(AtomicUsize::new(0))));
    let client = builder().auth(Bearer::env("DESK_TOKEN")).build_with(&ports).await.unwrap();
    for _ in 0..100 {
        client.get("/x").send().await.unwrap();
    }
    let text = "caller-98-hunter2 and caller-99-hunter2";
    assert_eq!(client.redact(text), "[REDACTED] and [REDACTED]");
}

#[tokio::test(start_paused = true)]
async fn a_declaration_nobody_can_carry_out_is_refused_when_building() {
    let script = Script::new([ok("{}")]);
    let built = builder().auth(Bearer::env("DESK_TOKEN")).build_with(&script.ports()).await;
    assert_eq!(code(built), "auth_configuration");
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.3
#[tokio::test(start_paused = true)]
async fn an_api_key_is_the_only_identity() {
    let cookies = [("set-cookie", "sid=1"), ("location", "/login"), ("x-kept", "1")];
    let codes = [200, 302, 401, 404, 500];
    for strip_cookies in [true, false] {
        let script = Script::new(codes.map(|code| with(code, &cookies, r#"{"kept":true}"#)));
        let token = Token { strip_cookies, renewable: false, ..Token::default() };
        let (client, _) = signed(&script, token).await;
        for code in codes {
            let response = client.post("/finishOAuth").send_any().await.unwrap();
            assert_eq!(response.status().as_u16(), code);
            assert_eq!(response.headers().contains_key(header::SET_COOKIE), !strip_cookies, "{code}");
            assert_eq!(
                (&response.headers()["location"], &response.headers()["x-kept"]),
                (&"/login".parse().unwrap(), &"1".parse().unwrap())
            );
            assert_eq!(response.json::<Json>().await.unwrap(), Json::from([("kept", true.into())]));
        }
        // An author cannot set one either, and nothing a server set comes back.
        assert_eq!(code(client.get("/x").header("Cookie", "sid=1").send().await), "client_header");
        let calls = (0..8).map(|_| client.post("/x").send_any());
        assert!(futures_util::future::join_all(calls).await.iter().all(Result::is_ok));
        assert!(script.requests().iter().all(|sent| !sent.headers.contains_key(header::COOKIE)));
        assert!(script.requests().iter().all(|sent| sent.headers.contains_key(header::AUTHORIZATION)));
    }
}
