//! Secrets in environment variables.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::CredentialProvider;

type Reader = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Resolves `env://NAME`. Every connector may read every variable; references of other kinds are
/// [`CredentialRefusal::NoProvider`].
#[derive(Clone)]
pub struct EnvCredentials {
    read: Arc<Reader>,
}

impl EnvCredentials {
    /// Reads variables through a function.
    pub fn new(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { read: Arc::new(read) }
    }

    /// Reads the environment of this process, at each resolution. A value that is not UTF-8 counts as not set.
    pub fn of_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }
}

impl fmt::Debug for EnvCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnvCredentials")
    }
}

/// An `openbao` path is the connector's own name or below it (`wire/mcp-surface.md` 6.5).
fn in_scope(reference: &SecretRef, connector: &ConnectorName) -> bool {
    match reference {
        SecretRef::Env { .. } => true,
        SecretRef::OpenBao { path, .. } => {
            path.strip_prefix(connector.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
    }
}

#[async_trait]
impl CredentialProvider for EnvCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        if !in_scope(&request.reference, &request.connector) {
            return Err(CredentialRefusal::OutOfScope { reference });
        }
        let SecretRef::Env { name } = &request.reference else {
            return Err(CredentialRefusal::NoProvider { scheme: request.reference.scheme().to_owned() });
        };
        match (self.read)(name) {
            Some(value) if !value.is_empty() => Ok(Secret::new(value)),
            _ => Err(CredentialRefusal::Missing { reference }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolve(reference: &str) -> Result<String, CredentialRefusal> {
        let provider = EnvCredentials::new(|name| match name {
            "PRESENT" => Some("value".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        let request = CredentialRequest {
            connector: ConnectorName::parse("desk").unwrap(),
            reference: SecretRef::parse(reference).unwrap(),
        };
        provider.resolve(&request).await.map(|secret| secret.expose().clone())
    }

    #[tokio::test]
    async fn a_set_variable_resolves_and_everything_else_is_refused_by_kind() {
        assert_eq!(resolve("env://PRESENT").await.unwrap(), "value");
        for missing in ["env://EMPTY", "env://ABSENT"] {
            let expected = CredentialRefusal::Missing { reference: missing.to_owned() };
            assert_eq!(resolve(missing).await, Err(expected));
        }
        for own in ["openbao://apps/desk#T", "openbao://apps/desk/sub#T"] {
            assert_eq!(resolve(own).await, Err(CredentialRefusal::NoProvider { scheme: "openbao".to_owned() }));
        }
        for other in ["openbao://apps/other#T", "openbao://apps/desk2#T"] {
            assert!(matches!(resolve(other).await, Err(CredentialRefusal::OutOfScope { .. })), "{other}");
        }
        assert_eq!(format!("{:?}", EnvCredentials::of_process()), "EnvCredentials");
    }
}
