//! Carries out logins in a person's browser. The rules are in `scion_domain::auth::Ceremony`.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::auth::{
    AuthRefusal, Ceremony, CeremonySeed, ClientAuth, CodeExchange, Discovery, Grant, PersistReceipt, Pkce,
    PkceAuthResult, PkceBinding, PkceChallenge, PkceEvidence, PkceRefusal, RedirectBinding, RedirectMode,
    TOTAL_DEADLINE_MS, TokenResponse, parse_issuer,
};
use scion_domain::credential::SecretSource;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::secret::Secret;
use scion_domain::work::StoredTokens;
use scion_ports::{
    BrowserLauncher, CallbackListener, CeremonyAuthority, Clock, CredentialProvider, Entropy, JwtVerifier, TokenStore,
};
use sha2::{Digest as _, Sha256};

use crate::endpoint::{Client, Place, TokenEndpoint};
use crate::profile::ProfileCheck;
use crate::secrets::Secrets;
use crate::{Authority, IssuerKeys, IssuerMetadata};

/// The most logins that are open at once.
const MAX_OPEN: usize = 64;

/// What the manager works with. `store` is where tokens are kept before a login counts; without `listener` and `browser` only the
/// headless mode works.
#[derive(Clone)]
#[allow(missing_docs, reason = "each part is named after its port")]
pub struct PkceParts {
    pub credentials: Arc<dyn CredentialProvider>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub verifier: Arc<dyn JwtVerifier>,
    pub store: Arc<dyn TokenStore>,
    pub listener: Option<Arc<dyn CallbackListener>>,
    pub browser: Option<Arc<dyn BrowserLauncher>>,
    pub authority: Option<Arc<dyn CeremonyAuthority>>,
}

impl std::fmt::Debug for PkceParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PkceParts")
    }
}

/// The account under which the tokens of a caller are kept. Connector, issuer, client and caller are part of it, so that none of
/// them reads the tokens of another.
pub fn account_of(connector: &str, config: &Pkce, caller: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [connector, &config.issuer, &config.client_id, caller] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest = Digest256::from_bytes(hasher.finalize().into()).to_hex();
    format!("{}.{}", config.token_ref, &digest[..32])
}

struct Open {
    ceremony: Mutex<Ceremony>,
    discovery: Arc<Discovery>,
}

impl Open {
    fn lock(&self) -> std::sync::MutexGuard<'_, Ceremony> {
        self.ceremony.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One manager for the logins of a connector with a provider (SDK-CONNECTOR-CONTROL-R046).
pub struct PkceAuthManager {
    config: Pkce,
    connector: ConnectorName,
    parts: PkceParts,
    metadata: Arc<IssuerMetadata>,
    keys: IssuerKeys,
    endpoint: TokenEndpoint,
    open: Mutex<HashMap<String, Arc<Open>>>,
}

impl std::fmt::Debug for PkceAuthManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PkceAuthManager").field("issuer", &self.config.issuer).finish_non_exhaustive()
    }
}

/// What happens to a login when the work on it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtEnd {
    /// Its caller went away: it is cancelled.
    Cancel,
    /// It is over.
    Close,
    /// It waits for its answer.
    Keep,
}

/// A login that is being worked on.
struct Login<'m> {
    manager: &'m PkceAuthManager,
    open: Arc<Open>,
    reference: String,
    at_end: AtEnd,
}

impl Drop for Login<'_> {
    fn drop(&mut self) {
        if self.at_end == AtEnd::Cancel {
            self.open.lock().fail(PkceRefusal::Cancelled);
        }
        if self.at_end != AtEnd::Keep {
            self.manager.opened().remove(&self.reference);
        }
    }
}

