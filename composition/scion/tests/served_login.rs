//! A browser login inside `tools/call`: begun, answered and used by the caller that the host verified, and by nobody else.
#![cfg(all(feature = "http", feature = "mcp-server"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use scion::domain::auth::{Pkce, PkceBinding, PkceRefusal, ProviderTokenProfile};
use scion::domain::egress::EgressPolicy;
use scion::domain::http::{HeaderValue, HttpProfile, Method, OutboundRequest, Url, header};
use scion::domain::id::{ConnectorName, Digest256};
use scion::domain::json::{Json, parse};
use scion::domain::secret::Secret;
use scion::domain::surface::{ArgumentRefusal, CallerIdentity};
use scion::http::{Dialer, OutboundAuth};
use scion::local::{EnvCredentials, FileTokenStore, SystemClock, SystemEntropy};
use scion::ports::{CeremonyAuthority, HttpDialer as _, HttpExchange, TokenStore as _};
use scion::serve::{Connector, Identity, Param, ServedSurface, Tool, ToolContext, ToolRefusal};
use scion_auth::{PkceAuthManager, account_of};
use scion_jwt::Jwt;
use scion_lab::{Idp, IdpClient};
use support::{Session, caller};

const DONE: &str = "https://desk.example/done";

struct Allows;

#[async_trait]
impl CeremonyAuthority for Allows {
    async fn confirm(&self, _: &PkceBinding) -> Result<(), PkceRefusal> {
        Ok(())
    }
}

struct Host {
    idp: Idp,
    exchange: Arc<dyn HttpExchange>,
    config: Pkce,
    store: FileTokenStore,
    manager: Arc<PkceAuthManager>,
    _home: tempfile::TempDir,
}

impl Host {
    async fn new() -> Self {
        let idp = Idp::start(Jwt::new()).await;
        idp.client(IdpClient::public("app").redirect(DONE));
        let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
        let exchange = Dialer::builder().build().open(&HttpProfile { egress, ..HttpProfile::default() }).await.unwrap();
        let home = tempfile::tempdir().unwrap();
        let store = FileTokenStore::new(home.path().join("tokens"));
        let jwt = Arc::new(Jwt::new());
        let (credentials, clock) = (Arc::new(EnvCredentials::of_process()), Arc::new(SystemClock::new()));
        let factory = OutboundAuth::new(credentials, clock, Arc::new(SystemEntropy))
            .jwt(jwt.clone(), jwt)
            .token_store(Arc::new(store.clone()))
            .ceremony_authority(Arc::new(Allows));
        let profile = ProviderTokenProfile::oidc();
        let config = Pkce::issuer(&idp.issuer(), "app", "desk").scope("openid").profile(profile).headless(DONE);
        let name = ConnectorName::parse("desk").unwrap();
        let manager = Arc::new(factory.manager(&name, config.clone(), exchange.clone()).unwrap());
        Self { idp, exchange, config, store, manager, _home: home }
    }

    fn surface(&self) -> ServedSurface {
        let manager = self.manager.clone();
        let begin = Tool::read("begin_login").handle(move |context, _| {
            let manager = manager.clone();
            async move {
                let challenge = manager.begin_headless(binding(verified(&context)?)).await?;
                Ok::<Json, ToolRefusal>(challenge.authorization_url.as_str().into())
            }
        });
        let manager = self.manager.clone();
        let answer = Tool::read("answer_login")
            .param(Param::text("address", "Where the browser ended").up_to(8192))
            .handle(move |context, args| {
                let manager = manager.clone();
                async move {
                    let address = Secret::new(args.text("address")?.to_owned());
                    let done = manager.answer(&binding(verified(&context)?), &address).await?;
                    Ok::<Json, ToolRefusal>(done.evidence.outcome.into())
                }
            });
        let (exchange, url) = (self.exchange.clone(), self.idp.url("/api"));
        let (store, config) = (self.store.clone(), self.config.clone());
        let read = Tool::read("read_api").handle(move |context, _| {
            let (exchange, url, store, config) = (exchange.clone(), url.clone(), store.clone(), config.clone());
            async move {
                let account = account_of("desk", &config, &verified(&context)?.principal);
                let kept = store.load(&account).await?.ok_or(PkceRefusal::InteractionRequired)?;
                let mut request = OutboundRequest::new(Method::GET, url);
                let mut field = HeaderValue::from_str(&format!("Bearer {}", kept.1.access.expose())).unwrap();
                field.set_sensitive(true);
                request.headers.insert(header::AUTHORIZATION, field);
                let status = exchange.send(request).await?.head.status;
                Ok::<Json, ToolRefusal>(i64::from(status.as_u16()).into())
            }
        });
        Connector::builder(Identity::new("desk", "1")).tool(begin).tool(answer).tool(read).build().unwrap()
    }

