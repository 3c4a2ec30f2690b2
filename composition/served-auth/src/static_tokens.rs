//! Tokens that the operator wrote down.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, StaticTokens};
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_domain::served_security::{TokenRefusal, VerifiedToken};
use scion_ports::{Clock, TokenVerifier};

/// Accepts the tokens of a document. They are for this server and nobody else's, so their audience is this server's. The client of a
/// token is its subject.
pub struct StaticTokenVerifier {
    tokens: StaticTokens,
    audience: String,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for StaticTokenVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StaticTokenVerifier").field("tokens", &self.tokens.entries().len()).finish_non_exhaustive()
    }
}

impl StaticTokenVerifier {
    /// Over the text of a document (`wire/mcp-surface.md` 0.4).
    pub fn read(document: &Secret<String>, audience: &str, clock: Arc<dyn Clock>) -> Result<Self, AuthRefusal> {
        Ok(Self { tokens: StaticTokens::read(document.expose())?, audience: audience.to_owned(), clock })
    }
}

#[async_trait]
impl TokenVerifier for StaticTokenVerifier {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let now = crate::seconds(self.clock.as_ref());
        // An expired token is not told from an unknown one: the caller would learn that a guess was right.
        let entry = self.tokens.find(token.expose(), now).ok_or(TokenRefusal::Invalid)?;
        let mut claims: JsonObject = [("sub".to_owned(), Json::from(entry.client_id.as_str()))].into();
        if let Some(tenant) = &entry.tenant_id {
            claims.insert("tenant_id".to_owned(), Json::from(tenant.as_str()));
        }
        #[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes its end")]
        let expires_at = entry.expires_at.as_ref().map(|at| at.as_f64().floor() as i64);
        Ok(VerifiedToken {
            subject: Some(entry.client_id.clone()),
            tenant: entry.tenant_id.clone(),
            client: Some(entry.client_id.clone()),
            scopes: entry.scopes.iter().cloned().collect(),
            audiences: BTreeSet::from([self.audience.clone()]),
            expires_at,
            claims,
        })
    }
}