impl PkceAuthManager {
    /// For a connector; the declaration is checked, nothing is fetched.
    pub fn new(
        connector: &ConnectorName,
        config: Pkce,
        parts: PkceParts,
        authority: Authority,
    ) -> Result<Self, AuthRefusal> {
        config.validate()?;
        let issuer = parse_issuer("issuer", &config.issuer)?;
        let metadata = Arc::new(IssuerMetadata::new(issuer, authority.clone(), parts.clock.clone()));
        let keys = IssuerKeys::new(metadata.clone(), authority.clone(), parts.clock.clone(), parts.verifier.clone());
        let secret = match &config.client_secret_ref {
            Some(slot) => Some(SecretSource::Reference(slot.get("client_secret_ref")?.clone())),
            None => None,
        };
        let endpoint = TokenEndpoint {
            place: Place::Issuer(metadata.clone()),
            client: Client { id: config.client_id.clone(), method: ClientAuth::Post, secret, assertion: None },
            secrets: Secrets { connector: connector.clone(), provider: parts.credentials.clone() },
            authority,
            clock: parts.clock.clone(),
            entropy: parts.entropy.clone(),
        };
        let connector = connector.clone();
        Ok(Self { config, connector, parts, metadata, keys, endpoint, open: Mutex::default() })
    }

