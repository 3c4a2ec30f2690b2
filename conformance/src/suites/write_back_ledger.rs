//! The suite of [`WriteBackLedger`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::digest;
use scion_domain::json::Json;
use scion_domain::writeback::{AttemptKind, ChangeRequest, Effect, EffectStatus, LedgerEntry, WriteBackRefusal};
use scion_ports::WriteBackLedger;

use crate::report::Report;
use crate::suites::write_back_transport::change;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes ledgers to test.
#[async_trait]
pub trait LedgerFixture: Send + Sync {
    /// An empty ledger.
    async fn open(&self) -> Arc<dyn WriteBackLedger>;

    /// The same ledger after a restart.
    async fn reopen(&self, ledger: Arc<dyn WriteBackLedger>) -> Arc<dyn WriteBackLedger>;

    /// The tenant changes are stored for, where a ledger takes only its own.
    fn tenant(&self) -> &'static str {
        "tenant:acme"
    }
}

/// Runs every check.
pub async fn run(fixture: &dyn LedgerFixture) -> Report {
    let mut report = Report::new("WriteBackLedger");
    report.add("O1", "a_change_is_stored_once_and_whole", create(fixture).await);
    report.add("O1", "an_id_with_another_change_is_refused", reused(fixture).await);
    report.add("O2", "entries_survive_a_restart_in_order", restart(fixture).await);
    report.add("O3", "an_application_needs_a_preview", preview(fixture).await);
    report.add("O3", "an_uncertain_outcome_is_reconciled_first", uncertain(fixture).await);
    report.add("O4", "a_change_with_an_outcome_is_settled", settled(fixture).await);
    report.add("O4", "one_of_two_applications_is_recorded", race(fixture).await);
    report.add("O5", "an_entry_belongs_to_its_change", belongs(fixture).await);
    report
}

fn made(fixture: &dyn LedgerFixture, key: &str) -> Result<ChangeRequest, String> {
    let tenant = must!(scion_domain::id::TenantId::parse(fixture.tenant()), "the fixture's tenant");
    let mut made = ChangeRequest { tenant, ..change(key, "closed") };
    // Out of order on purpose: digests are over sorted maps.
    for field in ["status", "assignee"] {
        made.field_provenance.insert(field.to_owned(), format!("a person, for {field}"));
    }
    made.desired_patch.insert("assignee".to_owned(), Json::from("ann"));
    made.field_scope = vec!["assignee".to_owned(), "status".to_owned()];
    Ok(made)
}

fn entry(change: &ChangeRequest, kind: AttemptKind, status: EffectStatus) -> LedgerEntry {
    let known = |version: &str| (status != EffectStatus::Uncertain).then(|| version.to_owned());
    let after = if status == EffectStatus::Applied { "v2" } else { "v1" };
    let effect = Effect {
        status,
        pre_source_version: Some("v1".to_owned()),
        post_source_version: known(after),
        observation_digest: digest::sha256(format!("{kind:?} {status:?}").as_bytes()),
    };
    let (change_set_digest, idempotency_key) = (change.change_set_digest, change.idempotency_key.clone());
    LedgerEntry { change_set_digest, idempotency_key, kind, effect, sequence: 0 }
}

const LOOKED: (AttemptKind, EffectStatus) = (AttemptKind::DryRun, EffectStatus::NoEffect);
const APPLIED: (AttemptKind, EffectStatus) = (AttemptKind::Apply, EffectStatus::Applied);
const LOST: (AttemptKind, EffectStatus) = (AttemptKind::Apply, EffectStatus::Uncertain);
const REFUSED: (AttemptKind, EffectStatus) = (AttemptKind::Apply, EffectStatus::NoEffect);
const NOT_THERE: (AttemptKind, EffectStatus) = (AttemptKind::Reconciliation, EffectStatus::NoEffect);
const THERE: (AttemptKind, EffectStatus) = (AttemptKind::Reconciliation, EffectStatus::Applied);

async fn record(
    ledger: &dyn WriteBackLedger,
    change: &ChangeRequest,
    (kind, status): (AttemptKind, EffectStatus),
) -> Result<u64, WriteBackRefusal> {
    ledger.record(&entry(change, kind, status)).await
}

async fn create(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let change = made(fixture, "one")?;
    ensure!(must!(ledger.get(&change.change_set_digest).await, "read").is_none(), "an empty ledger has the change");
    must!(ledger.create(&change).await, "create");
    must!(ledger.create(&change).await, "create the same again");
    let found = must!(ledger.get(&change.change_set_digest).await, "read");
    ensure!(found.as_ref() == Some(&change), "the stored change is {found:?}");
    ensure!(must!(ledger.entries(&change.change_set_digest, 0, 10).await, "read").is_empty(), "it has entries");
    Ok(())
}

async fn reused(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let change = made(fixture, "one")?;
    must!(ledger.create(&change).await, "create");
    let other = ChangeRequest { change_set_digest: digest::sha256(b"another change"), ..change.clone() };
    match ledger.create(&other).await {
        Err(WriteBackRefusal::KeyReused { .. }) => {}
        other => return Err(format!("the id of another change got {other:?}")),
    }
    ensure!(must!(ledger.get(&other.change_set_digest).await, "read").is_none(), "the refused change is stored");
    Ok(())
}

