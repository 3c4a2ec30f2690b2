//! Credentials in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

/// A provider of `openbao://` references over a map, scoped to the connector's own name.
#[derive(Debug, Default)]
pub struct MemoryCredentials {
    values: HashMap<String, Secret<String>>,
    /// The store behind it does not answer.
    pub unreachable: bool,
    lookups: AtomicUsize,
}

impl MemoryCredentials {
    /// Stores a value behind a reference.
    #[must_use]
    pub fn with(mut self, reference: &SecretRef, value: &str) -> Self {
        self.values.insert(reference.to_string(), Secret::new(value.to_owned()));
        self
    }

    /// How often the map was asked.
    pub fn lookups(&self) -> usize {
        self.lookups.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl CredentialProvider for MemoryCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let SecretRef::OpenBao { path, .. } = &request.reference else {
            return Err(CredentialRefusal::NoProvider { scheme: request.reference.scheme().to_owned() });
        };
        let reference = request.reference.to_string();
        if path.split('/').next() != Some(request.connector.as_str()) {
            return Err(CredentialRefusal::OutOfScope { reference });
        }
        self.lookups.fetch_add(1, Ordering::Relaxed);
        if self.unreachable {
            return Err(CredentialRefusal::Unavailable { reference });
        }
        let found = self.values.get(&reference).filter(|secret| !secret.expose().is_empty());
        found.cloned().ok_or(CredentialRefusal::Missing { reference })
    }
}
