//! Key sets of issuers and the check of tokens against them.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::auth::{
    AuthRefusal, AuthUrl, ClaimRules, JwtAlgorithm, JwtRefusal, KeyCache, KeySet, KeyStep, UnverifiedJwt, check_claims,
    check_times,
};
use scion_domain::json::{Json, JsonObject};
use scion_domain::secret::Secret;
use scion_domain::served_security::TokenRefusal;
use scion_ports::{Clock, JwtVerifier, SignedTokens, VerifyKey};

use crate::{Authority, IssuerMetadata};

/// Why a token was not accepted: because of itself, or because its issuer cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckRefusal {
    /// The token.
    Token(JwtRefusal),
    /// The issuer.
    Issuer(AuthRefusal),
}

impl From<JwtRefusal> for CheckRefusal {
    fn from(refusal: JwtRefusal) -> Self {
        Self::Token(refusal)
    }
}

#[derive(Default)]
struct State {
    cache: KeyCache,
    keys: Arc<KeySet>,
    failure: Option<AuthRefusal>,
}

/// Where the key set of an issuer is.
enum Place {
    Discovered(Arc<IssuerMetadata>),
    Known(Box<KnownPlace>),
}

struct KnownPlace {
    issuer: AuthUrl,
    keys: AuthUrl,
}

impl Place {
    fn issuer(&self) -> &AuthUrl {
        match self {
            Self::Discovered(metadata) => metadata.issuer(),
            Self::Known(known) => &known.issuer,
        }
    }
}

struct Inner {
    place: Place,
    authority: Authority,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    fetching: Arc<tokio::sync::Mutex<()>>,
}

/// The keys of an issuer. An unknown key id fetches them again, at most every 30 s; while the issuer does not answer, the old ones
/// are used for an hour.
#[derive(Clone)]
pub struct IssuerKeys {
    inner: Arc<Inner>,
    verifier: Arc<dyn JwtVerifier>,
}

impl std::fmt::Debug for IssuerKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuerKeys").field("issuer", &self.issuer()).finish_non_exhaustive()
    }
}

impl Inner {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self) -> Result<KeySet, AuthRefusal> {
        let (url, authority) = match &self.place {
            Place::Known(known) => (known.keys.clone(), known.keys.origin()),
            Place::Discovered(metadata) => {
                let authority = metadata.issuer().origin();
                let missing = AuthRefusal::Malformed { authority: authority.clone(), what: "jwks_uri" };
                (metadata.get().await?.jwks.clone().ok_or(missing)?, authority)
            }
        };
        let body = self.authority.document(url.url()).await?;
        KeySet::read(&body).map_err(|what| AuthRefusal::Malformed { authority, what })
    }
}

impl IssuerKeys {
    /// The keys of an issuer; nothing is fetched yet.
    pub fn new(
        metadata: Arc<IssuerMetadata>,
        authority: Authority,
        clock: Arc<dyn Clock>,
        verifier: Arc<dyn JwtVerifier>,
    ) -> Self {
        Self::over(Place::Discovered(metadata), authority, clock, verifier)
    }

    /// The keys of an issuer at a known address, without a discovery document; nothing is fetched yet.
    pub fn at(
        issuer: AuthUrl,
        keys: AuthUrl,
        authority: Authority,
        clock: Arc<dyn Clock>,
        verifier: Arc<dyn JwtVerifier>,
    ) -> Self {
        Self::over(Place::Known(Box::new(KnownPlace { issuer, keys })), authority, clock, verifier)
    }

    fn over(place: Place, authority: Authority, clock: Arc<dyn Clock>, verifier: Arc<dyn JwtVerifier>) -> Self {
        let inner = Inner { place, authority, clock, state: Mutex::default(), fetching: Arc::default() };
        Self { inner: Arc::new(inner), verifier }
    }

    /// The issuer.
    pub fn issuer(&self) -> &str {
        self.inner.place.issuer().as_text()
    }

