//! The provider against a real OpenBao server in dev mode.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use scion_conformance::suites::credential_provider::{self, CredentialFixture, VALUE};
use scion_domain::credential::{CredentialRefusal, KvVersion, SecretRef, StoreSettings};
use scion_domain::http::Method;
use scion_ports::CredentialProvider;
use serde_json::json;
use support::{Bootstrap, ROOT, Server, by_role, by_token, reference, resolve};

struct Store {
    server: Server,
    secrets: Arc<Bootstrap>,
}

#[async_trait]
impl CredentialFixture for Store {
    async fn open(&self) -> Arc<dyn CredentialProvider> {
        Arc::new(self.server.open(by_token(), &self.secrets))
    }

    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>> {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = StoreSettings::new(&format!("http://127.0.0.1:{nobody}"), by_token()).unwrap();
        Some(Arc::new(self.server.open_with(&settings, &self.secrets)))
    }

    fn present(&self) -> SecretRef {
        reference("openbao://secret/desk-mcp/api#token")
    }

    fn empty(&self) -> SecretRef {
        reference("openbao://secret/desk-mcp/api#empty")
    }

    fn absent(&self) -> SecretRef {
        reference("openbao://secret/desk-mcp/none#token")
    }

    fn out_of_scope(&self) -> Option<SecretRef> {
        Some(reference("openbao://secret/other-mcp/api#token"))
    }

    fn foreign(&self) -> SecretRef {
        reference("env://TOKEN")
    }

