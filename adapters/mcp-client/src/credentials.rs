//! Secrets of an endpoint: always references in the configuration, resolved at connect.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::mcp::McpRefusal;
use scion_domain::refusal::{Refusal, Retry};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

/// Gives the headers of every HTTP request, for credentials that change during a session, such as an OAuth access token.
///
/// Obligations:
/// - **O1** `headers` is asked before each request and answers from memory unless the credential has to be renewed.
/// - **O2** It answers within the deadline of the request that asks.
/// - **O3** Values are secrets: they are marked sensitive and never logged.
#[async_trait]
pub trait HeaderProvider: Send + Sync {
    /// Header names and values for a request to this endpoint.
    async fn headers(&self, endpoint: &str) -> Result<Vec<(String, Secret<String>)>, McpRefusal>;
}

/// Resolves references on behalf of one connector.
#[derive(Clone)]
pub(crate) struct Resolver {
    pub(crate) connector: ConnectorName,
    pub(crate) provider: Option<Arc<dyn CredentialProvider>>,
}

impl Resolver {
    /// Resolves the reference in one setting. `setting` names it for the operator.
    pub(crate) async fn resolve(&self, setting: &str, text: &str) -> Result<Secret<String>, McpRefusal> {
        let unresolved = |reason| McpRefusal::CredentialUnresolved { setting: setting.to_owned(), reason };
        let reference = SecretRef::parse(text).map_err(|_| unresolved("it is not a secret reference"))?;
        let provider = self.provider.as_ref().ok_or_else(|| unresolved("no credential provider is configured"))?;
        let request = CredentialRequest { connector: self.connector.clone(), reference };
        provider.resolve(&request).await.map_err(|refusal| match refusal {
            CredentialRefusal::Missing { .. } => unresolved("nothing is stored under it"),
            CredentialRefusal::OutOfScope { .. } => unresolved("it is outside this connector's scope"),
            CredentialRefusal::NoProvider { .. } => unresolved("no provider knows this kind of reference"),
            CredentialRefusal::Denied { .. } => unresolved("the secret store refuses it"),
            other if other.retry() == Retry::Never => unresolved("the credential provider refuses it"),
            _ => McpRefusal::CredentialUnavailable { setting: setting.to_owned() },
        })
    }

    /// Resolves the environment of a child.
    pub(crate) async fn environment(
        &self,
        env: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Secret<String>>, McpRefusal> {
        let mut resolved = BTreeMap::new();
        for (name, reference) in env {
            resolved.insert(name.clone(), self.resolve(&format!("env.{name}"), reference).await?);
        }
        Ok(resolved)
    }
}
