//! Values for variables that a server only needs to be set.

use std::sync::Arc;

use scion::ports::{CredentialProvider, async_trait};
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::secret::Secret;

/// The value; it is no secret and opens nothing.
pub(super) const PLACEHOLDER: &str = "connector-certify-placeholder";
/// The variable that stands for it. An environment holds references only, so the placeholder has one too.
const VARIABLE: &str = "CONNECTOR_CERTIFY_PLACEHOLDER";

/// The reference to the placeholder.
pub(super) fn reference() -> String {
    format!("env://{VARIABLE}")
}

/// Resolves the placeholder, and everything else as before.
pub(super) struct WithPlaceholder(pub(super) Arc<dyn CredentialProvider>);

#[async_trait]
impl CredentialProvider for WithPlaceholder {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        match &request.reference {
            SecretRef::Env { name } if name == VARIABLE => Ok(Secret::new(PLACEHOLDER.to_owned())),
            _ => self.0.resolve(request).await,
        }
    }
}