async fn restart(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let (change, other) = (made(fixture, "one")?, made(fixture, "two")?);
    must!(ledger.create(&change).await, "create");
    must!(ledger.create(&other).await, "create another");
    let steps = [LOOKED, LOST, NOT_THERE, LOST, NOT_THERE, APPLIED];
    for (at, step) in steps.into_iter().enumerate() {
        let recorded = record(&*ledger, &change, step).await;
        let sequence = recorded.map_err(|refusal| format!("entry {}, {step:?}: {refusal}", at + 1))?;
        ensure!(sequence == at as u64 + 1, "entry {} has the number {sequence}", at + 1);
        if at == 0 {
            ensure!(must!(record(&*ledger, &other, LOOKED).await, "record") == 1, "changes share their numbers");
        }
    }
    let ledger = fixture.reopen(ledger).await;
    let found = must!(ledger.entries(&change.change_set_digest, 0, 100).await, "read");
    let expected: Vec<_> = (1..)
        .zip(steps)
        .map(|(sequence, (kind, status))| LedgerEntry { sequence, ..entry(&change, kind, status) })
        .collect();
    ensure!(found == expected, "the entries are {found:?}");
    let page = must!(ledger.entries(&change.change_set_digest, 2, 3).await, "read a page");
    ensure!(page == expected[2..5], "the page after 2 is {page:?}");
    Ok(())
}

async fn preview(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let change = made(fixture, "one")?;
    must!(ledger.create(&change).await, "create");
    for step in [APPLIED, LOST] {
        match record(&*ledger, &change, step).await {
            Err(WriteBackRefusal::NotPreviewed { .. }) => {}
            other => return Err(format!("an application without a preview got {other:?}")),
        }
    }
    must!(record(&*ledger, &change, LOOKED).await, "record the preview");
    ensure!(record(&*ledger, &change, LOOKED).await.is_err(), "a change has two previews");
    let found = must!(ledger.entries(&change.change_set_digest, 0, 10).await, "read");
    ensure!(found.len() == 1, "after refusals there are {} entries", found.len());
    Ok(())
}

async fn uncertain(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let change = made(fixture, "one")?;
    must!(ledger.create(&change).await, "create");
    must!(record(&*ledger, &change, LOOKED).await, "record the preview");
    must!(record(&*ledger, &change, LOST).await, "record the uncertain application");
    let ledger = fixture.reopen(ledger).await;
    for step in [LOOKED, APPLIED, LOST, REFUSED] {
        match record(&*ledger, &change, step).await {
            Err(WriteBackRefusal::Uncertain { .. }) => {}
            other => return Err(format!("{step:?} after an uncertain outcome got {other:?}")),
        }
    }
    must!(record(&*ledger, &change, THERE).await, "record the reconciliation");
    ensure!(record(&*ledger, &change, APPLIED).await.is_err(), "a reconciled change was applied again");
    Ok(())
}

async fn settled(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    for (key, end) in [("one", APPLIED), ("two", REFUSED)] {
        let change = made(fixture, key)?;
        must!(ledger.create(&change).await, "create");
        must!(record(&*ledger, &change, LOOKED).await, "record the preview");
        must!(record(&*ledger, &change, end).await, "record the application");
        for step in [APPLIED, LOST, LOOKED, THERE] {
            match record(&*ledger, &change, step).await {
                Err(WriteBackRefusal::Settled { .. }) => {}
                other => return Err(format!("{step:?} after {end:?} got {other:?}")),
            }
        }
    }
    Ok(())
}

async fn race(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let change = made(fixture, "one")?;
    must!(ledger.create(&change).await, "create");
    must!(record(&*ledger, &change, LOOKED).await, "record the preview");
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let (ledger, change) = (ledger.clone(), change.clone());
            tokio::spawn(async move { record(&*ledger, &change, APPLIED).await.is_ok() })
        })
        .collect();
    for writer in writers {
        let _ = writer.await;
    }
    let found = must!(ledger.entries(&change.change_set_digest, 0, 10).await, "read");
    let applied = found.iter().filter(|entry| entry.effect.status == EffectStatus::Applied).count();
    ensure!(applied == 1, "{applied} applications of one change are recorded");
    Ok(())
}

async fn belongs(fixture: &dyn LedgerFixture) -> Checked {
    let ledger = fixture.open().await;
    let change = made(fixture, "one")?;
    match record(&*ledger, &change, LOOKED).await {
        Err(WriteBackRefusal::UnknownChange) => {}
        other => return Err(format!("an entry of an unknown change got {other:?}")),
    }
    must!(ledger.create(&change).await, "create");
    let stray = LedgerEntry { idempotency_key: "another".to_owned(), ..entry(&change, LOOKED.0, LOOKED.1) };
    match ledger.record(&stray).await {
        Err(WriteBackRefusal::KeyReused { .. }) => Ok(()),
        other => Err(format!("an entry under another key got {other:?}")),
    }
}
