//! The selected provider profile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use scion_credentials::{ResolvedTls, ResolverChain, RuntimeSecrets, resolve_selected_provider};
use scion_domain::credential::ProviderRefusal;

use crate::support::{Counting, connector};

const CONFIGS: &str = r#"{
    "main": {"endpoint": "env://DESK_URL", "tls": {"ca": "vault://apps/desk#CA", "certificate": "vault://apps/desk#CERT",
             "key": "vault://apps/desk#KEY"}, "credentials": {"token": "secret://apps/desk#TOKEN"},
             "selectors": {"region": "env://REGION"}},
    "named": {"endpoint": "env://LOCAL_URL", "tls_profile": "internal-ca"},
    "bad-endpoint": {"endpoint": "env://PLAIN_URL", "tls_profile": "internal-ca"},
    "dangling": {"credentials": {"token": "env://ABSENT"}}
}"#;

struct Setup {
    store: Arc<Counting>,
    secrets: RuntimeSecrets,
}

fn setup() -> Setup {
    let env = Counting::with(&[
        ("env://DESK_URL", "https://desk.example/api"),
        ("env://LOCAL_URL", "http://127.0.0.1:8080"),
        ("env://PLAIN_URL", "http://hunter2.example"),
        ("env://REGION", "eu"),
    ]);
    let store = Counting::with(&[
        ("openbao://apps/desk#CA", "ca pem"),
        ("openbao://apps/desk#CERT", "cert pem"),
        ("openbao://apps/desk#KEY", "hunter2"),
        ("openbao://apps/desk#TOKEN", "hunter2"),
    ]);
    let chain = ResolverChain::builder().env(env).openbao(store.clone()).build();
    Setup { store, secrets: RuntimeSecrets::new(connector("desk"), Arc::new(chain)) }
}

fn environment(configs: &str, selected: &str) -> BTreeMap<String, String> {
    let pairs = [("PROVIDER_CONFIGS", configs), ("AGENT_PROVIDER_PROFILE", selected)];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.19, SDK-CENTRALIZED-CAPABILITIES-R010
#[tokio::test]
async fn the_selected_profile_is_resolved_in_memory_and_closed() {
    let setup = setup();
    let mut provider = resolve_selected_provider(&environment(CONFIGS, "main"), &setup.secrets).await.unwrap();
    assert_eq!(provider.endpoint().unwrap().unwrap().as_str(), "https://desk.example/api");
    assert_eq!(provider.credential("token").unwrap().unwrap().expose(), "hunter2");
    assert_eq!(provider.selector("region").unwrap().unwrap().expose(), "eu");
    assert!(provider.credential("other").unwrap().is_none());
    let Some(ResolvedTls::Material { ca: Some(ca), client: Some((certificate, key)) }) = provider.tls().unwrap() else {
        panic!("no TLS material");
    };
    assert_eq!(
        (ca.expose().as_str(), certificate.expose().as_str(), key.expose().as_str()),
        ("ca pem", "cert pem", "hunter2")
    );
    assert!(!format!("{provider:?}").contains("hunter2"));
    provider.close();
    assert!(matches!(provider.credential("token"), Err(ProviderRefusal::Closed)));
    assert!(matches!(provider.endpoint(), Err(ProviderRefusal::Closed)));
    assert!(matches!(provider.tls(), Err(ProviderRefusal::Closed)));
    let named = resolve_selected_provider(&environment(CONFIGS, "named"), &setup.secrets).await.unwrap();
    assert!(matches!(named.tls().unwrap(), Some(ResolvedTls::Profile(name)) if name == "internal-ca"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.19
#[tokio::test]
async fn each_failure_has_its_code_and_carries_neither_reference_nor_value() {
    let setup = setup();
    let cases = [
        (environment(CONFIGS, ""), "provider_not_selected"),
        (environment(CONFIGS, "hunter2"), "provider_unknown"),
        (environment(" ", "main"), "provider_not_configured"),
        (environment("hunter2", "main"), "provider_configs_malformed"),
        (environment(CONFIGS, "bad-endpoint"), "provider_endpoint_invalid"),
        (environment(CONFIGS, "dangling"), "provider_profile_unresolved"),
    ];
    for (environment, code) in cases {
        let refusal = resolve_selected_provider(&environment, &setup.secrets).await.unwrap_err();
        assert_eq!(refusal.entry().code, code);
        let text = format!("{refusal} {refusal:?}");
        assert!(!text.contains("hunter2") && !text.contains("ABSENT"), "{text}");
    }
    assert_eq!(setup.store.asked(), 0, "a store was asked for a profile that cannot be used");
    setup.store.down.store(true, Ordering::SeqCst);
    let down = resolve_selected_provider(&environment(CONFIGS, "main"), &setup.secrets).await.unwrap_err();
    let code = "runtime_secret_unavailable";
    assert_eq!(down, ProviderRefusal::Unresolved { field: "TLS material", code });
}