    /// Checks signature, issuer, audience, nonce and times of a token; answers its claims.
    pub async fn check(
        &self,
        token: &Secret<String>,
        allowed: &[JwtAlgorithm],
        rules: &ClaimRules,
    ) -> Result<JsonObject, CheckRefusal> {
        let jwt = self.check_signature(token, allowed).await?;
        check_claims(&jwt.claims, rules, self.now())?;
        Ok(jwt.claims)
    }

    /// Checks signature, issuer and times of a token that names no audience of ours, such as a refresh token.
    pub async fn check_without_audience(
        &self,
        token: &Secret<String>,
        allowed: &[JwtAlgorithm],
    ) -> Result<JsonObject, CheckRefusal> {
        let jwt = self.check_signature(token, allowed).await?;
        if jwt.claims.get("iss").and_then(Json::as_str) != Some(self.issuer()) {
            return Err(JwtRefusal::Claim { claim: "iss" }.into());
        }
        check_times(&jwt.claims, self.now())?;
        Ok(jwt.claims)
    }

    fn now(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "exact for the next 285,000 years")]
        let now = self.inner.clock.unix_millis() as f64;
        now / 1000.0
    }

    async fn check_signature<'t>(
        &self,
        token: &'t Secret<String>,
        allowed: &[JwtAlgorithm],
    ) -> Result<UnverifiedJwt<'t>, CheckRefusal> {
        // Keys of a set are public: a token signed with one as a shared secret was signed by anybody.
        let allowed: Vec<JwtAlgorithm> = allowed
            .iter()
            .copied()
            .filter(|algorithm| algorithm.family() != scion_domain::auth::KeyFamily::Hmac)
            .collect();
        let jwt = UnverifiedJwt::read(token.expose(), &allowed)?;
        let keys = self.keys_for(&jwt).await?;
        let key = keys.find(jwt.key_id.as_deref(), jwt.algorithm)?;
        self.verifier.verify(&jwt, VerifyKey::Public(key))?;
        Ok(jwt)
    }

    async fn keys_for(&self, jwt: &UnverifiedJwt<'_>) -> Result<Arc<KeySet>, CheckRefusal> {
        let decide = || {
            let state = self.inner.state();
            let known = state.keys.find(jwt.key_id.as_deref(), jwt.algorithm).is_ok();
            (state.cache.step(known, self.inner.clock.unix_millis()), known, state.keys.clone())
        };
        let (mut step, known, mut keys) = decide();
        // A fetch that runs may bring the key: whoever needs it waits for that one and starts none of its own.
        if step != KeyStep::Use || (!known && self.inner.fetching.try_lock().is_err()) {
            let turn = self.inner.fetching.clone().lock_owned().await;
            (step, _, keys) = decide();
            if step == KeyStep::Fetch {
                self.inner.state().cache.tried(self.inner.clock.unix_millis());
                let inner = self.inner.clone();
                // A caller that goes away must not use up the only attempt of the interval.
                let fetch = tokio::spawn(async move {
                    let fetched = inner.fetch().await;
                    let mut state = inner.state();
                    match fetched {
                        Ok(keys) => {
                            state.keys = Arc::new(keys);
                            state.failure = None;
                            state.cache.fetched(inner.clock.unix_millis());
                        }
                        Err(refusal) => state.failure = Some(refusal),
                    }
                    drop(state);
                    drop(turn);
                });
                let _ = fetch.await;
                (step, _, keys) = decide();
            }
        }
        let state = self.inner.state();
        if step == KeyStep::Unavailable || !state.cache.usable(self.inner.clock.unix_millis()) {
            let authority = self.inner.place.issuer().origin();
            return Err(CheckRefusal::Issuer(state.failure.clone().unwrap_or(AuthRefusal::Unreachable { authority })));
        }
        Ok(keys)
    }
}

#[async_trait]
impl SignedTokens for IssuerKeys {
    async fn claims(
        &self,
        token: &Secret<String>,
        allowed: &[JwtAlgorithm],
        rules: &ClaimRules,
    ) -> Result<JsonObject, TokenRefusal> {
        self.check(token, allowed, rules).await.map_err(|refusal| match refusal {
            CheckRefusal::Token(refusal) => refusal.into(),
            CheckRefusal::Issuer(_) => TokenRefusal::Unavailable,
        })
    }
}
