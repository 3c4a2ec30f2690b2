//! The discovery document of an issuer, kept for an hour.

use std::sync::Arc;

use scion_domain::auth::{AuthRefusal, AuthUrl, Discovery, discovery_url, read_discovery};
use scion_ports::Clock;
use tokio::sync::Mutex;

use crate::Authority;

/// How long a document is used without asking again.
const FRESH_MS: i64 = 3_600_000;

/// How long an old document is used while the issuer does not answer.
const STALE_MS: i64 = 24 * FRESH_MS;

/// How long a failure is remembered, so that callers in a row do not all wait for the same silence.
const FAILED_MS: i64 = 2_000;

#[derive(Default)]
struct State {
    document: Option<(i64, Arc<Discovery>)>,
    failed: Option<(i64, AuthRefusal)>,
}

/// What an issuer says about itself.
pub struct IssuerMetadata {
    issuer: AuthUrl,
    authority: Authority,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

impl std::fmt::Debug for IssuerMetadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuerMetadata").field("issuer", &self.issuer.as_text()).finish_non_exhaustive()
    }
}

impl IssuerMetadata {
    /// Of an issuer; nothing is fetched yet.
    pub fn new(issuer: AuthUrl, authority: Authority, clock: Arc<dyn Clock>) -> Self {
        Self { issuer, authority, clock, state: Mutex::default() }
    }

    /// The issuer.
    pub const fn issuer(&self) -> &AuthUrl {
        &self.issuer
    }

    /// The document: at most an hour old, or at most a day while the issuer does not answer. Callers share one fetch.
    pub async fn get(&self) -> Result<Arc<Discovery>, AuthRefusal> {
        let mut state = self.state.lock().await;
        let now = self.clock.unix_millis();
        let within = |at: i64, limit: i64| now.saturating_sub(at) < limit;
        let kept = state.document.clone();
        if let Some((at, document)) = &kept
            && within(*at, FRESH_MS)
        {
            return Ok(document.clone());
        }
        let refusal = match &state.failed {
            Some((at, refusal)) if within(*at, FAILED_MS) => refusal.clone(),
            _ => match self.fetch().await {
                Ok(document) => {
                    let document = Arc::new(document);
                    *state = State { document: Some((now, document.clone())), failed: None };
                    return Ok(document);
                }
                Err(refusal) => {
                    state.failed = Some((now, refusal.clone()));
                    refusal
                }
            },
        };
        let silent = matches!(refusal, AuthRefusal::Unreachable { .. });
        match kept {
            Some((at, document)) if silent && within(at, STALE_MS) => Ok(document),
            _ => Err(refusal),
        }
    }

    async fn fetch(&self) -> Result<Discovery, AuthRefusal> {
        let body = self.authority.document(&discovery_url(&self.issuer)).await?;
        read_discovery(&self.issuer, &body)
            .map_err(|what| AuthRefusal::Malformed { authority: self.issuer.origin(), what })
    }
}