    fn lookups(&self) -> usize {
        self.server.exchange.sent.load(Ordering::SeqCst)
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009, SDK-CONNECTOR-CONTROL-R035
#[tokio::test]
async fn the_store_keeps_the_obligations_of_a_provider() {
    let Some(server) = Server::start().await else { return };
    server.put("desk-mcp/api", json!({"token": VALUE, "empty": ""})).await;
    server.put("other-mcp/api", json!({"token": VALUE})).await;
    let secrets = Bootstrap::with(&[("env://BAO_TOKEN", ROOT)]);
    credential_provider::run(&Store { server, secrets }).await.assert_passed();
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn both_engines_versions_policies_and_namespaces() {
    let Some(server) = Server::start().await else { return };
    let secrets = Bootstrap::with(&[("env://BAO_TOKEN", ROOT)]);
    let store = server.open(by_token(), &secrets);
    // Versions: the newest, a named one, a deleted one, a destroyed one.
    for value in ["one", "two", "three", "four"] {
        server.put("desk-mcp/api", json!({"token": value, "number": 5, "list": [1, {"a": null}]})).await;
    }
    server.must("secret/delete/desk-mcp/api", json!({"versions": [2]})).await;
    server.must("secret/destroy/desk-mcp/api", json!({"versions": [3]})).await;
    let at = |version: &str| format!("openbao://secret/desk-mcp/api#token{version}");
    assert_eq!(resolve(&store, &at("")).await.as_deref(), Ok("four"));
    assert_eq!(resolve(&store, &at("@1")).await.as_deref(), Ok("one"));
    for (version, how) in [("@2", "deleted"), ("@3", "destroyed")] {
        let refused = resolve(&store, &at(version)).await;
        assert!(matches!(&refused, Err(CredentialRefusal::VersionGone { what, .. }) if *what == how), "{refused:?}");
    }
    assert!(matches!(resolve(&store, &at("@9")).await, Err(CredentialRefusal::Missing { .. })));
    for field in ["number", "list"] {
        let refused = resolve(&store, &format!("openbao://secret/desk-mcp/api#{field}")).await;
        assert!(matches!(refused, Err(CredentialRefusal::Unusable { .. })), "{refused:?}");
    }
    server.put("desk-mcp/api", json!({"token": "five"})).await;
    assert_eq!(resolve(&store, &at("")).await.as_deref(), Ok("five"), "a value was remembered");
    server.call(Method::DELETE, "secret/data/desk-mcp/api", None).await;
    assert!(matches!(resolve(&store, &at("")).await, Err(CredentialRefusal::VersionGone { .. })));
    // Version 1, found out by asking and by setting.
    server.must("sys/mounts/old", json!({"type": "kv", "options": {"version": "1"}})).await;
    server.must("old/desk-mcp/api", json!({"token": "plain"})).await;
    let mut settings = StoreSettings::new(&server.address(), by_token()).unwrap();
    settings.kv = BTreeMap::from([("old".to_owned(), KvVersion::V1)]);
    for store in [&store, &server.open_with(&settings, &secrets)] {
        assert_eq!(resolve(store, "openbao://old/desk-mcp/api#token").await.as_deref(), Ok("plain"));
        let versioned = resolve(store, "openbao://old/desk-mcp/api#token@1").await;
        assert!(matches!(versioned, Err(CredentialRefusal::Unusable { .. })));
        assert!(matches!(resolve(store, "openbao://old/desk-mcp/no#t").await, Err(CredentialRefusal::Missing { .. })));
    }
    let no_engine = resolve(&store, "openbao://cubbyhole/desk-mcp/api#token").await;
    assert!(matches!(no_engine, Err(CredentialRefusal::Unusable { .. })), "{no_engine:?}");
    // Policies: what the token may not read is denied, and asked for without a new login.
    server.policy("narrow", "old/desk-mcp/*").await;
    let narrow = Bootstrap::with(&[("env://BAO_TOKEN", &server.token("narrow", "1h").await)]);
    let narrow = server.open(by_token(), &narrow);
    assert_eq!(resolve(&narrow, "openbao://old/desk-mcp/api#token").await.as_deref(), Ok("plain"));
    let denied = resolve(&narrow, "openbao://secret/desk-mcp/api#token@1").await;
    assert!(matches!(denied, Err(CredentialRefusal::Denied { .. })), "{denied:?}");
    // Namespaces: the same path, another tenant of the server.
    server.must("sys/namespaces/team", json!({})).await;
    let mount = json!({"type": "kv", "options": {"version": "2"}});
    server.call_in("team", Method::POST, "sys/mounts/apps", Some(mount)).await;
    let data = json!({"data": {"token": "of the team"}});
    for _ in 0..50 {
        // An engine of version 2 needs a moment before it takes its first secret.
        let (status, _) = server.call_in("team", Method::POST, "apps/data/desk-mcp/api", Some(data.clone())).await;
        if status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut settings = StoreSettings::new(&server.address(), by_token()).unwrap();
    settings.namespace = Some("team".into());
    let team = server.open_with(&settings, &secrets);
    assert_eq!(resolve(&team, "openbao://apps/desk-mcp/api#token").await.as_deref(), Ok("of the team"));
    let elsewhere = resolve(&store, "openbao://apps/desk-mcp/api#token").await;
    assert!(matches!(elsewhere, Err(CredentialRefusal::Denied { .. } | CredentialRefusal::Missing { .. })));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn an_app_role_logs_in_renews_and_logs_in_again() {
    let Some(server) = Server::start().await else { return };
    server.put("desk-mcp/api", json!({"token": VALUE})).await;
    server.policy("desk", "secret/data/desk-mcp/*").await;
    server.must("sys/auth/approle", json!({"type": "approle"})).await;
    let role = json!({"token_policies": ["desk"], "token_ttl": "3s", "token_max_ttl": "5s"});
    let (role_id, secret_id) = server.app_role("desk", role).await;
    let secrets = Bootstrap::with(&[("env://ROLE_ID", &role_id), ("env://SECRET_ID", &secret_id)]);
    let store = Arc::new(server.open(by_role(), &secrets));
    let kept = tokio::spawn({
        let store = store.clone();
        async move { store.keep_renewed().await }
    });
    let text = "openbao://secret/desk-mcp/api#token";
    // Longer than the longest life of one token: renewals and a second login lie in between.
    for _ in 0..14 {
        assert_eq!(resolve(&*store, text).await.as_deref(), Ok(VALUE));
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    kept.abort();
    // The operator revokes every token of the role: the next resolution logs in again.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    server.must("sys/leases/revoke-force/auth/approle", json!({})).await;
    assert_eq!(resolve(&*store, text).await.as_deref(), Ok(VALUE));
    // Many at once after that: one login.
    server.must("sys/leases/revoke-force/auth/approle", json!({})).await;
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let all = (0..10).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { resolve(&*store, text).await })
    });
    for task in all.collect::<Vec<_>>() {
        assert_eq!(task.await.unwrap().as_deref(), Ok(VALUE));
    }
    // What the policies do not allow is denied, also by a token made for it.
    let denied = resolve(&*store, "openbao://secret/desk-mcp#token").await;
    assert!(matches!(denied, Err(CredentialRefusal::Denied { .. })), "{denied:?}");
    store.log_out().await.unwrap();
    // A wrong secret id is a denial; a missing one is named.
    let wrong = Bootstrap::with(&[("env://ROLE_ID", &role_id), ("env://SECRET_ID", "hunter2")]);
    let refused = resolve(&server.open(by_role(), &wrong), text).await.unwrap_err();
    assert!(matches!(refused, CredentialRefusal::Denied { .. }) && !refused.to_string().contains("hunter2"));
    let missing = resolve(&server.open(by_role(), &Bootstrap::with(&[("env://ROLE_ID", "x")])), text).await;
    assert!(matches!(missing, Err(CredentialRefusal::Missing { reference }) if reference == "env://SECRET_ID"));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn a_given_token_is_read_again_and_a_dead_one_is_a_denial() {
    let Some(server) = Server::start().await else { return };
    server.put("desk-mcp/api", json!({"token": VALUE})).await;
    server.policy("desk", "secret/data/desk-mcp/*").await;
    let secrets = Bootstrap::with(&[("env://BAO_TOKEN", &server.token("desk", "1h").await)]);
    let store = server.open(by_token(), &secrets);
    let text = "openbao://secret/desk-mcp/api#token";
    assert_eq!(resolve(&store, text).await.as_deref(), Ok(VALUE));
    secrets.put("env://BAO_TOKEN", "hunter2");
    let dead = resolve(&store, text).await.unwrap_err();
    assert!(matches!(dead, CredentialRefusal::Denied { .. }) && !dead.to_string().contains("hunter2"));
    // Rotated by the operator: the next resolution uses it.
    secrets.put("env://BAO_TOKEN", &server.token("desk", "1h").await);
    assert_eq!(resolve(&store, text).await.as_deref(), Ok(VALUE));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn a_limited_or_sealed_server_is_unavailable_and_not_a_denial() {
    let Some(server) = Server::start().await else { return };
    server.put("desk-mcp/api", json!({"token": VALUE})).await;
    let secrets = Bootstrap::with(&[("env://BAO_TOKEN", ROOT)]);
    let store = server.open(by_token(), &secrets);
    let text = "openbao://secret/desk-mcp/api#token";
    assert_eq!(resolve(&store, text).await.as_deref(), Ok(VALUE));
    server.must("sys/quotas/rate-limit/tight", json!({"path": "secret", "rate": 0.01, "interval": "60s"})).await;
    let answers = [resolve(&store, text).await, resolve(&store, text).await];
    assert!(matches!(answers[1], Err(CredentialRefusal::Unavailable { .. })), "{answers:?}");
    server.call(Method::DELETE, "sys/quotas/rate-limit/tight", None).await;
    assert_eq!(resolve(&store, text).await.as_deref(), Ok(VALUE));
    server.must("sys/seal", json!({})).await;
    let sealed = resolve(&store, text).await;
    assert!(matches!(sealed, Err(CredentialRefusal::Unavailable { .. })), "{sealed:?}");
    server.must("sys/unseal", json!({"key": server.unseal_key})).await;
    for _ in 0..50 {
        if resolve(&store, text).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("an unsealed server stays unavailable");
}