    fn opened(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> i64 {
        self.parts.clock.unix_millis()
    }

    /// A binding for a login that the connector itself needs, outside any call.
    pub fn own_binding(&self) -> PkceBinding {
        let mut reference = [0u8; 16];
        self.parts.entropy.fill(&mut reference);
        PkceBinding {
            connector: self.connector.as_str().to_owned(),
            caller: self.connector.as_str().to_owned(),
            operation: Digest256::ZERO,
            challenge_ref: scion_domain::base64::encode_url(&reference),
            grant_ref: None,
        }
    }

    /// Logs in through a browser on this machine: listener, browser, callback, tokens, store. Ends with the deadline of 120 s.
    /// Dropping the future cancels the login.
    pub async fn login_loopback(&self, binding: PkceBinding) -> Result<PkceAuthResult, PkceRefusal> {
        let listener = self.parts.listener.as_ref().ok_or(PkceRefusal::CallbackUnavailable)?;
        let browser = self.parts.browser.as_ref().ok_or(PkceRefusal::BrowserLaunchFailed)?;
        let mut callback = listener.open().await?;
        let redirect = RedirectBinding::new(RedirectMode::Loopback, callback.redirect_url())?;
        let mut login = self.begin(binding.clone(), redirect).await?;
        let url = login.open.lock().challenge().authorization_url.clone();
        let outcome = async {
            self.within(&login.open, PkceRefusal::Expired, browser.launch(&url)).await?;
            // A stranger's request to the listener must not end the login: only the first answer with its state counts,
            // and a wrong state ends it by the rules of the ceremony.
            let answer = self.within(&login.open, PkceRefusal::InputTimeout, callback.answer()).await?;
            let exchange = login.open.lock().answer(&binding, &answer, self.now())?;
            let finish = self.finish(&login.open, exchange);
            tokio::pin!(finish);
            loop {
                // Further callbacks while the code is exchanged are replays.
                tokio::select! {
                    biased;
                    result = &mut finish => break result,
                    again = callback.answer() => match again {
                        Ok(again) => drop(login.open.lock().answer(&binding, &again, self.now())),
                        Err(_) => break finish.await,
                    },
                }
            }
        }
        .await;
        login.at_end = AtEnd::Close;
        outcome.map_err(|refusal| login.open.lock().fail(refusal))
    }

    /// Starts a login whose answer a person hands over. Nobody waits: the answer comes to [`Self::answer`] within 120 s.
    pub async fn begin_headless(&self, binding: PkceBinding) -> Result<PkceChallenge, PkceRefusal> {
        let redirect = self.config.redirect_url.as_deref().ok_or(PkceRefusal::InsecureRedirect)?;
        let redirect = RedirectBinding::new(RedirectMode::Headless, redirect)?;
        let mut login = self.begin(binding, redirect).await?;
        login.at_end = AtEnd::Keep;
        let challenge = login.open.lock().challenge().clone();
        Ok(challenge)
    }

    /// Takes the complete redirect address for a headless login. `binding` is who hands it over, as the host verified it.
    pub async fn answer(
        &self,
        binding: &PkceBinding,
        redirect: &Secret<String>,
    ) -> Result<PkceAuthResult, PkceRefusal> {
        let open = self.opened().get(&binding.challenge_ref).cloned().ok_or(PkceRefusal::Expired)?;
        let exchange = open.lock().answer(binding, redirect, self.now());
        let exchange = match exchange {
            Ok(exchange) => exchange,
            Err(refusal) => {
                if open.lock().remaining_ms(self.now()) == 0 {
                    self.opened().remove(&binding.challenge_ref);
                }
                return Err(refusal);
            }
        };
        let reference = binding.challenge_ref.clone();
        let mut login = Login { manager: self, open: open.clone(), reference, at_end: AtEnd::Cancel };
        let outcome = self.finish(&open, exchange).await;
        login.at_end = AtEnd::Close;
        outcome.map_err(|refusal| open.lock().fail(refusal))
    }

    /// Ends a login; its answer gets nothing any more. Only its own caller may.
    pub fn cancel(&self, binding: &PkceBinding) -> Option<PkceEvidence> {
        let open = self.opened().get(&binding.challenge_ref).cloned()?;
        let mut ceremony = open.lock();
        if ceremony.challenge().binding != *binding {
            return None;
        }
        ceremony.fail(PkceRefusal::Cancelled);
        let evidence = ceremony.evidence();
        // A login that begins holds the list while it looks at each ceremony: the other way round they would wait for ever.
        drop(ceremony);
        self.opened().remove(&binding.challenge_ref);
        Some(evidence)
    }

    /// What is recorded of an open login.
    pub fn evidence(&self, challenge_ref: &str) -> Option<PkceEvidence> {
        let open = self.opened().get(challenge_ref).cloned()?;
        let evidence = open.lock().evidence();
        Some(evidence)
    }

    async fn begin(&self, binding: PkceBinding, redirect: RedirectBinding) -> Result<Login<'_>, PkceRefusal> {
        if binding.connector != self.connector.as_str() {
            return Err(PkceRefusal::StateMismatch);
        }
        // The one deadline starts here: what the host and the provider take before the browser opens is part of it.
        let started = self.now();
        let prepared = async {
            if let Some(authority) = &self.parts.authority {
                authority.confirm(&binding).await?;
            }
            self.metadata.get().await.map_err(|refusal| PkceRefusal::of_authority(&refusal))
        };
        let discovery = tokio::select! {
            biased;
            discovery = prepared => discovery?,
            () = self.parts.clock.sleep(Duration::from_millis(TOTAL_DEADLINE_MS.unsigned_abs())) => {
                return Err(PkceRefusal::Expired);
            }
        };
        let mut seed = CeremonySeed { verifier: [0; 48], state: [0; 32], nonce: [0; 32] };
        self.parts.entropy.fill(&mut seed.verifier);
        self.parts.entropy.fill(&mut seed.state);
        self.parts.entropy.fill(&mut seed.nonce);
        let now = self.now();
        let reference = binding.challenge_ref.clone();
        let ceremony = Ceremony::begin(&self.config, &discovery, binding, redirect, &seed, started)?;
        if ceremony.remaining_ms(now) == 0 {
            return Err(PkceRefusal::Expired);
        }
        let open = Arc::new(Open { ceremony: Mutex::new(ceremony), discovery });
        let mut all = self.opened();
        all.retain(|_, open| open.lock().remaining_ms(now) > 0);
        if all.len() >= MAX_OPEN {
            return Err(PkceRefusal::CallbackUnavailable);
        }
        if all.contains_key(&reference) {
            return Err(PkceRefusal::StateMismatch);
        }
        all.insert(reference.clone(), open.clone());
        drop(all);
        Ok(Login { manager: self, open, reference, at_end: AtEnd::Cancel })
    }

    /// Runs a phase within what is left of the deadline.
    async fn within<T>(
        &self,
        open: &Open,
        late: PkceRefusal,
        phase: impl Future<Output = Result<T, PkceRefusal>>,
    ) -> Result<T, PkceRefusal> {
        let left = Duration::from_millis(open.lock().remaining_ms(self.now()));
        let result = tokio::select! {
            biased;
            result = phase => result,
            () = self.parts.clock.sleep(left) => Err(late),
        };
        let value = result?;
        open.lock().check(self.now())?;
        Ok(value)
    }

