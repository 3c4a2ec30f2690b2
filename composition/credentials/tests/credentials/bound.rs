//! Nothing is resolved without a current grant (SDK-CONNECTOR-CONTROL-R035).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use scion_conformance::reference::{MemoryAuthority, MemoryRecorder, VirtualClock, demand, grant_for};
use scion_credentials::{BoundCredentials, RequestBinding, ResolverChain};
use scion_domain::credential::access::{AccessOutcome, CredentialAccessRefusal, CredentialEvidence};
use scion_domain::id::TenantId;
use scion_domain::refusal::Refusal as _;
use scion_ports::Clock as _;

use crate::support::{Counting, connector, reference};

pub(crate) const VAULT: &str = "openbao://apps/desk-mcp/api#token";
pub(crate) const VALUE: &str = "hunter2";

pub(crate) struct Setup {
    pub(crate) authority: Arc<MemoryAuthority>,
    pub(crate) recorder: Arc<MemoryRecorder>,
    pub(crate) store: Arc<Counting>,
    env: Arc<Counting>,
    pub(crate) bound: Arc<BoundCredentials>,
    pub(crate) now: i64,
}

pub(crate) fn setup(admitted: &str) -> Setup {
    let (authority, recorder) = (Arc::new(MemoryAuthority::default()), Arc::new(MemoryRecorder::default()));
    let store = Counting::with(&[(VAULT, VALUE), ("openbao://apps/other-mcp/api#token", "neighbour")]);
    let env = Counting::with(&[("env://DESK_TOKEN", VALUE)]);
    let chain = Arc::new(ResolverChain::builder().env(env.clone()).openbao(store.clone()).build());
    let clock = Arc::new(VirtualClock::default());
    let now = clock.unix_millis();
    authority.grant(grant_for(&demand(reference(VAULT)), now + 60_000));
    let bound = BoundCredentials::new(connector(admitted), authority.clone(), recorder.clone(), chain, clock);
    Setup { authority, recorder, store, env, bound: Arc::new(bound), now }
}

pub(crate) fn call() -> RequestBinding {
    let demand = demand(reference(VAULT));
    RequestBinding {
        tenant: demand.tenant,
        principal: demand.principal,
        client: demand.client,
        connector: demand.connector,
        provider: demand.provider,
        audience: demand.audience,
        scopes: demand.scopes,
        resource: demand.resource,
        operation: demand.operation,
        profile: demand.profile,
    }
}

impl Setup {
    async fn code(&self, call: &RequestBinding, text: &str) -> &'static str {
        let refusal = self.bound.resolve(call, &reference(text)).await.unwrap_err();
        assert!(!format!("{refusal} {refusal:?}").contains(VALUE));
        refusal.code()
    }

    fn last(&self) -> CredentialEvidence {
        self.recorder.entries().pop().unwrap()
    }
}

