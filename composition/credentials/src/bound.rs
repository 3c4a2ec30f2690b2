//! Resolution under an access authority (SDK-CONNECTOR-CONTROL-R035.2 to R035.5).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::credential::access::{
    AccessDemand, CredentialAccessRefusal, CredentialEvidence, CurrentGrant, TokenProfilePin,
};
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::id::{ConnectorName, TenantId};
use scion_domain::refusal::{Refusal as _, Retry};
use scion_domain::secret::Secret;
use scion_ports::{AccessAuthority, Clock, CredentialProvider, CredentialRecorder};

/// How long the authority, and then the recorder, may take.
const DECISION_TIME: Duration = Duration::from_secs(5);

/// What is known about the caller and the call once a request was authenticated. A server makes it from what it verified; no
/// part of it is read from the parameters of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBinding {
    /// The verified tenant.
    pub tenant: TenantId,
    /// The verified principal.
    pub principal: String,
    /// The verified client.
    pub client: String,
    /// The connector the call reached; must be the admitted one.
    pub connector: ConnectorName,
    /// The provider.
    pub provider: String,
    /// Where the credential is sent.
    pub audience: String,
    /// The scopes the operation needs.
    pub scopes: BTreeSet<String>,
    /// The resource.
    pub resource: String,
    /// The operation.
    pub operation: String,
    /// The provider's token profile in force.
    pub profile: TokenProfilePin,
}

impl RequestBinding {
    fn demand(&self, reference: &SecretRef) -> AccessDemand {
        AccessDemand {
            tenant: self.tenant.clone(),
            principal: self.principal.clone(),
            client: self.client.clone(),
            connector: self.connector.clone(),
            provider: self.provider.clone(),
            audience: self.audience.clone(),
            scopes: self.scopes.clone(),
            resource: self.resource.clone(),
            operation: self.operation.clone(),
            reference: reference.clone(),
            profile: self.profile.clone(),
        }
    }
}

/// The credentials of one admitted connector. Every resolution asks the authority for the grant in force, compares it with the
/// call, and leaves evidence; only then is the provider asked. Nothing is remembered between two resolutions: neither grants
/// nor values.
pub struct BoundCredentials {
    admitted: ConnectorName,
    authority: Arc<dyn AccessAuthority>,
    recorder: Arc<dyn CredentialRecorder>,
    provider: Arc<dyn CredentialProvider>,
    clock: Arc<dyn Clock>,
}

impl BoundCredentials {
    /// For the connector that was admitted under this name.
    pub fn new(
        admitted: ConnectorName,
        authority: Arc<dyn AccessAuthority>,
        recorder: Arc<dyn CredentialRecorder>,
        provider: Arc<dyn CredentialProvider>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { admitted, authority, recorder, provider, clock }
    }

    /// Resolves one reference for one call. The value is for the request that is about to be sent; drop it afterwards.
    ///
    /// The evidence of an authorized resolution is kept before the provider is asked, that of a refusal before the refusal is
    /// returned. When it cannot be kept, nothing is resolved: [`CredentialAccessRefusal::AuthorityUnavailable`].
    pub async fn resolve(
        &self,
        call: &RequestBinding,
        reference: &SecretRef,
    ) -> Result<Secret<String>, CredentialAccessRefusal> {
        self.granted(call, reference).await?.map_err(|refusal| unavailable(&refusal))
    }

    /// A provider for one call, for whatever takes a [`CredentialProvider`]: each of its resolutions is one of
    /// [`resolve`](Self::resolve). What is not granted is [`CredentialRefusal::NotGranted`] or, for scopes,
    /// [`CredentialRefusal::OutOfScope`]; an authority that cannot be asked is [`CredentialRefusal::Unavailable`].
    pub fn for_call(self: &Arc<Self>, call: RequestBinding) -> CallCredentials {
        CallCredentials { bound: self.clone(), call }
    }

