//! Secrets of an endpoint: always references in the configuration, resolved at connect.

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::auth::AuthRefusal;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::mcp::McpRefusal;
use scion_domain::refusal::{Refusal, Retry};
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

/// The setting that an OAuth client stands in.
const OAUTH: &str = "client_credentials";

/// Says in the endpoint's words why its OAuth client gives no token.
pub(crate) fn login_refusal(refusal: &AuthRefusal) -> McpRefusal {
    let (code, later) = match refusal {
        AuthRefusal::Credential { code, .. } => (*code, *code == "credential_store_unavailable"),
        AuthRefusal::NotDialled { code, .. } | AuthRefusal::Login { code } => (*code, false),
        other => (other.code(), other.retry() != Retry::Never),
    };
    if later {
        McpRefusal::LoginUnavailable { setting: OAUTH, code }
    } else {
        McpRefusal::LoginRefused { setting: OAUTH, code }
    }
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
