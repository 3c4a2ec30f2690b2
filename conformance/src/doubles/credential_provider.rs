//! Wrong credential providers.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

use crate::reference::MemoryCredentials;
use crate::suites::credential_provider::{CredentialFixture, VALUE};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialFlaw {
    /// Nothing; the reference.
    None,
    /// Asks the store before it checks the scope.
    AsksFirst,
    /// Hands out empty secrets.
    EmptySecret,
    /// Calls an unreachable store a missing value.
    ConfusesUnreachable,
    /// Puts the value into a refusal.
    Leaks,
    /// Calls a foreign kind a missing value.
    ConfusesForeign,
    /// Resolves nothing.
    ResolvesNothing,
}

impl CredentialFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::AsksFirst,
        Self::EmptySecret,
        Self::ConfusesUnreachable,
        Self::Leaks,
        Self::ConfusesForeign,
        Self::ResolvesNothing,
    ];
}

#[derive(Debug)]
struct FlawedCredentials {
    inner: Arc<MemoryCredentials>,
    flaw: CredentialFlaw,
    present: SecretRef,
}

#[async_trait]
impl CredentialProvider for FlawedCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        if self.flaw == CredentialFlaw::AsksFirst {
            let own = CredentialRequest { connector: request.connector.clone(), reference: self.present.clone() };
            let _ = self.inner.resolve(&own).await;
        }
        match (self.flaw, self.inner.resolve(request).await) {
            (CredentialFlaw::EmptySecret, Err(CredentialRefusal::Missing { .. })) => Ok(Secret::new(String::new())),
            (CredentialFlaw::ConfusesUnreachable, Err(CredentialRefusal::Unavailable { .. }))
            | (CredentialFlaw::ConfusesForeign, Err(CredentialRefusal::NoProvider { .. }))
            | (CredentialFlaw::ResolvesNothing, Ok(_)) => Err(CredentialRefusal::Missing { reference }),
            (CredentialFlaw::Leaks, Err(CredentialRefusal::Missing { .. })) => {
                Err(CredentialRefusal::Missing { reference: format!("{reference}, not {VALUE}") })
            }
            (_, answer) => answer,
        }
    }
}

/// A fixture of flawed providers.
#[derive(Debug)]
pub struct FlawedProviders {
    flaw: CredentialFlaw,
    opened: Mutex<Option<Arc<MemoryCredentials>>>,
}

impl FlawedProviders {
    /// With a flaw.
    pub const fn new(flaw: CredentialFlaw) -> Self {
        Self { flaw, opened: Mutex::new(None) }
    }

    fn make(&self, unreachable: bool) -> Arc<dyn CredentialProvider> {
        let mut inner = MemoryCredentials::default().with(&self.present(), VALUE).with(&self.empty(), "");
        inner.unreachable = unreachable;
        let inner = Arc::new(inner);
        *self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(inner.clone());
        Arc::new(FlawedCredentials { inner, flaw: self.flaw, present: self.present() })
    }
}

fn reference(path: &str, field: &str) -> SecretRef {
    SecretRef::OpenBao { mount: "kv".into(), path: path.into(), field: field.into(), version: None }
}

#[async_trait]
impl CredentialFixture for FlawedProviders {
    async fn open(&self) -> Arc<dyn CredentialProvider> {
        self.make(false)
    }

    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>> {
        Some(self.make(true))
    }

    fn present(&self) -> SecretRef {
        reference("desk-mcp/api", "token")
    }

    fn empty(&self) -> SecretRef {
        reference("desk-mcp/api", "empty")
    }

    fn absent(&self) -> SecretRef {
        reference("desk-mcp/api", "absent")
    }

    fn out_of_scope(&self) -> Option<SecretRef> {
        Some(reference("other-mcp/api", "token"))
    }

    fn foreign(&self) -> SecretRef {
        SecretRef::Env { name: "TOKEN".into() }
    }

    fn lookups(&self) -> usize {
        let opened = self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        opened.as_ref().map_or(0, |inner| inner.lookups())
    }
}
