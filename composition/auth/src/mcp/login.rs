//! A person's login in a browser on this machine.

use std::time::Duration;

use scion_domain::auth::{
    AuthRefusal, Ceremony, CeremonySeed, Grant, Pkce, PkceBinding, PkceRefusal, RedirectBinding, RedirectMode,
    TOTAL_DEADLINE_MS, TokenResponse,
};
use scion_domain::id::Digest256;
use scion_domain::refusal::Refusal as _;

use super::discovery::{Found, unsuitable};
use super::{McpAuthorization, PersonLogin, client};
use crate::endpoint::TokenEndpoint;
use crate::factory::LoginPolicy;

fn refused(refusal: &PkceRefusal) -> AuthRefusal {
    AuthRefusal::Login { code: refusal.code() }
}

impl McpAuthorization {
    /// Logs a person in, within the 120 s of a login. Dropping the future cancels it.
    pub(super) async fn log_in_person(
        &self,
        person: &PersonLogin,
        found: &Found,
        scope: &str,
    ) -> Result<(TokenEndpoint, TokenResponse), AuthRefusal> {
        if self.parts.policy == LoginPolicy::Refuse {
            return Err(refused(&PkceRefusal::InteractionRequired));
        }
        // A server that does not say so may ignore the challenge, and a stolen code would be enough.
        if !found.server.names_s256 {
            return Err(unsuitable(found.server.endpoints.token.url(), "PKCE with S256"));
        }
        let limit = Duration::from_millis(TOTAL_DEADLINE_MS.unsigned_abs());
        tokio::select! {
            biased;
            outcome = self.ceremony(person, found, scope) => outcome,
            () = self.parts.clock.sleep(limit) => Err(refused(&PkceRefusal::Expired)),
        }
    }

    async fn ceremony(
        &self,
        person: &PersonLogin,
        found: &Found,
        scope: &str,
    ) -> Result<(TokenEndpoint, TokenResponse), AuthRefusal> {
        let failed = |refusal| refused(&refusal);
        let listener = self.parts.listener.as_ref().ok_or_else(|| refused(&PkceRefusal::CallbackUnavailable))?;
        let browser = self.parts.browser.as_ref().ok_or_else(|| refused(&PkceRefusal::BrowserLaunchFailed))?;
        let mut callback = listener.open().await.map_err(failed)?;
        let redirect = RedirectBinding::new(RedirectMode::Loopback, callback.redirect_url()).map_err(failed)?;

        let client = client::of_person(person, found, callback.redirect_url(), scope, &self.authority).await?;
        let resource = &found.resource.resource;
        let config = Pkce::issuer(&found.server.endpoints.issuer, &client.id, "mcp").scope(scope).resource(resource);
        let binding = self.binding();
        let now = self.parts.clock.unix_millis();
        let mut ceremony =
            Ceremony::begin(&config, &found.server.endpoints, binding.clone(), redirect, &self.seed(), now)
                .map_err(failed)?;
        browser.launch(&ceremony.challenge().authorization_url).await.map_err(failed)?;
        let answer = callback.answer().await.map_err(failed)?;
        let exchange = ceremony.answer(&binding, &answer, self.parts.clock.unix_millis()).map_err(failed)?;

        let endpoint = self.endpoint(found, client);
        let grant = Grant::AuthorizationCode {
            code: &exchange.code,
            redirect_url: &exchange.redirect_url,
            verifier: &exchange.verifier,
            resource,
        };
        let tokens = endpoint.request(&grant).await?;
        Ok((endpoint, tokens))
    }

    fn seed(&self) -> CeremonySeed {
        let mut seed = CeremonySeed { verifier: [0; 48], state: [0; 32], nonce: [0; 32] };
        self.parts.entropy.fill(&mut seed.verifier);
        self.parts.entropy.fill(&mut seed.state);
        self.parts.entropy.fill(&mut seed.nonce);
        seed
    }

    /// The login belongs to the connector itself.
    fn binding(&self) -> PkceBinding {
        let mut reference = [0; 16];
        self.parts.entropy.fill(&mut reference);
        let connector = self.parts.secrets.connector.as_str().to_owned();
        PkceBinding {
            caller: connector.clone(),
            connector,
            operation: Digest256::ZERO,
            challenge_ref: scion_domain::base64::encode_url(&reference),
            grant_ref: None,
        }
    }
}
