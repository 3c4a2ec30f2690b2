//! The `CredentialProvider` suite on the environment.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion_conformance::suites::credential_provider::{self, CredentialFixture, VALUE};
use scion_domain::credential::SecretRef;
use scion_local::EnvCredentials;
use scion_ports::CredentialProvider;

#[derive(Default)]
struct Environment {
    lookups: Arc<AtomicUsize>,
}

fn reference(text: &str) -> SecretRef {
    SecretRef::parse(text).unwrap()
}

#[async_trait]
impl CredentialFixture for Environment {
    async fn open(&self) -> Arc<dyn CredentialProvider> {
        let lookups = self.lookups.clone();
        Arc::new(EnvCredentials::new(move |name| {
            lookups.fetch_add(1, Ordering::Relaxed);
            match name {
                "PRESENT" => Some(VALUE.to_owned()),
                "EMPTY" => Some(String::new()),
                _ => None,
            }
        }))
    }

    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>> {
        // An environment is always there.
        None
    }

    fn present(&self) -> SecretRef {
        reference("env://PRESENT")
    }

    fn empty(&self) -> SecretRef {
        reference("env://EMPTY")
    }

    fn absent(&self) -> SecretRef {
        reference("env://ABSENT")
    }

    fn out_of_scope(&self) -> Option<SecretRef> {
        Some(reference("openbao://secret/other-mcp/token#value"))
    }

    fn foreign(&self) -> SecretRef {
        reference("openbao://secret/desk-mcp/token#value")
    }

    fn lookups(&self) -> usize {
        self.lookups.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn the_environment_keeps_the_obligations_of_a_provider() {
    credential_provider::run(&Environment::default()).await.assert_passed();
}
