//! The suite of [`CredentialProvider`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_ports::CredentialProvider;

use crate::fixtures::connector;
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// The value every fixture stores behind its `present` reference.
pub const VALUE: &str = "correct-horse-battery-staple";

/// Makes providers to test.
#[async_trait]
pub trait CredentialFixture: Send + Sync {
    /// A provider that holds [`VALUE`] behind [`present`](Self::present) and an empty value behind [`empty`](Self::empty).
    async fn open(&self) -> Arc<dyn CredentialProvider>;

    /// A provider whose store does not answer; `None` when the kind has no store that could fail.
    async fn unreachable(&self) -> Option<Arc<dyn CredentialProvider>>;

    /// A reference that resolves.
    fn present(&self) -> SecretRef;

    /// A reference to an empty value.
    fn empty(&self) -> SecretRef;

    /// A reference to nothing.
    fn absent(&self) -> SecretRef;

    /// A reference outside the scope of the fixture connector; `None` when the kind has no scopes.
    fn out_of_scope(&self) -> Option<SecretRef>;

    /// A reference of a kind the provider does not know.
    fn foreign(&self) -> SecretRef;

    /// How often the store behind the provider was asked so far.
    fn lookups(&self) -> usize;
}

/// Runs every check.
pub async fn run(fixture: &dyn CredentialFixture) -> Report {
    let mut report = Report::new("CredentialProvider");
    report.add("O1", "scope_is_checked_before_the_store_is_asked", scope(fixture).await);
    report.add("O2", "empty_and_absent_are_missing", missing(fixture).await);
    report.add("O3", "unreachable_is_not_refused", unreachable(fixture).await);
    report.add("O4", "the_value_is_in_no_debug_text", hidden(fixture).await);
    report.add("O5", "a_foreign_kind_has_no_provider", foreign(fixture).await);
    report.add("O2", "a_present_value_resolves", present(fixture).await);
    report
}

fn request(reference: SecretRef) -> CredentialRequest {
    CredentialRequest { connector: connector(), reference }
}

async fn scope(fixture: &dyn CredentialFixture) -> Checked {
    let Some(reference) = fixture.out_of_scope() else { return Ok(()) };
    let provider = fixture.open().await;
    let before = fixture.lookups();
    match provider.resolve(&request(reference)).await {
        Err(CredentialRefusal::OutOfScope { .. }) => {}
        Err(other) => return Err(format!("out of scope was refused with {other}")),
        Ok(_) => return Err("a reference of another connector was resolved".into()),
    }
    ensure!(fixture.lookups() == before, "the store was asked for a reference out of scope");
    Ok(())
}

async fn missing(fixture: &dyn CredentialFixture) -> Checked {
    let provider = fixture.open().await;
    for reference in [fixture.empty(), fixture.absent()] {
        match provider.resolve(&request(reference.clone())).await {
            Err(CredentialRefusal::Missing { .. }) => {}
            Err(other) => return Err(format!("{reference} was refused with {other}")),
            Ok(_) => return Err(format!("{reference} was resolved")),
        }
    }
    Ok(())
}

async fn unreachable(fixture: &dyn CredentialFixture) -> Checked {
    let Some(provider) = fixture.unreachable().await else { return Ok(()) };
    match provider.resolve(&request(fixture.present())).await {
        Err(CredentialRefusal::Unavailable { .. }) => Ok(()),
        Err(other) => Err(format!("an unreachable store was reported as {other}")),
        Ok(_) => Err("an unreachable store answered".into()),
    }
}

async fn hidden(fixture: &dyn CredentialFixture) -> Checked {
    let provider = fixture.open().await;
    let answers = [
        provider.resolve(&request(fixture.present())).await,
        provider.resolve(&request(fixture.empty())).await,
        provider.resolve(&request(fixture.foreign())).await,
    ];
    let text = format!("{answers:?}");
    ensure!(!text.contains(VALUE), "the value is in the debug text");
    Ok(())
}

async fn foreign(fixture: &dyn CredentialFixture) -> Checked {
    let provider = fixture.open().await;
    match provider.resolve(&request(fixture.foreign())).await {
        Err(CredentialRefusal::NoProvider { .. }) => Ok(()),
        Err(other) => Err(format!("a foreign kind was refused with {other}")),
        Ok(_) => Err("a foreign kind was resolved".into()),
    }
}

async fn present(fixture: &dyn CredentialFixture) -> Checked {
    let provider = fixture.open().await;
    let secret = must!(provider.resolve(&request(fixture.present())).await, "resolve");
    ensure!(secret.expose() == VALUE, "another value was resolved");
    Ok(())
}
