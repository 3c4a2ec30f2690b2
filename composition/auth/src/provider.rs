//! A client-credentials provider for callers that hold the secret itself (SDK-CONNECTOR-CONTROL-R031).

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, ClientCredentials, Grant, Reason};
use scion_domain::credential::SecretSource;
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_ports::{Clock, CredentialProvider, Entropy, HttpExchange, JwtSigner};

use crate::Authority;
use crate::cached::{CachedTokens, Mint, Minted};
use crate::endpoint::TokenEndpoint;
use crate::factory::client_endpoint;
use crate::secrets::Secrets;

pub(crate) struct ClientMint {
    pub endpoint: TokenEndpoint,
    pub audience: String,
    pub scope: String,
}

#[async_trait]
impl Mint for ClientMint {
    async fn mint(&self, _held: Option<&Secret<String>>) -> Result<Minted, AuthRefusal> {
        let grant = Grant::ClientCredentials { audience: &self.audience, resource: "", scope: &self.scope };
        let response = self.endpoint.request(&grant).await?;
        let ttl = i64::try_from(response.ttl_ms).unwrap_or(i64::MAX);
        Ok(Minted { value: response.access, expires_at_ms: self.endpoint.clock.unix_millis().saturating_add(ttl) })
    }
}

/// What a provider works with.
#[derive(Clone)]
#[allow(missing_docs, reason = "each part is named after its port")]
pub struct ProviderParts {
    pub connector: ConnectorName,
    pub credentials: Arc<dyn CredentialProvider>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub signer: Option<Arc<dyn JwtSigner>>,
    pub exchange: Arc<dyn HttpExchange>,
}

impl std::fmt::Debug for ProviderParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderParts").field("connector", &self.connector).finish_non_exhaustive()
    }
}

/// Access tokens by client credentials, kept until 30 s before they expire. The secret may be a reference or the value itself.
pub struct ClientCredentialsTokenProvider {
    tokens: CachedTokens,
    client_id: String,
}

impl std::fmt::Debug for ClientCredentialsTokenProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCredentialsTokenProvider").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl ClientCredentialsTokenProvider {
    /// For a client. `client_secret` takes the place of the declaration's `client_secret_ref`.
    pub fn new(
        client: ClientCredentials,
        client_secret: impl Into<SecretSource>,
        parts: ProviderParts,
    ) -> Result<Self, AuthRefusal> {
        let secret = client_secret.into();
        let mut checked = client.clone();
        // The rest of the declaration is checked as always.
        checked.client_secret_ref = scion_domain::auth::SecretSlot::env("CLIENT_SECRET");
        checked.validate()?;
        let secrets = Secrets { connector: parts.connector, provider: parts.credentials };
        let authority = Authority::new(parts.exchange);
        let endpoint =
            client_endpoint(&client, secret, secrets, authority, &parts.clock, &parts.entropy, parts.signer.as_ref())?;
        let client_id = client.client_id.clone();
        let mint = ClientMint { endpoint, audience: client.audience, scope: client.scope };
        Ok(Self { tokens: CachedTokens::new(Arc::new(mint), parts.clock), client_id })
    }

    /// The token to use now.
    pub async fn token(&self) -> Result<Secret<String>, AuthRefusal> {
        self.tokens.get(Reason::Use).await.map(|(_, token)| token)
    }
}
