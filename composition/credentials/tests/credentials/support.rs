//! Providers that count.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

pub(crate) fn reference(text: &str) -> SecretRef {
    SecretRef::parse(text).unwrap()
}

pub(crate) fn connector(name: &str) -> ConnectorName {
    ConnectorName::parse(name).unwrap()
}

pub(crate) fn request(name: &str, text: &str) -> CredentialRequest {
    CredentialRequest { connector: connector(name), reference: reference(text) }
}

/// A provider over a map that counts what it is asked, and can wait, fail or refuse.
#[derive(Default)]
pub(crate) struct Counting {
    pub(crate) values: Mutex<HashMap<String, String>>,
    pub(crate) asked: AtomicUsize,
    pub(crate) denies: AtomicBool,
    pub(crate) down: AtomicBool,
    /// Each lookup waits for a permit of it.
    pub(crate) gate: Option<tokio::sync::Semaphore>,
}

impl Counting {
    pub(crate) fn with(pairs: &[(&str, &str)]) -> Arc<Self> {
        let counting = Self::default();
        for (reference, value) in pairs {
            counting.put(reference, value);
        }
        Arc::new(counting)
    }

    pub(crate) fn put(&self, reference: &str, value: &str) {
        self.values.lock().unwrap().insert(reference.to_owned(), value.to_owned());
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl CredentialProvider for Counting {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(gate) = &self.gate {
            gate.acquire().await.unwrap().forget();
        }
        let reference = request.reference.to_string();
        if self.denies.load(Ordering::SeqCst) {
            return Err(CredentialRefusal::Denied { reference });
        }
        if self.down.load(Ordering::SeqCst) {
            return Err(CredentialRefusal::Unavailable { reference });
        }
        let value = self.values.lock().unwrap().get(&reference).cloned().filter(|value| !value.is_empty());
        value.map(Secret::new).ok_or(CredentialRefusal::Missing { reference })
    }
}
