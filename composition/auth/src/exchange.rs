//! The caller's token, exchanged for one of the vendor.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::auth::{AuthMaterial, AuthRefusal, Grant, Reason, TokenExchange};
use scion_domain::credential::SecretSource;
use scion_domain::http::StatusCode;
use scion_domain::secret::Secret;
use scion_ports::{Clock, RequestAuth};
use sha2::{Digest as _, Sha256};

use crate::cached::{CachedTokens, Mint, Minted};
use crate::endpoint::TokenEndpoint;
use crate::factory::bearer;

/// The most callers whose tokens are kept; the one unused for longest makes room.
const MAX_CALLERS: usize = 256;

tokio::task_local! {
    static CALLER: Secret<String>;
}

/// Runs a piece of work for a caller, whose verified token is exchanged where a declaration says so. Tasks spawned inside do
/// not inherit it.
pub async fn with_caller_token<T>(token: Secret<String>, work: impl Future<Output = T>) -> T {
    CALLER.scope(token, work).await
}

/// Says who is acting now.
pub trait CallerTokens: Send + Sync {
    /// The token of the present caller, if there is one.
    fn current(&self) -> Option<Secret<String>>;
}

/// The caller of [`with_caller_token`].
pub(crate) struct TaskCaller;

impl CallerTokens for TaskCaller {
    fn current(&self) -> Option<Secret<String>> {
        CALLER.try_with(Clone::clone).ok()
    }
}

struct ExchangeMint {
    endpoint: Arc<TokenEndpoint>,
    declaration: Arc<TokenExchange>,
    subject: Secret<String>,
    /// The scopes of this token; the declared ones when empty.
    scope: String,
}

#[async_trait]
impl Mint for ExchangeMint {
    async fn mint(&self, _held: Option<&Secret<String>>) -> Result<Minted, AuthRefusal> {
        let grant = Grant::Exchange {
            subject: &self.subject,
            audience: &self.declaration.audience,
            resource: &self.declaration.resource,
            scope: if self.scope.is_empty() { &self.declaration.scope } else { &self.scope },
        };
        let response = self.endpoint.request(&grant).await?;
        let ttl = i64::try_from(response.ttl_ms).unwrap_or(i64::MAX);
        Ok(Minted { value: response.access, expires_at_ms: self.endpoint.clock.unix_millis().saturating_add(ttl) })
    }
}

struct Callers {
    tokens: HashMap<[u8; 32], (u64, CachedTokens)>,
    uses: u64,
}

/// The exchanged tokens of many callers.
pub(crate) struct ExchangeTokens {
    endpoint: Arc<TokenEndpoint>,
    declaration: Arc<TokenExchange>,
    clock: Arc<dyn Clock>,
    kept: Mutex<Callers>,
}

impl ExchangeTokens {
    pub(crate) fn new(endpoint: TokenEndpoint, declaration: TokenExchange, clock: Arc<dyn Clock>) -> Self {
        let kept = Mutex::new(Callers { tokens: HashMap::new(), uses: 0 });
        Self { endpoint: Arc::new(endpoint), declaration: Arc::new(declaration), clock, kept }
    }

    /// The tokens of a caller; keyed by the whole token and the scopes, so that no caller gets another one's.
    pub(crate) fn of(&self, subject: Secret<String>, scope: &str) -> CachedTokens {
        let hash = Sha256::new_with_prefix(u64::try_from(scope.len()).unwrap_or(u64::MAX).to_be_bytes());
        let key: [u8; 32] =
            hash.chain_update(scope.as_bytes()).chain_update(subject.expose().as_bytes()).finalize().into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let now = kept.uses;
        if let Some((used, tokens)) = kept.tokens.get_mut(&key) {
            *used = now;
            return tokens.clone();
        }
        if kept.tokens.len() >= MAX_CALLERS {
            let oldest = kept.tokens.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key);
            oldest.map(|key| kept.tokens.remove(&key));
        }
        let (endpoint, declaration) = (self.endpoint.clone(), self.declaration.clone());
        let mint = ExchangeMint { endpoint, declaration, subject, scope: scope.to_owned() };
        let tokens = CachedTokens::new(Arc::new(mint), self.clock.clone());
        kept.tokens.insert(key, (now, tokens.clone()));
        tokens
    }
}

pub(crate) struct ExchangeAuth {
    exchanged: ExchangeTokens,
    callers: Arc<dyn CallerTokens>,
}

impl ExchangeAuth {
    pub(crate) fn new(exchanged: ExchangeTokens, callers: Arc<dyn CallerTokens>) -> Self {
        Self { exchanged, callers }
    }

    /// The tokens of the present caller.
    async fn tokens(&self) -> Result<CachedTokens, AuthRefusal> {
        let subject = match &self.exchanged.declaration.subject_token_ref {
            Some(slot) => {
                let source = SecretSource::Reference(slot.get("subject_token_ref")?.clone());
                self.exchanged.endpoint.secrets.resolve(&source).await?
            }
            None => self.callers.current().ok_or_else(|| AuthRefusal::Credential {
                reference: "the caller's token".to_owned(),
                code: "credential_missing",
            })?,
        };
        Ok(self.exchanged.of(subject, ""))
    }
}

#[async_trait]
impl RequestAuth for ExchangeAuth {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let (generation, token) = self.tokens().await?.get(Reason::Use).await?;
        bearer(generation, &token)
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        if status != StatusCode::UNAUTHORIZED {
            return Ok(false);
        }
        self.tokens().await?.rejected(generation).await
    }
}
