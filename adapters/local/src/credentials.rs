//! Secrets in environment variables.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
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

#[async_trait]
impl CredentialProvider for EnvCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        if !request.reference.in_scope_of(&request.connector) {
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
    use scion_domain::id::ConnectorName;
    use scion_domain::json::{Json, parse};

    use super::*;

    fn vectors(section: &str) -> Vec<Json> {
        let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/references.json"));
        let cases = parse(text).unwrap().get(section).unwrap().as_array().unwrap().to_vec();
        assert!(!cases.is_empty());
        cases
    }

    fn text<'c>(case: &'c Json, member: &str) -> &'c str {
        case.get(member).and_then(Json::as_str).unwrap_or_default()
    }

    async fn resolve(connector: &str, reference: &str) -> Result<String, CredentialRefusal> {
        let provider = EnvCredentials::new(|name| match name {
            "PRESENT" | "ANY" => Some("value".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        let request = CredentialRequest {
            connector: ConnectorName::parse(connector).unwrap(),
            reference: SecretRef::parse(reference).unwrap(),
        };
        provider.resolve(&request).await.map(|secret| secret.expose().clone())
    }

    #[tokio::test]
    async fn every_resolution_of_the_vectors() {
        for case in vectors("resolution") {
            let reference = text(&case, "reference");
            if SecretRef::parse(reference).is_err() {
                assert_eq!(text(case.get("error").unwrap(), "type"), "SecretReferenceError");
                continue;
            }
            let resolved = resolve("desk", reference).await;
            match &resolved {
                Ok(value) => assert_eq!(value, text(&case, "ok")),
                Err(refusal) => {
                    assert!(case.get("error").is_some(), "{reference}");
                    let no_provider = matches!(refusal, CredentialRefusal::NoProvider { .. });
                    assert_eq!(no_provider, reference.starts_with("openbao"), "{reference}");
                    assert!(no_provider || matches!(refusal, CredentialRefusal::Missing { .. }), "{reference}");
                }
            }
        }
    }

    #[tokio::test]
    async fn every_scope_of_the_vectors() {
        for case in vectors("connector_scope") {
            let resolved = resolve(text(&case, "connector"), text(&case, "reference")).await;
            let outside = matches!(resolved, Err(CredentialRefusal::OutOfScope { .. }));
            assert_eq!(outside, case.get("error").is_some(), "{}", text(&case, "reference"));
        }
        assert_eq!(format!("{:?}", EnvCredentials::of_process()), "EnvCredentials");
    }
}