    async fn finish(&self, open: &Open, exchange: CodeExchange) -> Result<PkceAuthResult, PkceRefusal> {
        let tokens = self.within(open, PkceRefusal::Expired, self.redeem(&exchange)).await?;
        let kept = self.settle(open, &exchange, &tokens).await;
        if kept.is_err() {
            self.give_back(&open.discovery, &tokens).await;
        }
        kept
    }

    async fn redeem(&self, exchange: &CodeExchange) -> Result<TokenResponse, PkceRefusal> {
        let grant = Grant::AuthorizationCode {
            code: &exchange.code,
            redirect_url: &exchange.redirect_url,
            verifier: &exchange.verifier,
            resource: &self.config.resource,
        };
        self.endpoint.request(&grant).await.map_err(|refusal| PkceRefusal::of_authority(&refusal))
    }

    async fn settle(
        &self,
        open: &Open,
        exchange: &CodeExchange,
        tokens: &TokenResponse,
    ) -> Result<PkceAuthResult, PkceRefusal> {
        let check = ProfileCheck {
            config: &self.config,
            keys: &self.keys,
            endpoint: &self.endpoint,
            introspection: open.discovery.introspection.as_ref(),
            now_ms: self.now(),
        };
        let ttl = self.within(open, PkceRefusal::Expired, check.apply(tokens, &exchange.nonce)).await?;
        let binding = open.lock().challenge().binding.clone();
        let account = account_of(self.connector.as_str(), &self.config, &binding.caller);
        let stored = StoredTokens {
            access: tokens.access.clone(),
            refresh: tokens.refresh.clone(),
            expires_at_ms: self.now().saturating_add(i64::try_from(ttl).unwrap_or(i64::MAX)),
        };
        let receipt = self.within(open, PkceRefusal::Expired, self.persist(account.clone(), &stored)).await?;
        let confirmed = async {
            match &self.parts.authority {
                Some(authority) => authority.confirm(&binding).await,
                None => Ok(()),
            }
        };
        let ready = match self.within(open, PkceRefusal::Expired, confirmed).await {
            Ok(()) => open.lock().persisted(receipt, self.now()),
            Err(refusal) => Err(refusal),
        };
        if ready.is_err() {
            // What may not be used is not kept either.
            let _ = self.parts.store.forget(&account).await;
        }
        ready
    }

    /// Keeps the tokens and reads them back: only what the store shows again counts as kept.
    async fn persist(&self, account: String, tokens: &StoredTokens) -> Result<PersistReceipt, PkceRefusal> {
        let failed = |_| PkceRefusal::PersistenceFailed;
        let store = &self.parts.store;
        let _guard = store.exclusive(&account, Duration::from_secs(25)).await.map_err(failed)?;
        let before = store.load(&account).await.map_err(failed)?.map(|(version, _)| version);
        let version = store.save(&account, before, tokens).await.map_err(failed)?;
        let read = store.load(&account).await.map_err(failed)?;
        match read {
            Some((found, kept)) if found == version && kept.access.expose() == tokens.access.expose() => {
                Ok(PersistReceipt { account, version })
            }
            _ => Err(PkceRefusal::PersistenceFailed),
        }
    }

    /// Tokens nobody keeps are given back where the provider takes them (RFC 7009); whether that works changes nothing.
    async fn give_back(&self, discovery: &Discovery, tokens: &TokenResponse) {
        let Some(url) = &discovery.revocation else { return };
        let (token, hint) = match &tokens.refresh {
            Some(token) => (token, "refresh_token"),
            None => (&tokens.access, "access_token"),
        };
        let revoke = self.endpoint.about(url, token, hint);
        tokio::select! {
            _ = revoke => {}
            () = self.parts.clock.sleep(Duration::from_secs(5)) => {}
        }
    }
}
