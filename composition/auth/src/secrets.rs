//! Secrets of one connector.

use std::sync::Arc;

use scion_domain::auth::AuthRefusal;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef, SecretSource};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

#[derive(Clone)]
pub(crate) struct Secrets {
    pub connector: ConnectorName,
    pub provider: Arc<dyn CredentialProvider>,
}

impl Secrets {
    pub(crate) async fn resolve(&self, source: &SecretSource) -> Result<Secret<String>, AuthRefusal> {
        match source {
            SecretSource::Literal(value) => Ok(value.clone()),
            SecretSource::Reference(reference) => self
                .read(reference)
                .await
                .map_err(|refusal| AuthRefusal::Credential { reference: reference.to_string(), code: refusal.code() }),
        }
    }

    /// The value; `None` when it is not set.
    pub(crate) async fn optional(&self, reference: &SecretRef) -> Result<Option<Secret<String>>, AuthRefusal> {
        match self.read(reference).await {
            Ok(value) => Ok(Some(value)),
            Err(CredentialRefusal::Missing { .. }) => Ok(None),
            Err(refusal) => Err(AuthRefusal::Credential { reference: reference.to_string(), code: refusal.code() }),
        }
    }

    async fn read(&self, reference: &SecretRef) -> Result<Secret<String>, CredentialRefusal> {
        let request = CredentialRequest { connector: self.connector.clone(), reference: reference.clone() };
        self.provider.resolve(&request).await
    }
}
