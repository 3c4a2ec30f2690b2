//! The suite of [`AccessAuthority`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::credential::SecretRef;
use scion_domain::credential::access::{AccessDemand, CredentialAccessRefusal, CurrentGrant};
use scion_domain::id::{ConnectorName, TenantId};
use scion_ports::AccessAuthority;

use crate::must;
use crate::report::Report;

type Checked = Result<(), String>;

/// Makes authorities to test.
#[async_trait]
pub trait AuthorityFixture: Send + Sync {
    /// An authority that grants [`demand`](Self::demand), and grants the client `neighbour` the same with another credential.
    async fn open(&self) -> Arc<dyn AccessAuthority>;

    /// An authority whose decisions cannot be had.
    async fn unreachable(&self) -> Arc<dyn AccessAuthority>;

    /// The granted demand.
    fn demand(&self) -> AccessDemand;

    /// A time at which the grant is in force, and one at which it has run out, in milliseconds since the Unix epoch.
    fn times(&self) -> (i64, i64);

    /// Lets time reach the second of [`times`](Self::times), where the authority has a clock.
    async fn expire(&self);

    /// Takes the grant back, at the authority opened last.
    async fn revoke(&self);
}

/// Runs every check.
pub async fn run(fixture: &dyn AuthorityFixture) -> Report {
    let mut report = Report::new("AccessAuthority");
    report.add("O1", "the_grant_is_for_the_demand", granted(fixture).await);
    report.add("O2", "any_other_demand_is_refused", other(fixture).await);
    report.add("O3", "a_revoked_grant_is_not_in_force", revoked(fixture).await);
    report.add("O4", "an_expired_grant_is_not_in_force", expired(fixture).await);
    report.add("O5", "an_authority_that_cannot_be_asked_grants_nothing", unreachable(fixture).await);
    report
}

/// What an answer comes to once it is compared with the demand, as the use case does.
fn judged(
    answer: Result<CurrentGrant, CredentialAccessRefusal>,
    demand: &AccessDemand,
    now: i64,
) -> Result<(), CredentialAccessRefusal> {
    answer.and_then(|grant| grant.admits(demand, now))
}

async fn granted(fixture: &dyn AuthorityFixture) -> Checked {
    let (demand, authority) = (fixture.demand(), fixture.open().await);
    let grant = must!(authority.current(&demand).await, "the granted demand");
    must!(grant.admits(&demand, fixture.times().0), "compared with the demand");
    Ok(())
}

async fn other(fixture: &dyn AuthorityFixture) -> Checked {
    let authority = fixture.open().await;
    let base = fixture.demand();
    let tenant = TenantId::parse("another-tenant").map_err(|refusal| refusal.to_string())?;
    let connector = ConnectorName::parse("another-mcp").map_err(|refusal| refusal.to_string())?;
    let demands = [
        AccessDemand { tenant, ..base.clone() },
        AccessDemand { client: "neighbour".into(), ..base.clone() },
        AccessDemand { client: "stranger".into(), ..base.clone() },
        AccessDemand { principal: "eve".into(), ..base.clone() },
        AccessDemand { connector, ..base.clone() },
        AccessDemand { operation: "delete".into(), ..base.clone() },
        AccessDemand { reference: SecretRef::Env { name: "SOMETHING_ELSE".into() }, ..base.clone() },
        AccessDemand { scopes: ["everything".to_owned()].into(), ..base },
    ];
    for demand in demands {
        match authority.current(&demand).await {
            Err(CredentialAccessRefusal::ScopeDenied | CredentialAccessRefusal::BindingMismatch { .. }) => {}
            Err(refusal) => return Err(format!("a demand nobody granted was refused with {refusal}")),
            Ok(_) => return Err(format!("{} got a grant for {}", demand.client, demand.operation)),
        }
    }
    Ok(())
}

async fn revoked(fixture: &dyn AuthorityFixture) -> Checked {
    let (demand, authority) = (fixture.demand(), fixture.open().await);
    must!(judged(authority.current(&demand).await, &demand, fixture.times().0), "before it is revoked");
    fixture.revoke().await;
    match judged(authority.current(&demand).await, &demand, fixture.times().0) {
        Err(CredentialAccessRefusal::Revoked) => Ok(()),
        other => Err(format!("a revoked grant came to {other:?}")),
    }
}

async fn expired(fixture: &dyn AuthorityFixture) -> Checked {
    let (demand, authority) = (fixture.demand(), fixture.open().await);
    fixture.expire().await;
    match judged(authority.current(&demand).await, &demand, fixture.times().1) {
        Err(CredentialAccessRefusal::GrantExpired) => Ok(()),
        other => Err(format!("an expired grant came to {other:?}")),
    }
}

async fn unreachable(fixture: &dyn AuthorityFixture) -> Checked {
    let authority = fixture.unreachable().await;
    match tokio::time::timeout(Duration::from_secs(5), authority.current(&fixture.demand())).await {
        Ok(Err(CredentialAccessRefusal::AuthorityUnavailable)) => Ok(()),
        Ok(other) => Err(format!("an authority that cannot be asked answered {other:?}")),
        Err(_) => Err("the answer takes longer than five seconds".into()),
    }
}
