//! From settings to a verifier.

use std::sync::Arc;

use scion_domain::auth::{ClaimRules, JwtAlgorithm};
use scion_domain::credential::{CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;
use scion_domain::served_security::{ServedSecurityProfile, ServedSecurityRefusal};
use scion_ports::{Clock, CredentialProvider, JwtVerifier, TokenAuthorities, TokenVerifier};

use crate::settings::{KeySource, TokenSource};
use crate::{
    IntrospectionVerifier, IssuerVerifier, KeyVerifier, ServedSecuritySettings, StaticTokenVerifier, TokenKey,
};

/// What verifiers work with.
#[derive(Clone)]
#[allow(missing_docs, reason = "each part is named after its port")]
pub struct SecurityParts {
    pub connector: ConnectorName,
    pub credentials: Arc<dyn CredentialProvider>,
    pub clock: Arc<dyn Clock>,
    pub jwt: Arc<dyn JwtVerifier>,
    pub authorities: Arc<dyn TokenAuthorities>,
}

impl std::fmt::Debug for SecurityParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecurityParts").field("connector", &self.connector).finish_non_exhaustive()
    }
}

impl ServedSecuritySettings {
    /// The verifier and the profile of a listener. Secrets are read now; a document or a key that cannot be used is refused before
    /// anybody listens. Authorization servers are asked with the first token.
    pub async fn open(
        self,
        parts: &SecurityParts,
    ) -> Result<(Arc<dyn TokenVerifier>, ServedSecurityProfile), ServedSecurityRefusal> {
        let Self { profile, source } = self;
        let clock = parts.clock.clone();
        let rules = |issuer: &str| ClaimRules {
            issuer: issuer.to_owned(),
            audience: profile.audience().to_owned(),
            nonce: None,
        };
        let verifier: Arc<dyn TokenVerifier> = match source {
            TokenSource::Static(reference) => {
                let document = parts.secret(&reference, "--static-tokens-ref").await?;
                let read = StaticTokenVerifier::read(&document, profile.audience(), clock);
                Arc::new(read.map_err(|refusal| secret("--static-tokens-ref", refusal.code()))?)
            }
            TokenSource::Jwt { issuer, algorithm, key } => {
                let rules = rules(issuer.as_text());
                let at = match key {
                    KeySource::Discovered => None,
                    KeySource::Jwks(url) => Some(url),
                    KeySource::Pem(pem) => {
                        let verifier = parts.one_key(TokenKey::Pem(pem), algorithm, rules, "--token-public-key")?;
                        return Ok((verifier, profile));
                    }
                    KeySource::Shared(reference) => {
                        let key = TokenKey::Shared(parts.secret(&reference, "--token-secret-ref").await?);
                        return Ok((parts.one_key(key, algorithm, rules, "--token-secret-ref")?, profile));
                    }
                };
                let keys = parts.authorities.keys(&issuer, at.as_ref());
                Arc::new(IssuerVerifier::new(keys, algorithm, rules))
            }
            TokenSource::Introspected { issuer, client_id, secret } => {
                let authority = parts.authorities.introspection(&issuer, &client_id, &secret);
                Arc::new(IntrospectionVerifier::new(authority, rules(issuer.as_text()), clock))
            }
        };
        Ok((verifier, profile))
    }
}

const fn secret(setting: &'static str, code: &'static str) -> ServedSecurityRefusal {
    ServedSecurityRefusal::Secret { setting, code }
}

impl SecurityParts {
    async fn secret(
        &self,
        reference: &SecretRef,
        setting: &'static str,
    ) -> Result<Secret<String>, ServedSecurityRefusal> {
        let request = CredentialRequest { connector: self.connector.clone(), reference: reference.clone() };
        self.credentials.resolve(&request).await.map_err(|refusal| secret(setting, refusal.code()))
    }

    fn one_key(
        &self,
        key: TokenKey,
        algorithm: JwtAlgorithm,
        rules: ClaimRules,
        setting: &'static str,
    ) -> Result<Arc<dyn TokenVerifier>, ServedSecurityRefusal> {
        let verifier = KeyVerifier::new(key, algorithm, rules, self.jwt.clone(), self.clock.clone());
        Ok(Arc::new(verifier.map_err(|refusal| secret(setting, refusal.code()))?))
    }
}
