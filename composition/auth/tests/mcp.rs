//! Authorization at an MCP server, over an authority in memory.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

#[path = "common/mod.rs"]
mod common;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_auth::{McpAuthorization, McpClientIdentity, ProgramLogin, ProgramProof};
use scion_domain::auth::AuthRefusal;
use scion_domain::credential::SecretSource;
use scion_domain::http::{Bytes, HeaderMap, HttpRefusal, OutboundRequest, ResponseHead, StatusCode, Url};
use scion_domain::secret::Secret;
use scion_ports::{BodyStream, HttpExchange, InboundResponse, RequestAuth as _};

use common::{MovedClock, Vault, desk, header};

/// An authorization server and the metadata of a resource, as far as a test needs them.
struct Scene {
    /// The resource its metadata names.
    resource: &'static str,
    asked: Mutex<Vec<String>>,
}

struct Body(Option<Bytes>);

#[async_trait]
impl BodyStream for Body {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        Ok(self.0.take())
    }
}

#[async_trait]
impl HttpExchange for Scene {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let form = String::from_utf8_lossy(&request.body).into_owned();
        self.asked.lock().unwrap().push(format!("{} {form}", request.url.path()).trim().to_owned());
        let tokens = self.asked().iter().filter(|line| line.starts_with("/token")).count();
        let body = match request.url.path() {
            "/.well-known/oauth-protected-resource/mcp" => format!(
                r#"{{"resource":"{}","authorization_servers":["https://as.example"],"scopes_supported":["read"]}}"#,
                self.resource
            ),
            "/.well-known/oauth-authorization-server" => {
                r#"{"issuer":"https://as.example","token_endpoint":"https://as.example/token"}"#.to_owned()
            }
            "/token" => format!(r#"{{"access_token":"t{tokens}","token_type":"Bearer","expires_in":3600}}"#),
            _ => String::new(),
        };
        let status = if body.is_empty() { StatusCode::NOT_FOUND } else { StatusCode::OK };
        let head = ResponseHead { status, headers: HeaderMap::new(), url: request.url, redirects: 0 };
        Ok(InboundResponse { head, body: Box::new(Body(Some(Bytes::from(body)))) })
    }
}

impl Scene {
    fn new(resource: &'static str) -> Arc<Self> {
        Arc::new(Self { resource, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn authorization(self: &Arc<Self>) -> McpAuthorization {
        let clock = Arc::new(MovedClock::default());
        let entropy = Arc::new(scion_local::SystemEntropy);
        let factory = scion_auth::OutboundAuth::new(Arc::new(Vault::default()), clock, entropy);
        let secret = SecretSource::Literal(Secret::new("hunter2".to_owned()));
        let program = ProgramLogin { id: "desk".to_owned(), proof: ProgramProof::Secret(secret) };
        let server = Url::parse("https://mcp.example/mcp").unwrap();
        factory.mcp(&desk(), &server, McpClientIdentity::Program(program), self.clone())
    }
}

const CHALLENGE: &str = "Bearer scope=\"read\"";
const TOO_FEW: &str = "Bearer error=\"insufficient_scope\", scope=\"write\"";

#[tokio::test]
async fn the_first_request_has_no_token_and_the_challenge_leads_to_one() {
    let scene = Scene::new("https://mcp.example/mcp");
    let auth = scene.authorization();
    let none = auth.material().await.unwrap();
    assert!(none.headers.is_empty() && scene.asked().is_empty(), "nothing is asked before the server asks");
    assert!(auth.challenged(none.generation, StatusCode::UNAUTHORIZED, &[CHALLENGE]).await.unwrap());
    assert_eq!(header(&auth.material().await.unwrap(), "authorization").unwrap(), "Bearer t1");
    assert_eq!(
        scene.asked(),
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/token grant_type=client_credentials&resource=https%3A%2F%2Fmcp.example%2Fmcp&scope=read",
        ]
    );
    // Whoever was refused with the older material shares the newer one.
    assert!(auth.challenged(none.generation, StatusCode::UNAUTHORIZED, &[CHALLENGE]).await.unwrap());
    assert_eq!(scene.asked().len(), 3);
    assert!(!format!("{auth:?}").contains("hunter2"));
}

#[tokio::test]
async fn metadata_of_another_resource_leads_nowhere() {
    let scene = Scene::new("https://evil.example/mcp");
    let refusal = scene.authorization().challenged(0, StatusCode::UNAUTHORIZED, &[CHALLENGE]).await.unwrap_err();
    assert!(matches!(refusal, AuthRefusal::ForeignResource { .. }), "{refusal:?}");
    assert_eq!(scene.asked().len(), 1, "no authorization server is asked");
}

#[tokio::test]
async fn a_step_up_asks_for_more_once() {
    let scene = Scene::new("https://mcp.example");
    let auth = scene.authorization();
    assert!(auth.challenged(0, StatusCode::UNAUTHORIZED, &[CHALLENGE]).await.unwrap());
    assert!(auth.challenged(1, StatusCode::FORBIDDEN, &[TOO_FEW]).await.unwrap());
    assert!(scene.asked().last().unwrap().ends_with("scope=read+write"), "what was asked for stays in");
    assert!(!auth.challenged(2, StatusCode::FORBIDDEN, &[TOO_FEW]).await.unwrap(), "the same again gets the same");
    assert!(!auth.challenged(2, StatusCode::FORBIDDEN, &["Bearer"]).await.unwrap(), "a plain 403 is final");
}

#[tokio::test]
async fn a_server_that_refuses_every_token_causes_few_logins() {
    let scene = Scene::new("https://mcp.example");
    let auth = scene.authorization();
    for generation in 0..20 {
        let _ = auth.challenged(generation, StatusCode::UNAUTHORIZED, &[CHALLENGE]).await.unwrap();
    }
    assert_eq!(scene.asked().iter().filter(|line| line.starts_with("/token")).count(), 3);
}
