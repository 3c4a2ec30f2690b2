//! From `tools/call` to the vendor: a served tool resolves a credential for the caller that the host verified, and for nobody else.
#![cfg(all(feature = "http", feature = "mcp-server"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion::domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion::domain::egress::EgressPolicy;
use scion::domain::http::{HeaderValue, HttpProfile, Method, OutboundRequest, Url, header};
use scion::domain::id::ConnectorName;
use scion::domain::json::Json;
use scion::domain::secret::Secret;
use scion::domain::surface::{ArgumentRefusal, CallerIdentity};
use scion::http::Dialer;
use scion::ports::{CredentialProvider, HttpDialer as _, HttpExchange};
use scion::serve::{Connector, Identity, ServedSurface, Tool, ToolRefusal};
use scion_conformance::reference::{MemoryAuthority, MemoryRecorder, VirtualClock, demand, grant_for};
use scion_credentials::{BoundCredentials, RequestBinding};
use scion_lab::{Answer, Lab};
use scion_ports::Clock as _;
use support::{Session, caller};

const VAULT: &str = "openbao://apps/desk-mcp/api#token";
const VALUE: &str = "hunter2-of-the-vendor";

/// A secret store that counts what it is asked.
#[derive(Default)]
struct Store(AtomicUsize);

#[async_trait]
impl CredentialProvider for Store {
    async fn resolve(&self, _: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Secret::new(VALUE.to_owned()))
    }
}

/// The host: what outlives a connector's process, and the vendor.
struct Host {
    authority: Arc<MemoryAuthority>,
    recorder: Arc<MemoryRecorder>,
    store: Arc<Store>,
    vendor: Lab,
    exchange: Arc<dyn HttpExchange>,
}

impl Host {
    async fn new() -> Self {
        let authority = Arc::new(MemoryAuthority::default());
        let reference = SecretRef::parse(VAULT).unwrap();
        authority.grant(grant_for(&demand(reference), VirtualClock::default().unix_millis() + 60_000));
        let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
        let profile = HttpProfile { egress, ..HttpProfile::default() };
        Self {
            authority,
            recorder: Arc::default(),
            store: Arc::default(),
            vendor: Lab::always(Answer::ok("{}")).await,
            exchange: Dialer::builder().build().open(&profile).await.unwrap(),
        }
    }

    /// A process of the connector, admitted under this name. Its tool acts for the caller in its context.
    fn surface(&self, admitted: &str) -> ServedSurface {
        let admitted = ConnectorName::parse(admitted).unwrap();
        let bound = Arc::new(BoundCredentials::new(
            admitted.clone(),
            self.authority.clone(),
            self.recorder.clone(),
            self.store.clone(),
            Arc::new(VirtualClock::default()),
        ));
        let (exchange, url) = (self.exchange.clone(), self.vendor.url("/tickets/42/close"));
        let close = Tool::read("close_ticket").description("Closes a ticket.").handle(move |context, _| {
            let (bound, exchange, url, admitted) = (bound.clone(), exchange.clone(), url.clone(), admitted.clone());
            async move {
                let caller =
                    context.caller().ok_or(ArgumentRefusal::Missing { name: "a verified caller".to_owned() })?;
                let reference = SecretRef::parse(VAULT).unwrap();
                let request = CredentialRequest { connector: admitted, reference };
                let value = bound.for_call(binding(caller)).resolve(&request).await?;
                Ok::<Json, ToolRefusal>(post(&*exchange, url, &value).await.into())
            }
        });
        Connector::builder(Identity::new("desk-mcp", "1")).tool(close).build().unwrap()
    }

    fn seen(&self) -> (usize, usize) {
        (self.store.0.load(Ordering::SeqCst), self.vendor.received().len())
    }
}

/// The verified caller, and what the operation needs.
fn binding(caller: &CallerIdentity) -> RequestBinding {
    let needs = demand(SecretRef::parse(VAULT).unwrap());
    RequestBinding {
        tenant: caller.tenant.clone(),
        principal: caller.principal.clone(),
        client: caller.client.clone(),
        connector: needs.connector,
        provider: needs.provider,
        audience: needs.audience,
        scopes: needs.scopes,
        resource: needs.resource,
        operation: needs.operation,
        profile: needs.profile,
    }
}

async fn post(exchange: &dyn HttpExchange, url: Url, value: &Secret<String>) -> i64 {
    let mut field = HeaderValue::from_str(&format!("Bearer {}", value.expose())).unwrap();
    field.set_sensitive(true);
    let mut request = OutboundRequest::new(Method::POST, url);
    request.headers.insert(header::AUTHORIZATION, field);
    exchange.send(request).await.unwrap().head.status.as_u16().into()
}

async fn session(caller: Option<CallerIdentity>, surface: ServedSurface) -> (bool, String) {
    let mut session = Session::open(caller, surface).await;
    let (failed, _) = session.call("close_ticket", "{}").await;
    (failed, session.written)
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.6
#[tokio::test]
async fn a_served_call_injects_one_credential_for_its_verified_caller_and_none_for_others() {
    let host = Host::new().await;
    let (failed, text) = session(caller("acme", "ada", "assistant"), host.surface("desk-mcp")).await;
    assert!(!failed && !text.contains(VALUE), "{text}");
    assert_eq!(host.seen(), (1, 1));
    let sent = host.vendor.received();
    assert_eq!(sent[0].header("authorization"), Some(format!("Bearer {VALUE}").as_str()));
    for (who, admitted) in [
        (caller("acme", "ada", "neighbour"), "desk-mcp"),
        (caller("other", "ada", "assistant"), "desk-mcp"),
        (caller("acme", "eve", "assistant"), "desk-mcp"),
        (caller("acme", "ada", "assistant"), "other-mcp"),
        (None, "desk-mcp"),
    ] {
        let (failed, text) = session(who.clone(), host.surface(admitted)).await;
        assert!(failed && !text.contains(VALUE), "{who:?} {admitted}: {text}");
    }
    assert_eq!(host.seen(), (1, 1), "a refused call reached the store or the vendor");
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.6
#[tokio::test]
async fn revocation_a_restart_and_a_silent_authority_keep_refusing() {
    let host = Host::new().await;
    let ada = || caller("acme", "ada", "assistant");
    assert!(!session(ada(), host.surface("desk-mcp")).await.0);
    host.authority.revoke("grant-of-assistant");
    // Each session has a surface of its own: a new process of the connector.
    for _ in 0..2 {
        let (failed, text) = session(ada(), host.surface("desk-mcp")).await;
        assert!(failed && text.contains("revoked") && !text.contains(VALUE), "{text}");
    }
    host.authority.unreachable.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let (failed, text) = session(ada(), host.surface("desk-mcp")).await;
        assert!(failed && text.contains("credential_store_unavailable") && !text.contains(VALUE), "{text}");
    }
    assert_eq!(host.seen(), (1, 1));
    let kept = format!("{:?}", host.recorder.entries());
    assert!(host.recorder.entries().len() >= 5 && !kept.contains(VALUE));
}