/// One authorized injection; an unrelated client, another tenant and another connector cause no call to the resolver.
///
/// Proves: SDK-CONNECTOR-CONTROL-R035.2, SDK-CONNECTOR-CONTROL-R035.3, SDK-CONNECTOR-CONTROL-R035.6
#[tokio::test(start_paused = true)]
async fn only_the_granted_call_reaches_the_resolver() {
    let setup = setup("desk-mcp");
    let value = setup.bound.resolve(&call(), &reference(VAULT)).await.unwrap();
    assert_eq!(value.expose(), VALUE);
    assert_eq!((setup.store.asked(), setup.authority.asked()), (1, 1));
    let others = [
        RequestBinding { client: "neighbour".into(), ..call() },
        RequestBinding { tenant: TenantId::parse("other").unwrap(), ..call() },
        RequestBinding { principal: "eve".into(), ..call() },
        RequestBinding { connector: connector("other-mcp"), ..call() },
        RequestBinding { audience: "https://evil.example".into(), ..call() },
        RequestBinding { operation: "delete".into(), ..call() },
        RequestBinding { client: String::new(), ..call() },
    ];
    for other in others {
        assert_eq!(setup.code(&other, VAULT).await, "binding_mismatch", "{other:?}");
    }
    let wide = RequestBinding { scopes: ["admin".to_owned()].into(), ..call() };
    assert_eq!(setup.code(&wide, VAULT).await, "scope_denied");
    assert_eq!(setup.code(&call(), "openbao://apps/other-mcp/api#token").await, "scope_denied");
    assert_eq!((setup.store.asked(), setup.env.asked()), (1, 0), "a refused call reached a resolver");
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.2, SDK-CONNECTOR-CONTROL-R035.6
#[tokio::test(start_paused = true)]
async fn a_connector_is_who_was_admitted_and_not_who_it_says() {
    let setup = setup("other-mcp");
    // The call names the granted connector; another one was admitted.
    assert_eq!(setup.code(&call(), VAULT).await, "binding_mismatch");
    assert_eq!((setup.store.asked(), setup.authority.asked()), (0, 0));
    assert_eq!(setup.last().connector, connector("other-mcp"), "the evidence names the admitted one");
    // A grant of its own permits its own credential and no other.
    let own = RequestBinding { connector: connector("other-mcp"), ..call() };
    let mut granted = demand(reference("openbao://apps/other-mcp/api#token"));
    granted.connector = connector("other-mcp");
    setup.authority.grant(grant_for(&granted, setup.now + 60_000));
    let value = setup.bound.resolve(&own, &reference("openbao://apps/other-mcp/api#token")).await.unwrap();
    assert_eq!(value.expose(), "neighbour");
    assert_eq!(setup.code(&own, VAULT).await, "scope_denied");
    assert_eq!(setup.store.asked(), 1);
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.4
#[tokio::test(start_paused = true)]
async fn an_environment_variable_is_no_way_round_a_denied_reference() {
    let setup = setup("desk-mcp");
    setup.authority.revoke("grant-of-assistant");
    assert_eq!(setup.code(&call(), VAULT).await, "revoked");
    // The same process could read the variable; nobody granted it.
    assert_eq!(setup.code(&call(), "env://DESK_TOKEN").await, "binding_mismatch");
    assert_eq!((setup.store.asked(), setup.env.asked()), (0, 0));
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.2, SDK-CONNECTOR-CONTROL-R035.4
#[tokio::test(start_paused = true)]
async fn the_grant_is_checked_before_every_resolution() {
    let setup = setup("desk-mcp");
    setup.bound.resolve(&call(), &reference(VAULT)).await.unwrap();
    tokio::time::advance(std::time::Duration::from_secs(59)).await;
    setup.bound.resolve(&call(), &reference(VAULT)).await.unwrap();
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    assert_eq!(setup.code(&call(), VAULT).await, "grant_expired");
    assert_eq!((setup.store.asked(), setup.authority.asked()), (2, 3));
    setup.authority.unreachable.store(true, Ordering::Relaxed);
    assert_eq!(setup.code(&call(), VAULT).await, "authority_unavailable");
    assert_eq!(setup.store.asked(), 2);
    // A new process starts with nothing: the refusals hold there as well.
    let again = self::setup("desk-mcp");
    again.authority.revoke("grant-of-assistant");
    assert_eq!(again.code(&call(), VAULT).await, "revoked");
    assert_eq!(again.store.asked(), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.4
#[tokio::test(start_paused = true)]
async fn a_credential_that_is_not_there_is_not_a_denial() {
    let setup = setup("desk-mcp");
    setup.store.down.store(true, Ordering::SeqCst);
    let refused = setup.bound.resolve(&call(), &reference(VAULT)).await;
    let cause = "credential_store_unavailable";
    assert_eq!(refused.unwrap_err(), CredentialAccessRefusal::CredentialUnavailable { cause });
    assert_eq!(setup.last().outcome, AccessOutcome::Refused { reason: "credential_unavailable" });
}

/// Proves: SDK-CONNECTOR-CONTROL-R035.5
#[tokio::test(start_paused = true)]
async fn evidence_is_kept_before_the_value_is_resolved() {
    let setup = setup("desk-mcp");
    setup.bound.resolve(&call(), &reference(VAULT)).await.unwrap();
    let entry = setup.last();
    assert_eq!(entry.request, demand(reference(VAULT)).digest());
    assert_eq!((entry.tenant.as_str(), entry.client.as_str(), entry.principal.as_str()), ("acme", "assistant", "ada"));
    assert_eq!(
        (entry.resource.as_str(), entry.operation.as_str(), entry.reference.as_str()),
        ("tickets/42", "close", VAULT)
    );
    let grant = entry.grant.as_ref().unwrap();
    assert_eq!((grant.grant.as_str(), grant.revision), ("grant-of-assistant", 1));
    let receipts = (grant.authorization_receipt.as_deref(), grant.vault_receipt.as_deref());
    assert_eq!(receipts, (Some("authorization-1"), Some("vault-1")));
    assert_eq!((entry.outcome.clone(), entry.at_ms), (AccessOutcome::Authorized, setup.now));
    // Somebody else's attempt is noted under its own name, and before anything is resolved.
    let other = RequestBinding { client: "neighbour".into(), ..call() };
    setup.code(&other, VAULT).await;
    let refused = setup.last();
    assert_eq!((refused.client.as_str(), refused.grant.is_none()), ("neighbour", true));
    assert_eq!(refused.outcome, AccessOutcome::Refused { reason: "binding_mismatch" });
    assert!(!serde_json::to_string(&setup.recorder.entries()).unwrap().contains(VALUE));
    // What cannot be recorded is not resolved; a refusal stays what it is.
    setup.recorder.full.store(true, Ordering::Relaxed);
    let before = setup.store.asked();
    assert_eq!(setup.code(&call(), VAULT).await, "authority_unavailable");
    assert_eq!(setup.code(&other, VAULT).await, "binding_mismatch");
    assert_eq!(setup.store.asked(), before);
}
