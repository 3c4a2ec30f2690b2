//! The Kubernetes login against a real OpenBao server, which asks a token review of our own.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_domain::credential::{CredentialRefusal, StoreLogin};
use scion_lab::{Answer, Lab, TestCa};
use serde_json::json;
use support::{Bootstrap, Server, reference, resolve};

/// A service account token as far as the server reads it before it asks Kubernetes; the review decides.
fn token(name: &str) -> String {
    let part = |value: serde_json::Value| base64_url(value.to_string().as_bytes());
    let claims = json!({
        "iss": "kubernetes/serviceaccount",
        "kubernetes.io/serviceaccount/namespace": "desk",
        "kubernetes.io/serviceaccount/secret.name": "x",
        "kubernetes.io/serviceaccount/service-account.name": name,
        "kubernetes.io/serviceaccount/service-account.uid": "uid-1",
        "sub": format!("system:serviceaccount:desk:{name}"),
    });
    format!("{}.{}.{}", part(json!({"alg": "RS256", "typ": "JWT"})), part(claims), base64_url(b"signature"))
}

fn base64_url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for index in 0..=group.len() {
            out.push(char::from(ALPHABET[(bits >> (18 - 6 * index) & 63) as usize]));
        }
    }
    out
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn a_service_account_logs_in_with_its_mounted_token() {
    let Some(server) = Server::start().await else { return };
    let reviews = Arc::new(AtomicUsize::new(0));
    let counted = reviews.clone();
    let kubernetes = Lab::scripted(move |received| {
        counted.fetch_add(1, Ordering::SeqCst);
        let good = received.text().contains(&token("good"));
        let user = json!({"username": "system:serviceaccount:desk:good", "uid": "uid-1", "groups": []});
        let status = if good { json!({"authenticated": true, "user": user}) } else { json!({"authenticated": false}) };
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status});
        Answer::status(201).with_json(&review).into()
    })
    .await;
    server.put("desk-mcp/api", json!({"token": "value"})).await;
    server.policy("desk", "secret/data/desk-mcp/*").await;
    server.must("sys/auth/kubernetes", json!({"type": "kubernetes"})).await;
    let host = kubernetes.url("/").to_string();
    let config = json!({"kubernetes_host": host.trim_end_matches('/'), "token_reviewer_jwt": token("reviewer"),
        "disable_local_ca_jwt": true, "kubernetes_ca_cert": TestCa::new("kubernetes").pem(), "disable_iss_validation": true});
    server.must("auth/kubernetes/config", config).await;
    let role = json!({"bound_service_account_names": ["good"], "bound_service_account_namespaces": ["desk"],
        "token_policies": ["desk"]});
    server.must("auth/kubernetes/role/desk", role).await;
    let mounted = "file:///var/run/secrets/kubernetes.io/serviceaccount/token";
    let secrets = Bootstrap::with(&[(mounted, &token("good"))]);
    let store = server.open(StoreLogin::kubernetes("desk"), &secrets);
    let text = "openbao://secret/desk-mcp/api#token";
    assert_eq!(resolve(&store, text).await.as_deref(), Ok("value"));
    assert_eq!(resolve(&store, text).await.as_deref(), Ok("value"));
    assert_eq!(reviews.load(Ordering::SeqCst), 1, "one login for both");
    let bad = Bootstrap::with(&[(mounted, &token("bad"))]);
    let refused = resolve(&server.open(StoreLogin::kubernetes("desk"), &bad), text).await;
    assert!(matches!(refused, Err(CredentialRefusal::Denied { .. })), "{refused:?}");
    let none = StoreLogin::Kubernetes { mount: "nowhere".into(), role: "desk".into(), token_ref: reference(mounted) };
    let refused = resolve(&server.open(none, &secrets), text).await;
    assert!(matches!(refused, Err(CredentialRefusal::Denied { .. })), "{refused:?}");
}
