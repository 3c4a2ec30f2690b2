//! Wrong access authorities.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::credential::SecretRef;
use scion_domain::credential::access::{
    AccessDemand, BindingFacts, CredentialAccessBinding, CredentialAccessRefusal, CurrentGrant,
};
use scion_ports::AccessAuthority;

use crate::reference::{MemoryAuthority, demand, grant_for};
use crate::suites::access_authority::AuthorityFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorityFlaw {
    /// Nothing; the reference.
    None,
    /// Answers the grant of another client.
    AnswersAnother,
    /// Makes a grant out of any demand.
    GrantsAnything,
    /// Remembers its first answer.
    Caches,
    /// Renews what it answers.
    Prolongs,
    /// Hangs when it cannot be asked.
    Hangs,
    /// Grants what it last knew when it cannot be asked.
    GrantsUnasked,
}

impl AuthorityFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] =
        &[Self::AnswersAnother, Self::GrantsAnything, Self::Caches, Self::Prolongs, Self::Hangs, Self::GrantsUnasked];
}

const EXPIRES_MS: i64 = 1_000_000;

#[derive(Debug)]
struct FlawedAuthority {
    inner: Arc<MemoryAuthority>,
    flaw: AuthorityFlaw,
    cache: Mutex<Option<CurrentGrant>>,
}

fn in_force(facts: BindingFacts) -> Result<CurrentGrant, CredentialAccessRefusal> {
    let revocation_revision = facts.revocation_revision;
    let binding = CredentialAccessBinding::new(facts);
    let binding = binding.map_err(|_| CredentialAccessRefusal::BindingMismatch { what: "facts" })?;
    Ok(CurrentGrant { binding, revocation_revision })
}

#[async_trait]
impl AccessAuthority for FlawedAuthority {
    async fn current(&self, demand: &AccessDemand) -> Result<CurrentGrant, CredentialAccessRefusal> {
        let answer = self.inner.current(demand).await;
        let unreachable = self.inner.unreachable.load(Ordering::Relaxed);
        match self.flaw {
            AuthorityFlaw::AnswersAnother if answer.is_ok() => {
                in_force(grant_for(&AccessDemand { client: "neighbour".into(), ..demand.clone() }, EXPIRES_MS))
            }
            AuthorityFlaw::GrantsAnything if !unreachable && answer.is_err() => in_force(grant_for(demand, EXPIRES_MS)),
            AuthorityFlaw::Caches => {
                let mut cache = self.cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let answer = answer?;
                Ok(cache.get_or_insert(answer).clone())
            }
            AuthorityFlaw::Prolongs => {
                let grant = answer?;
                let facts = BindingFacts { expires_at_ms: i64::MAX, ..grant.binding.facts().clone() };
                Ok(CurrentGrant { revocation_revision: grant.revocation_revision, ..in_force(facts)? })
            }
            AuthorityFlaw::Hangs if unreachable => std::future::pending().await,
            AuthorityFlaw::GrantsUnasked if unreachable => in_force(grant_for(demand, EXPIRES_MS)),
            _ => answer,
        }
    }
}

/// A fixture of flawed authorities.
#[derive(Debug)]
pub struct FlawedAuthorities {
    flaw: AuthorityFlaw,
    opened: Mutex<Arc<MemoryAuthority>>,
}

impl FlawedAuthorities {
    /// With a flaw.
    pub fn new(flaw: AuthorityFlaw) -> Self {
        Self { flaw, opened: Mutex::default() }
    }

    fn make(&self, unreachable: bool) -> Arc<dyn AccessAuthority> {
        let inner = Arc::new(MemoryAuthority::default());
        let demand = self.demand();
        let other = SecretRef::Env { name: "NEIGHBOUR_TOKEN".into() };
        let neighbour = AccessDemand { client: "neighbour".into(), reference: other, ..demand.clone() };
        inner.grant(grant_for(&demand, EXPIRES_MS));
        inner.grant(grant_for(&neighbour, EXPIRES_MS));
        inner.unreachable.store(unreachable, Ordering::Relaxed);
        *self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = inner.clone();
        Arc::new(FlawedAuthority { inner, flaw: self.flaw, cache: Mutex::new(None) })
    }
}

#[async_trait]
impl AuthorityFixture for FlawedAuthorities {
    async fn open(&self) -> Arc<dyn AccessAuthority> {
        self.make(false)
    }

    async fn unreachable(&self) -> Arc<dyn AccessAuthority> {
        self.make(true)
    }

    fn demand(&self) -> AccessDemand {
        demand(SecretRef::Env { name: "DESK_TOKEN".into() })
    }

    fn times(&self) -> (i64, i64) {
        (EXPIRES_MS - 1, EXPIRES_MS)
    }

    async fn expire(&self) {
        // The reference has no clock; the time of the check decides.
    }

    async fn revoke(&self) {
        let opened = self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        opened.revoke(&format!("grant-of-{}", self.demand().client));
    }
}
