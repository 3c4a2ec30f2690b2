//! References of commands and settings (SDK-CONNECTOR-CONTROL-R014.4).

use std::fmt;
use std::sync::Arc;

use scion_domain::credential::{CredentialRefusal, CredentialRequest, RuntimeRef, RuntimeSecretRefusal};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::{Refusal as _, Retry};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

/// Resolves [`RuntimeRef`]s: variables as `env://`, store targets as `openbao://`. No refusal names what was asked for.
#[derive(Clone)]
pub struct RuntimeSecrets {
    connector: ConnectorName,
    provider: Arc<dyn CredentialProvider>,
}

impl RuntimeSecrets {
    /// On behalf of a connector, through a provider (usually a [`ResolverChain`](crate::ResolverChain)).
    pub fn new(connector: ConnectorName, provider: Arc<dyn CredentialProvider>) -> Self {
        Self { connector, provider }
    }

    /// Resolves a reference.
    pub async fn resolve(&self, reference: &RuntimeRef) -> Result<Secret<String>, RuntimeSecretRefusal> {
        let request = CredentialRequest { connector: self.connector.clone(), reference: reference.to_secret_ref()? };
        self.provider.resolve(&request).await.map_err(|refusal| match refusal {
            CredentialRefusal::OutOfScope { .. } | CredentialRefusal::Denied { .. } => RuntimeSecretRefusal::Denied,
            CredentialRefusal::NoProvider { .. } => RuntimeSecretRefusal::NoStore,
            other if other.retry() == Retry::Never => RuntimeSecretRefusal::Missing,
            _ => RuntimeSecretRefusal::Unavailable,
        })
    }

    /// Parses an argument ([`RuntimeRef::parse`]) and resolves it.
    pub async fn resolve_text(&self, text: &str) -> Result<Secret<String>, RuntimeSecretRefusal> {
        self.resolve(&RuntimeRef::parse(text)?).await
    }
}

impl fmt::Debug for RuntimeSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeSecrets").field("connector", &self.connector).finish_non_exhaustive()
    }
}
