//! Token endpoints and the client that asks them.

use std::sync::Arc;

use scion_domain::auth::{
    AuthRefusal, AuthUrl, ClientAuth, ClientProof, FormRequest, Grant, JwtAlgorithm, TokenFailure, TokenResponse,
    about_token, assertion_claims, read_token_failure, read_token_response, token_request,
};
use scion_domain::credential::SecretSource;
use scion_domain::http::Bytes;
use scion_domain::secret::Secret;
use scion_ports::{Clock, Entropy, JwtSigner};

use crate::secrets::Secrets;
use crate::{Authority, IssuerMetadata};

/// Where a token endpoint is.
#[derive(Clone)]
pub(crate) enum Place {
    Url(AuthUrl),
    Issuer(Arc<IssuerMetadata>),
}

impl Place {
    async fn url(&self) -> Result<AuthUrl, AuthRefusal> {
        match self {
            Self::Url(url) => Ok(url.clone()),
            Self::Issuer(metadata) => metadata.get().await.map(|document| document.token.clone()),
        }
    }
}

/// What signs client assertions.
#[derive(Clone)]
pub(crate) struct AssertionKey {
    pub signer: Arc<dyn JwtSigner>,
    pub algorithm: JwtAlgorithm,
    pub key_id: Option<String>,
    /// Whom assertions are for, where that is not the token endpoint.
    pub audience: Option<AuthUrl>,
}

/// The client.
#[derive(Clone)]
pub(crate) struct Client {
    pub id: String,
    pub method: ClientAuth,
    /// Read again for each request, so that a rotated secret is used at once.
    pub secret: Option<SecretSource>,
    pub assertion: Option<AssertionKey>,
}

pub(crate) struct TokenEndpoint {
    pub place: Place,
    pub client: Client,
    pub secrets: Secrets,
    pub authority: Authority,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

impl TokenEndpoint {
    /// Asks for tokens. What comes back is good, or a refusal that says whether the authority said no or nothing.
    pub(crate) async fn request(&self, grant: &Grant<'_>) -> Result<TokenResponse, AuthRefusal> {
        let url = self.place.url().await?;
        let form = self.form(&url, |proof: &ClientProof<'_>| token_request(&self.client.id, proof, grant)).await?;
        let (status, body) = self.authority.post_form(&url, &form).await?;
        let authority = url.origin();
        if status == 200 {
            return read_token_response(&body).map_err(|what| AuthRefusal::Malformed { authority, what });
        }
        Err(match read_token_failure(status, &body) {
            TokenFailure::Rejected => AuthRefusal::Rejected { authority },
            TokenFailure::Unreachable => AuthRefusal::Unreachable { authority },
            TokenFailure::Malformed => AuthRefusal::Malformed { authority, what: "status" },
        })
    }

    /// Asks about a token (RFC 7662), or gives it back (RFC 7009); answers status and body.
    pub(crate) async fn about(
        &self,
        url: &AuthUrl,
        token: &Secret<String>,
        hint: &str,
    ) -> Result<(u16, Bytes), AuthRefusal> {
        let form = self.form(url, |proof: &ClientProof<'_>| about_token(&self.client.id, proof, token, hint)).await?;
        self.authority.post_form(url, &form).await
    }

    /// A form with the client's proof for an endpoint.
    async fn form(
        &self,
        url: &AuthUrl,
        make: impl FnOnce(&ClientProof<'_>) -> Result<FormRequest, AuthRefusal>,
    ) -> Result<FormRequest, AuthRefusal> {
        let Some(source) = &self.client.secret else { return make(&ClientProof::Public) };
        let secret = self.secrets.resolve(source).await?;
        match (self.client.method, &self.client.assertion) {
            (ClientAuth::Post, _) => make(&ClientProof::Post(&secret)),
            (ClientAuth::Basic, _) => make(&ClientProof::Basic(&secret)),
            (ClientAuth::PrivateKeyJwt, Some(key)) => {
                let assertion = self.assertion(url, key, &secret)?;
                make(&ClientProof::Assertion(&assertion))
            }
            (ClientAuth::PrivateKeyJwt, None) => {
                Err(AuthRefusal::Configuration { field: "client_auth", what: "needs a signer, and none is configured" })
            }
        }
    }

    fn assertion(
        &self,
        url: &AuthUrl,
        key: &AssertionKey,
        pem: &Secret<String>,
    ) -> Result<Secret<String>, AuthRefusal> {
        let mut id = [0u8; 16];
        self.entropy.fill(&mut id);
        let claims =
            assertion_claims(&self.client.id, key.audience.as_ref().unwrap_or(url), &id, self.clock.unix_millis());
        key.signer.sign(key.algorithm, key.key_id.as_deref(), &claims, pem).map_err(|_| AuthRefusal::Configuration {
            field: "client_secret_ref",
            what: "leads to no private key of the algorithm's kind",
        })
    }
}
