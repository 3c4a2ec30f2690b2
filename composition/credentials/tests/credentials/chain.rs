//! The chain and what it is built from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion_conformance::suites::credential_provider::{self, CredentialFixture, VALUE};
use scion_credentials::{InjectedCredentials, ResolverChain, default_resolver};
use scion_domain::credential::{CredentialRefusal, SecretRef, StoreSettingRefusal, StoreSettings};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

use crate::support::{Counting, reference, request};

struct Chained {
    store: Arc<Counting>,
    down: Arc<Counting>,
}

impl Chained {
    fn new() -> Self {
        let stored = [("openbao://apps/desk-mcp/api#token", VALUE), ("openbao://apps/desk-mcp/api#empty", "")];
        let down = Counting::with(&stored);
        down.down.store(true, Ordering::SeqCst);
        Self { store: Counting::with(&stored), down }
    }
}

#[async_trait]
impl CredentialFixture for Chained {
    async fn open(&self) -> Arc<dyn CredentialProvider> {
        Arc::new(ResolverChain::builder().env(Counting::with(&[])).openbao(self.store.clone()).build())
    }

    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>> {
        Some(Arc::new(ResolverChain::builder().openbao(self.down.clone()).build()))
    }

    fn present(&self) -> SecretRef {
        reference("openbao://apps/desk-mcp/api#token")
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
        self.store.asked()
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009, SDK-CONNECTOR-CONTROL-R035
#[tokio::test]
async fn the_chain_keeps_the_obligations_of_a_provider() {
    credential_provider::run(&Chained::new()).await.assert_passed();
}

/// Proves: SDK-CONNECTOR-CONTROL-R035, SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test]
async fn each_kind_goes_to_its_own_provider_and_nowhere_else() {
    let env = Counting::with(&[("env://T", "from env")]);
    let store = Counting::with(&[("openbao://apps/desk-mcp#T", "from store")]);
    let file = Counting::with(&[("file:///run/t", "from file")]);
    let counter = Arc::new(AtomicUsize::new(0));
    let counted = counter.clone();
    let injected = InjectedCredentials::default().with(reference("env://HOST_HELD"), move || {
        counted.fetch_add(1, Ordering::SeqCst);
        Some(Secret::new("from host".to_owned()))
    });
    let chain = ResolverChain::builder().env(env.clone()).openbao(store.clone()).file(file.clone()).injected(injected);
    let chain = chain.build();
    for (text, value) in [
        ("env://T", "from env"),
        ("openbao://apps/desk-mcp#T", "from store"),
        ("file:///run/t", "from file"),
        ("env://HOST_HELD", "from host"),
        ("env://HOST_HELD", "from host"),
    ] {
        assert_eq!(chain.resolve(&request("desk-mcp", text)).await.unwrap().expose(), value);
    }
    assert_eq!((env.asked(), store.asked(), file.asked(), counter.load(Ordering::SeqCst)), (1, 1, 1, 2));
    store.denies.store(true, Ordering::SeqCst);
    let refused = chain.resolve(&request("desk-mcp", "openbao://apps/desk-mcp#T")).await;
    assert!(matches!(refused, Err(CredentialRefusal::Denied { .. })));
    assert_eq!((env.asked(), store.asked(), file.asked()), (1, 2, 1), "another provider was asked after a refusal");
    let outside = chain.resolve(&request("desk-mcp", "openbao://apps/other-mcp#T")).await;
    assert!(matches!(outside, Err(CredentialRefusal::OutOfScope { .. })));
    assert_eq!(store.asked(), 2);
    assert!(!format!("{chain:?}").contains("from"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R035
#[tokio::test]
async fn the_default_resolver_needs_no_store() {
    let opened = AtomicUsize::new(0);
    let build = |pairs: &[(&str, &str)]| {
        let environment: BTreeMap<_, _> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let env = Counting::with(&[("env://T", "value")]);
        default_resolver(&environment, env, None, |settings: StoreSettings| {
            opened.fetch_add(1, Ordering::SeqCst);
            assert_eq!(settings.address.as_str(), "https://bao.example/");
            Ok(Counting::with(&[("openbao://apps/desk-mcp#T", "stored")]))
        })
    };
    let address = ("OPENBAO_ADDR", "https://bao.example");
    for pairs in [&[][..], &[address], &[address, ("OPENBAO_TOKEN_REF", "  ")], &[("OPENBAO_ADDR", "nonsense")]] {
        let chain = build(pairs).unwrap();
        assert_eq!(chain.resolve(&request("desk-mcp", "env://T")).await.unwrap().expose(), "value");
        let stored = chain.resolve(&request("desk-mcp", "openbao://apps/desk-mcp#T")).await;
        assert!(matches!(stored, Err(CredentialRefusal::NoProvider { .. })));
    }
    assert_eq!(opened.load(Ordering::SeqCst), 0);
    let chain = build(&[address, ("OPENBAO_TOKEN_REF", "env://BAO_TOKEN")]).unwrap();
    assert_eq!(chain.resolve(&request("desk-mcp", "openbao://apps/desk-mcp#T")).await.unwrap().expose(), "stored");
    let refused = build(&[address, ("OPENBAO_TOKEN_REF", "openbao://apps/bao#T")]).map(|_| ());
    assert_eq!(refused, Err(StoreSettingRefusal::TokenReference));
}

/// Callers that ask while a lookup is under way get its answer; one that asks after it starts anew.
///
/// Proves: SDK-CONNECTOR-CONTROL-R035
#[tokio::test(start_paused = true)]
async fn one_lookup_serves_those_that_wait_and_nobody_later() {
    let store = Arc::new(Counting { gate: Some(tokio::sync::Semaphore::new(0)), ..Counting::default() });
    store.put("env://T", "first");
    let chain = Arc::new(ResolverChain::builder().env(store.clone()).build());
    let ask = |name: &'static str| {
        let chain = chain.clone();
        tokio::spawn(async move { chain.resolve(&request(name, "env://T")).await.unwrap().expose().clone() })
    };
    let waiting: Vec<_> = (0..20).map(|_| ask("desk-mcp")).collect();
    let other = ask("other-mcp");
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    assert_eq!(store.asked(), 2, "one lookup for each connector");
    store.gate.as_ref().unwrap().add_permits(2);
    for task in waiting {
        assert_eq!(task.await.unwrap(), "first");
    }
    assert_eq!(other.await.unwrap(), "first");
    store.put("env://T", "second");
    store.gate.as_ref().unwrap().add_permits(1);
    assert_eq!(ask("desk-mcp").await.unwrap(), "second");
    assert_eq!(store.asked(), 3);
}

/// Proves: SDK-CONNECTOR-CONTROL-R035
#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_takes_nobody_with_it() {
    let store = Arc::new(Counting { gate: Some(tokio::sync::Semaphore::new(0)), ..Counting::default() });
    store.put("env://T", "value");
    let chain = Arc::new(ResolverChain::builder().env(store.clone()).build());
    let ask = || {
        let chain = chain.clone();
        tokio::spawn(async move { chain.resolve(&request("desk-mcp", "env://T")).await.map(|v| v.expose().clone()) })
    };
    let (first, second) = (ask(), ask());
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    assert_eq!(store.asked(), 2, "the waiting caller carries the lookup on");
    store.gate.as_ref().unwrap().add_permits(1);
    assert_eq!(second.await.unwrap().as_deref(), Ok("value"));
    // All gone: nothing is left of the lookup.
    let lone = ask();
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    lone.abort();
    assert!(lone.await.unwrap_err().is_cancelled());
    store.put("env://T", "later");
    store.gate.as_ref().unwrap().add_permits(1);
    assert_eq!(ask().await.unwrap().as_deref(), Ok("later"));
}