    /// What a person does: opens the address, is logged in, and copies the address where the browser ended.
    async fn person(&self, told: &str) -> String {
        let message = parse(told).unwrap();
        let text = message.get("result").unwrap().get("content").unwrap().as_array().unwrap()[0].get("text").unwrap();
        let url = Url::parse(text.as_str().unwrap().trim_matches('"')).unwrap();
        let answer = self.exchange.send(OutboundRequest::new(Method::GET, url)).await.unwrap();
        answer.head.headers.get("location").unwrap().to_str().unwrap().to_owned()
    }
}

fn verified(context: &ToolContext) -> Result<&CallerIdentity, ArgumentRefusal> {
    context.caller().ok_or_else(|| ArgumentRefusal::Missing { name: "a verified caller".to_owned() })
}

fn binding(caller: &CallerIdentity) -> PkceBinding {
    PkceBinding {
        connector: "desk".to_owned(),
        caller: caller.principal.clone(),
        operation: Digest256::from_bytes([9; 32]),
        challenge_ref: "login-1".to_owned(),
        grant_ref: Some("grant-1".to_owned()),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R046.6
#[tokio::test]
async fn a_login_in_tool_calls_belongs_to_its_verified_caller() {
    let host = Host::new().await;
    let mut ada = Session::open(caller("acme", "ada", "assistant"), host.surface()).await;
    let mut eve = Session::open(caller("acme", "eve", "assistant"), host.surface()).await;
    let (failed, text) = ada.call("read_api", "{}").await;
    assert!(failed && text.contains("pkce_interaction_required"), "{text}");
    let (failed, told) = ada.call("begin_login", "{}").await;
    assert!(!failed, "{told}");
    let address = format!(r#"{{"address":"{}"}}"#, host.person(&told).await);
    let (failed, text) = eve.call("answer_login", &address).await;
    assert!(failed && text.contains("pkce_state_mismatch"), "{text}");
    assert_eq!(host.idp.count("/token"), 0, "no token request follows another caller's answer");
    let (failed, text) = ada.call("answer_login", &address).await;
    assert!(!failed && text.contains("ready"), "{text}");
    assert!(ada.call("answer_login", &address).await.0, "a replay gets nothing");
    assert_eq!((host.idp.count("/token"), host.idp.count("/api")), (1, 0));
    let (failed, text) = ada.call("read_api", "{}").await;
    assert!(!failed && text.contains("200"), "{text}");
    assert!(eve.call("read_api", "{}").await.0, "the login of one caller is not that of another");
    let mut nobody = Session::open(None, host.surface()).await;
    for tool in ["begin_login", "read_api"] {
        assert!(nobody.call(tool, "{}").await.0, "{tool}");
    }
    assert_eq!((host.idp.count("/token"), host.idp.count("/api")), (1, 1));
    let account = account_of("desk", &host.config, "ada");
    let kept = host.store.load(&account).await.unwrap().unwrap().1;
    for shown in [told, text] {
        assert!(!shown.contains(kept.access.expose().as_str()));
    }
}
