//! Grants and evidence in memory.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion_domain::credential::SecretRef;
use scion_domain::credential::access::{
    AccessDemand, AccessReceipts, BindingFacts, CredentialAccessBinding, CredentialAccessRefusal, CredentialEvidence,
    CurrentGrant, TokenProfilePin,
};
use scion_domain::id::TenantId;
use scion_ports::{AccessAuthority, CredentialRecorder};

use crate::fixtures::connector;

/// The demand of the fixtures: ada, through the client `assistant`, closes a ticket.
///
/// # Panics
/// Never: its parts are constants.
pub fn demand(reference: SecretRef) -> AccessDemand {
    AccessDemand {
        tenant: TenantId::parse("acme").expect("a constant"),
        principal: "ada".into(),
        client: "assistant".into(),
        connector: connector(),
        provider: "desk".into(),
        audience: "https://desk.example".into(),
        scopes: BTreeSet::from(["tickets:write".to_owned()]),
        resource: "tickets/42".into(),
        operation: "close".into(),
        reference,
        profile: TokenProfilePin { name: "opaque".into(), revision: 1 },
    }
}

/// The facts of a grant for a demand, in force from revision 1 until a time.
pub fn grant_for(demand: &AccessDemand, expires_at_ms: i64) -> BindingFacts {
    BindingFacts {
        tenant: demand.tenant.clone(),
        owner: "team-desk".into(),
        principal: demand.principal.clone(),
        client: demand.client.clone(),
        connector: demand.connector.clone(),
        provider: demand.provider.clone(),
        audience: demand.audience.clone(),
        scopes: demand.scopes.clone(),
        resource: demand.resource.clone(),
        operation: demand.operation.clone(),
        grant: format!("grant-of-{}", demand.client),
        vault: demand.reference.clone(),
        expires_at_ms,
        revocation_revision: 1,
        profile: demand.profile.clone(),
        receipts: AccessReceipts { authorization: Some("authorization-1".into()), vault: Some("vault-1".into()) },
    }
}

#[derive(Debug, Default)]
struct Grants {
    facts: Vec<BindingFacts>,
    revoked: Vec<String>,
}

/// An authority over a list of grants.
#[derive(Debug, Default)]
pub struct MemoryAuthority {
    grants: Mutex<Grants>,
    /// It cannot be asked.
    pub unreachable: std::sync::atomic::AtomicBool,
    asked: AtomicUsize,
}

impl MemoryAuthority {
    /// Grants.
    pub fn grant(&self, facts: BindingFacts) {
        self.lock().facts.push(facts);
    }

    /// Takes a grant back by its name.
    pub fn revoke(&self, grant: &str) {
        self.lock().revoked.push(grant.to_owned());
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Grants> {
        self.grants.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl AccessAuthority for MemoryAuthority {
    async fn current(&self, demand: &AccessDemand) -> Result<CurrentGrant, CredentialAccessRefusal> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.unreachable.load(Ordering::Relaxed) {
            return Err(CredentialAccessRefusal::AuthorityUnavailable);
        }
        let grants = self.lock();
        let mut refusal = CredentialAccessRefusal::ScopeDenied;
        for facts in &grants.facts {
            let binding = CredentialAccessBinding::new(facts.clone())
                .map_err(|_| CredentialAccessRefusal::BindingMismatch { what: "facts" })?;
            let behind = u64::from(grants.revoked.contains(&facts.grant));
            let grant = CurrentGrant { binding, revocation_revision: facts.revocation_revision + behind };
            // Time is compared by the caller; here a grant is in force for ever.
            match grant.admits(demand, i64::MIN) {
                Ok(()) | Err(CredentialAccessRefusal::Revoked) => return Ok(grant),
                Err(mismatch) => refusal = mismatch,
            }
        }
        Err(refusal)
    }
}

/// Evidence in memory.
#[derive(Debug, Default)]
pub struct MemoryRecorder {
    entries: Mutex<Vec<CredentialEvidence>>,
    /// It cannot keep anything.
    pub full: std::sync::atomic::AtomicBool,
}

impl MemoryRecorder {
    /// What was kept, in order.
    pub fn entries(&self) -> Vec<CredentialEvidence> {
        self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl CredentialRecorder for MemoryRecorder {
    async fn record(&self, evidence: &CredentialEvidence) -> Result<(), CredentialAccessRefusal> {
        if self.full.load(Ordering::Relaxed) {
            return Err(CredentialAccessRefusal::AuthorityUnavailable);
        }
        self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(evidence.clone());
        Ok(())
    }
}
