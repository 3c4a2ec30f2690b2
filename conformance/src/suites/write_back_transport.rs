//! The suite of [`WriteBackTransport`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::digest;
use scion_domain::id::TenantId;
use scion_domain::json::{Json, JsonObject};
use scion_domain::writeback::{ChangeRequest, EffectStatus, WriteBackRefusal};
use scion_ports::WriteBackTransport;

use crate::fixtures::connector;
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// The time at which the suite applies changes, in milliseconds since the Unix epoch.
pub const NOW_MS: i64 = 1_800_000_000_000;

/// Makes transports to test. The vendor behind each has one ticket, `T-1`, at version `v1`, with `status` = `open`.
#[async_trait]
pub trait WriteBackFixture: Send + Sync {
    /// A transport over a fresh vendor.
    async fn open(&self) -> Arc<dyn WriteBackTransport>;

    /// The same vendor through a new transport, as after a restart.
    async fn reopen(&self) -> Arc<dyn WriteBackTransport>;

    /// Somebody else changes the ticket at the vendor.
    async fn change_elsewhere(&self);

    /// The vendor does the next change and its answer is lost.
    async fn lose_next_answer(&self);

    /// How many changes the vendor of the last transport has carried out through transports.
    async fn effects(&self) -> usize;

    /// How many requests of any kind it got.
    async fn requests(&self) -> usize;
}

/// Runs every check.
pub async fn run(fixture: &dyn WriteBackFixture) -> Report {
    let mut report = Report::new("WriteBackTransport");
    report.add("O1", "a_preview_changes_nothing", preview(fixture).await);
    report.add("O2", "a_stale_base_is_refused_by_the_source", stale(fixture).await);
    report.add("O3", "one_key_has_one_effect", once(fixture).await);
    report.add("O3", "a_prior_effect_is_found_after_a_restart", prior(fixture).await);
    report.add("O3", "a_key_with_another_change_is_refused", reused(fixture).await);
    report.add("O4", "a_lost_answer_is_uncertain", uncertain(fixture).await);
    report.add("O5", "a_read_back_asks_the_source_anew", read_back(fixture).await);
    report.add("O6", "an_expired_change_is_refused_before_the_source_is_asked", expired(fixture).await);
    report
}

/// A change of `T-1` to a status.
///
/// # Panics
/// Never: the texts are constants that parse.
pub fn change(key: &str, status: &str) -> ChangeRequest {
    let patch = JsonObject::from([("status".to_owned(), Json::from(status))]);
    let text = format!("{key} {status}");
    ChangeRequest {
        change_set_id: format!("change-{key}"),
        change_set_digest: digest::sha256(text.as_bytes()),
        tenant: TenantId::parse("tenant:acme").expect("a fixture is a valid tenant"),
        actor: "principal:sha256:00".into(),
        connector: connector(),
        entity_id: "T-1".into(),
        field_scope: vec!["status".into()],
        base_source_version: "v1".into(),
        desired_patch: patch,
        field_provenance: std::collections::BTreeMap::new(),
        idempotency_key: key.into(),
        expires_at_ms: NOW_MS + 60_000,
    }
}

async fn preview(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    let effect = must!(transport.preview(&change("k", "solved")).await, "preview");
    ensure!(effect.status == EffectStatus::NoEffect, "the preview had the effect {:?}", effect.status);
    ensure!(effect.pre_source_version.as_deref() == Some("v1"), "the preview saw {:?}", effect.pre_source_version);
    ensure!(fixture.effects().await == 0, "the preview changed the source");
    Ok(())
}

async fn stale(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    must!(transport.preview(&change("k", "solved")).await, "preview");
    fixture.change_elsewhere().await;
    match transport.apply(&change("k", "solved"), NOW_MS).await {
        Err(WriteBackRefusal::StaleBase { .. }) => {}
        other => return Err(format!("a stale change got {other:?}")),
    }
    ensure!(fixture.effects().await == 0, "a stale change was carried out");
    Ok(())
}

async fn once(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    let first = must!(transport.apply(&change("k", "solved"), NOW_MS).await, "apply");
    ensure!(first.status == EffectStatus::Applied, "the change had the effect {:?}", first.status);
    ensure!(first.post_source_version.is_some(), "the new version is not known");
    let second = must!(transport.apply(&change("k", "solved"), NOW_MS).await, "apply again");
    ensure!(second == first, "the same key had another effect");
    ensure!(fixture.effects().await == 1, "{} effects for one key", fixture.effects().await);
    Ok(())
}

async fn prior(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    let none = must!(transport.prior_effect(&change("k", "solved")).await, "prior effect");
    ensure!(none.is_none(), "a key that was never used has an effect");
    let effect = must!(transport.apply(&change("k", "solved"), NOW_MS).await, "apply");
    let transport = fixture.reopen().await;
    let found = must!(transport.prior_effect(&change("k", "solved")).await, "prior effect after a restart");
    ensure!(found == Some(effect), "the effect is not found after a restart");
    Ok(())
}

async fn reused(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    must!(transport.apply(&change("k", "solved"), NOW_MS).await, "apply");
    match transport.apply(&change("k", "closed"), NOW_MS).await {
        Err(WriteBackRefusal::KeyReused { .. }) => {}
        other => return Err(format!("another change under the same key got {other:?}")),
    }
    ensure!(fixture.effects().await == 1, "another change under the same key was carried out");
    Ok(())
}

async fn uncertain(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    fixture.lose_next_answer().await;
    match transport.apply(&change("k", "solved"), NOW_MS).await {
        Ok(effect) if effect.status == EffectStatus::Uncertain => Ok(()),
        Err(WriteBackRefusal::Uncertain { .. }) => Ok(()),
        other => Err(format!("a lost answer got {other:?}")),
    }
}

async fn read_back(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    let applied = must!(transport.apply(&change("k", "solved"), NOW_MS).await, "apply");
    let before = fixture.requests().await;
    let read = must!(transport.read_back(&change("k", "solved")).await, "read back");
    ensure!(fixture.requests().await > before, "the source was not asked");
    ensure!(read.status == EffectStatus::Applied, "the read back found {:?}", read.status);
    ensure!(read.post_source_version == applied.post_source_version, "the versions differ");
    fixture.change_elsewhere().await;
    let later = must!(transport.read_back(&change("k", "solved")).await, "read back later");
    ensure!(later.post_source_version != applied.post_source_version, "the read back repeats what it knew");
    Ok(())
}

async fn expired(fixture: &dyn WriteBackFixture) -> Checked {
    let transport = fixture.open().await;
    let late = change("k", "solved");
    let before = fixture.requests().await;
    match transport.apply(&late, late.expires_at_ms + 1).await {
        Err(WriteBackRefusal::Expired) => {}
        other => return Err(format!("an expired change got {other:?}")),
    }
    ensure!(fixture.requests().await == before, "the source was asked for an expired change");
    Ok(())
}