    /// The outer result is the authority's, the inner one the provider's.
    async fn granted(
        &self,
        call: &RequestBinding,
        reference: &SecretRef,
    ) -> Result<Result<Secret<String>, CredentialRefusal>, CredentialAccessRefusal> {
        let demand = call.demand(reference);
        let (grant, decision) = self.decide(&demand).await;
        self.keep(&demand, grant.as_ref(), decision.as_ref().copied()).await?;
        decision?;
        let request = CredentialRequest { connector: self.admitted.clone(), reference: reference.clone() };
        let answer = self.provider.resolve(&request).await;
        if let Err(refusal) = &answer {
            // The refusal stands, whether it could be noted or not.
            let _ = self.keep(&demand, grant.as_ref(), Err(&unavailable(refusal))).await;
        }
        Ok(answer)
    }

    async fn decide(&self, demand: &AccessDemand) -> (Option<CurrentGrant>, Result<(), CredentialAccessRefusal>) {
        // What the call says about itself is never looked up under another connector's name.
        if demand.connector != self.admitted {
            return (None, Err(CredentialAccessRefusal::BindingMismatch { what: "connector" }));
        }
        if demand.check().is_err() {
            return (None, Err(CredentialAccessRefusal::BindingMismatch { what: "caller" }));
        }
        if !demand.reference.in_scope_of(&self.admitted) {
            return (None, Err(CredentialAccessRefusal::ScopeDenied));
        }
        match tokio::time::timeout(DECISION_TIME, self.authority.current(demand)).await {
            Err(_) => (None, Err(CredentialAccessRefusal::AuthorityUnavailable)),
            Ok(Err(refusal)) => (None, Err(refusal)),
            Ok(Ok(grant)) => {
                let admitted = grant.admits(demand, self.clock.unix_millis());
                (Some(grant), admitted)
            }
        }
    }

    async fn keep(
        &self,
        demand: &AccessDemand,
        grant: Option<&CurrentGrant>,
        outcome: Result<(), &CredentialAccessRefusal>,
    ) -> Result<(), CredentialAccessRefusal> {
        let evidence = CredentialEvidence::new(demand, &self.admitted, grant, outcome, self.clock.unix_millis());
        let kept = tokio::time::timeout(DECISION_TIME, self.recorder.record(&evidence)).await;
        match (kept, outcome) {
            (Ok(Ok(())), _) => Ok(()),
            // The refusal stands even when nobody could note it.
            (_, Err(refusal)) => Err(refusal.clone()),
            (_, Ok(())) => Err(CredentialAccessRefusal::AuthorityUnavailable),
        }
    }
}

fn unavailable(refusal: &CredentialRefusal) -> CredentialAccessRefusal {
    CredentialAccessRefusal::CredentialUnavailable { cause: refusal.code() }
}

/// The credentials of one call ([`BoundCredentials::for_call`]). It holds no value; drop it with the call.
pub struct CallCredentials {
    bound: Arc<BoundCredentials>,
    call: RequestBinding,
}

#[async_trait]
impl CredentialProvider for CallCredentials {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let call = RequestBinding { connector: request.connector.clone(), ..self.call.clone() };
        let reference = request.reference.to_string();
        match self.bound.granted(&call, &request.reference).await {
            Ok(answer) => answer,
            Err(CredentialAccessRefusal::ScopeDenied) => Err(CredentialRefusal::OutOfScope { reference }),
            Err(refusal) if refusal.retry() == Retry::Later => Err(CredentialRefusal::Unavailable { reference }),
            Err(refusal) => Err(CredentialRefusal::NotGranted { reference, reason: refusal.code() }),
        }
    }
}

impl fmt::Debug for CallCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallCredentials").field("admitted", &self.bound.admitted).finish_non_exhaustive()
    }
}

impl fmt::Debug for BoundCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundCredentials").field("admitted", &self.admitted).finish_non_exhaustive()
    }
}
