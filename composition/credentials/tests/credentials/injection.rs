//! A credential on its way into a request, and nowhere else.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use scion_conformance::reference::{demand, grant_for};
use scion_conformance::suites::credential_provider::{self, CredentialFixture};
use scion_credentials::{CallCredentials, RequestBinding};
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HeaderValue, HttpProfile, Method, OutboundRequest, Url, header};
use scion_domain::id::TenantId;
use scion_http::Dialer;
use scion_lab::{Answer, Lab};
use scion_ports::{CredentialProvider, HttpDialer as _, HttpExchange};

use crate::bound::{Setup, VALUE, VAULT, call, setup};
use crate::support::{connector, reference};

/// What a connector's tool does: resolve, put the value into the request, send, forget.
async fn call_vendor(
    credentials: &CallCredentials,
    name: &str,
    exchange: &Arc<dyn HttpExchange>,
    url: Url,
) -> Result<u16, CredentialRefusal> {
    let request = CredentialRequest { connector: connector(name), reference: reference(VAULT) };
    let value = credentials.resolve(&request).await?;
    let mut field = HeaderValue::from_str(&format!("Bearer {}", value.expose())).unwrap();
    field.set_sensitive(true);
    let mut request = OutboundRequest::new(Method::POST, url);
    request.headers.insert(header::AUTHORIZATION, field);
    Ok(exchange.send(request).await.unwrap().head.status.as_u16())
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.6, SDK-CONNECTOR-CONTROL-R035.2, SDK-CONNECTOR-CONTROL-R035.3
#[tokio::test]
async fn the_vendor_sees_one_credential_and_nothing_of_the_calls_nobody_granted() {
    let vendor = Lab::always(Answer::ok("{}")).await;
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    let exchange = Dialer::builder().build().open(&HttpProfile { egress, ..HttpProfile::default() }).await.unwrap();
    let setup = setup("desk-mcp");
    let url = vendor.url("/tickets/42/close");
    let granted = setup.bound.for_call(call());
    assert_eq!(call_vendor(&granted, "desk-mcp", &exchange, url.clone()).await, Ok(200));
    let seen = vendor.received();
    assert_eq!((seen.len(), seen[0].header("authorization")), (1, Some(format!("Bearer {VALUE}").as_str())));
    let others = [
        ("desk-mcp", RequestBinding { client: "neighbour".into(), ..call() }),
        ("desk-mcp", RequestBinding { tenant: TenantId::parse("other").unwrap(), ..call() }),
        ("other-mcp", call()),
    ];
    for (name, other) in others {
        let refused = call_vendor(&setup.bound.for_call(other), name, &exchange, url.clone()).await;
        assert!(
            matches!(refused, Err(CredentialRefusal::NotGranted { reason: "binding_mismatch", .. })),
            "{refused:?}"
        );
    }
    setup.authority.revoke("grant-of-assistant");
    let revoked = call_vendor(&granted, "desk-mcp", &exchange, url.clone()).await;
    assert!(matches!(revoked, Err(CredentialRefusal::NotGranted { reason: "revoked", .. })));
    setup.authority.unreachable.store(true, Ordering::Relaxed);
    let silent = call_vendor(&granted, "desk-mcp", &exchange, url).await;
    assert!(matches!(silent, Err(CredentialRefusal::Unavailable { .. })));
    assert_eq!((vendor.received().len(), setup.store.asked()), (1, 1));
    assert_eq!(setup.recorder.entries().len(), 6);
}

struct Granted(Setup);

#[async_trait]
impl CredentialFixture for Granted {
    async fn open(&self) -> Arc<dyn CredentialProvider> {
        Arc::new(self.0.bound.for_call(call()))
    }

    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>> {
        let setup = setup("desk-mcp");
        setup.authority.unreachable.store(true, Ordering::Relaxed);
        Some(Arc::new(setup.bound.for_call(call())))
    }

    fn present(&self) -> SecretRef {
        reference(VAULT)
    }

    fn empty(&self) -> SecretRef {
        reference("openbao://apps/desk-mcp/api#empty")
    }

    fn absent(&self) -> SecretRef {
        reference("openbao://apps/desk-mcp/api#absent")
    }

    fn out_of_scope(&self) -> Option<SecretRef> {
        Some(reference("openbao://apps/other-mcp/api#token"))
    }

    fn foreign(&self) -> SecretRef {
        reference("file:///run/secrets/token")
    }

    fn lookups(&self) -> usize {
        self.0.store.asked()
    }
}

/// The suite of providers holds behind an authority that grants.
///
/// Proves: SDK-CONNECTOR-CONTROL-R035.1
#[tokio::test(start_paused = true)]
async fn a_bound_provider_is_a_provider() {
    let setup = setup("desk-mcp");
    setup.store.put(VAULT, credential_provider::VALUE);
    setup.store.put("openbao://apps/desk-mcp/api#empty", "");
    let granted = Granted(setup);
    for reference in [granted.empty(), granted.absent(), granted.foreign()] {
        granted.0.authority.grant(grant_for(&demand(reference), granted.0.now + 60_000));
    }
    credential_provider::run(&granted).await.assert_passed();
}
