//! Requests of a connector whose people log in by browser (SDK-CONNECTOR-CONTROL-R014.11).

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::auth::{AuthMaterial, AuthRefusal, PkceRefusal, Reason};
use scion_domain::credential::SecretRef;
use scion_domain::http::StatusCode;
use scion_domain::refusal::Refusal as _;
use scion_domain::secret::Secret;
use scion_ports::{RequestAuth, TokenStore};

use crate::cached::{CachedTokens, Mint, Minted};
use crate::factory::{LoginPolicy, bearer};
use crate::pkce::PkceAuthManager;
use crate::refresh::{RefreshMint, store_refused};
use crate::secrets::Secrets;

pub(crate) struct BrowserMint {
    pub refresh: RefreshMint,
    pub manager: Arc<PkceAuthManager>,
    pub store: Arc<dyn TokenStore>,
    pub policy: LoginPolicy,
}

fn login(refusal: &PkceRefusal) -> AuthRefusal {
    AuthRefusal::Login { code: refusal.code() }
}

#[async_trait]
impl Mint for BrowserMint {
    async fn mint(&self, held: Option<&Secret<String>>) -> Result<Minted, AuthRefusal> {
        let account = &self.refresh.account;
        let stored = self.store.load(account).await.map_err(|refusal| store_refused(account, &refusal))?;
        let known = stored.is_some();
        if known {
            match self.refresh.mint(held).await {
                // No refresh token, or one the provider does not take any more: somebody has to log in again.
                Err(AuthRefusal::Rejected { .. } | AuthRefusal::Credential { .. }) => {}
                outcome => return outcome,
            }
        }
        match self.policy {
            LoginPolicy::Refuse if known => Err(login(&PkceRefusal::InteractionRequired)),
            LoginPolicy::Refuse => Err(login(&PkceRefusal::NoCredential)),
            LoginPolicy::Inline => {
                let binding = self.manager.own_binding();
                self.manager.login_loopback(binding).await.map_err(|refusal| login(&refusal))?;
                let gone = || login(&PkceRefusal::PersistenceFailed);
                let (_, tokens) = self.store.load(account).await.map_err(|_| gone())?.ok_or_else(gone)?;
                Ok(Minted { value: tokens.access, expires_at_ms: tokens.expires_at_ms })
            }
        }
    }
}

pub(crate) struct BrowserAuth {
    pub tokens: CachedTokens,
    pub api_key: Option<SecretRef>,
    pub secrets: Secrets,
}

impl BrowserAuth {
    /// A key that is set is used instead of any login.
    async fn key(&self) -> Result<Option<Secret<String>>, AuthRefusal> {
        match &self.api_key {
            Some(reference) => self.secrets.optional(reference).await,
            None => Ok(None),
        }
    }
}

#[async_trait]
impl RequestAuth for BrowserAuth {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        if let Some(key) = self.key().await? {
            return bearer(0, &key);
        }
        let (generation, token) = self.tokens.get(Reason::Use).await?;
        bearer(generation, &token)
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        // Generation 0 was a key: no login may take its place behind the back of who set it.
        if status != StatusCode::UNAUTHORIZED || generation == 0 {
            return Ok(false);
        }
        self.tokens.rejected(generation).await
    }
}
