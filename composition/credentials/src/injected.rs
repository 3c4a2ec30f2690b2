//! Secrets the embedding host holds.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

type Source = dyn Fn() -> Option<Secret<String>> + Send + Sync;

/// Values that the host hands over by reference, each read from the host at each resolution.
#[derive(Clone, Default)]
pub struct InjectedCredentials {
    sources: HashMap<SecretRef, Arc<Source>>,
}

impl InjectedCredentials {
    /// Answers a reference with what a function gives; `None` and the empty text are "not set".
    #[must_use]
    pub fn with(
        mut self,
        reference: SecretRef,
        source: impl Fn() -> Option<Secret<String>> + Send + Sync + 'static,
    ) -> Self {
        self.sources.insert(reference, Arc::new(source));
        self
    }

    /// The answer for a reference it was given; `None` for any other.
    pub(crate) fn get(&self, reference: &SecretRef) -> Option<Result<Secret<String>, CredentialRefusal>> {
        let value = self.sources.get(reference)?().filter(|value| !value.expose().is_empty());
        Some(value.ok_or_else(|| CredentialRefusal::Missing { reference: reference.to_string() }))
    }
}

impl fmt::Debug for InjectedCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.sources.keys().map(ToString::to_string)).finish()
    }
}

#[async_trait]
impl CredentialProvider for InjectedCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        if !request.reference.in_scope_of(&request.connector) {
            return Err(CredentialRefusal::OutOfScope { reference: request.reference.to_string() });
        }
        let scheme = request.reference.scheme();
        self.get(&request.reference).unwrap_or_else(|| Err(CredentialRefusal::NoProvider { scheme: scheme.to_owned() }))
    }
}
