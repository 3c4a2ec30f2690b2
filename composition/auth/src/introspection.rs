//! Questions about tokens of others (RFC 7662), for a server that is called with them.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, AuthUrl, ClientAuth};
use scion_domain::credential::{SecretRef, SecretSource};
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with};
use scion_domain::secret::Secret;
use scion_domain::served_security::TokenRefusal;
use scion_ports::TokenIntrospection;

use crate::endpoint::{Client, Place, TokenEndpoint};
use crate::secrets::Secrets;
use crate::{Authority, IssuerMetadata, ProviderParts};

/// Asks an issuer about tokens, as a client with a secret. The endpoint is the one of the discovery document, or a known one.
pub struct Introspection {
    endpoint: TokenEndpoint,
    metadata: Option<Arc<IssuerMetadata>>,
    known: Option<AuthUrl>,
}

impl std::fmt::Debug for Introspection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Introspection").field("client_id", &self.endpoint.client.id).finish_non_exhaustive()
    }
}

impl Introspection {
    /// With the endpoint that the issuer's discovery document names.
    pub fn discovered(issuer: AuthUrl, client_id: &str, secret: &SecretRef, parts: ProviderParts) -> Self {
        let authority = Authority::new(parts.exchange.clone());
        let metadata = Arc::new(IssuerMetadata::new(issuer, authority, parts.clock.clone()));
        let endpoint = client(Place::Issuer(metadata.clone()), client_id, secret, parts);
        Self { endpoint, metadata: Some(metadata), known: None }
    }

    /// With a known endpoint.
    pub fn at(url: AuthUrl, client_id: &str, secret: &SecretRef, parts: ProviderParts) -> Self {
        let endpoint = client(Place::Url(url.clone()), client_id, secret, parts);
        Self { endpoint, metadata: None, known: Some(url) }
    }

    async fn url(&self) -> Result<AuthUrl, AuthRefusal> {
        if let Some(url) = &self.known {
            return Ok(url.clone());
        }
        let none = AuthRefusal::Configuration { field: "issuer", what: "has no introspection endpoint" };
        let Some(metadata) = &self.metadata else { return Err(none) };
        metadata.get().await?.introspection.clone().ok_or(none)
    }
}

fn client(place: Place, client_id: &str, secret: &SecretRef, parts: ProviderParts) -> TokenEndpoint {
    let client = Client {
        id: client_id.to_owned(),
        method: ClientAuth::Basic,
        secret: Some(SecretSource::Reference(secret.clone())),
        assertion: None,
    };
    TokenEndpoint {
        place,
        client,
        secrets: Secrets { connector: parts.connector, provider: parts.credentials },
        authority: Authority::new(parts.exchange),
        clock: parts.clock,
        entropy: parts.entropy,
    }
}

#[async_trait]
impl TokenIntrospection for Introspection {
    async fn active(&self, token: &Secret<String>) -> Result<JsonObject, TokenRefusal> {
        let away = |_| TokenRefusal::Unavailable;
        let url = self.url().await.map_err(away)?;
        let (status, body) = self.endpoint.about(&url, token, "access_token").await.map_err(away)?;
        let limits = JsonLimits { max_bytes: 256 * 1024, max_depth: 16, max_number_chars: 64 };
        let answer = parse_with(&body, limits);
        let (200, Ok(Json::Object(claims))) = (status, answer) else { return Err(TokenRefusal::Unavailable) };
        match claims.get("active").and_then(Json::as_bool) {
            Some(true) => Ok(claims),
            Some(false) => Err(TokenRefusal::Invalid),
            None => Err(TokenRefusal::Unavailable),
        }
    }
}
