//! The suite of [`AccessCheck`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::access_check::{
    AccessAnswer, AccessCheckRefusal, AccessQuestion, CHECK_TIMEOUT_MS, MAX_RECORDS_PER_CHECK,
};
use scion_domain::id::RecordId;
use scion_ports::AccessCheck;

use crate::fixtures::id;
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes checks to test. The source behind each knows the records `open` (ada may read it) and `closed` (nobody may).
#[async_trait]
pub trait AccessFixture: Send + Sync {
    /// A check over a source that answers.
    async fn open(&self) -> Arc<dyn AccessCheck>;

    /// A check over a source that hangs.
    async fn hanging(&self) -> Arc<dyn AccessCheck>;

    /// Takes ada's permission to read `open` away, at the source of the last check opened.
    async fn revoke(&self);

    /// How many questions the source was asked so far.
    fn asked(&self) -> usize;
}

/// Runs every check.
pub async fn run(fixture: &dyn AccessFixture) -> Report {
    let mut report = Report::new("AccessCheck");
    report.add("O1", "one_answer_per_record_in_order", order(fixture).await);
    report.add("O2", "an_unknown_record_is_denied", unknown(fixture).await);
    report.add("O3", "bad_questions_are_refused_before_the_source_is_asked", bounds(fixture).await);
    report.add("O4", "silence_is_denial", silence(fixture).await);
    report.add("O5", "a_revoked_permission_counts_at_once", revoked(fixture).await);
    report
}

async fn ask(check: &Arc<dyn AccessCheck>, records: Vec<RecordId>) -> Result<Vec<AccessAnswer>, AccessCheckRefusal> {
    check.check(&AccessQuestion { principal: "ada".into(), records }).await
}

async fn order(fixture: &dyn AccessFixture) -> Checked {
    let check = fixture.open().await;
    let answers = must!(ask(&check, vec![id("closed"), id("open"), id("closed")]).await, "check");
    ensure!(
        answers == [AccessAnswer::Denied, AccessAnswer::Allowed, AccessAnswer::Denied],
        "the answers are {answers:?}"
    );
    Ok(())
}

async fn unknown(fixture: &dyn AccessFixture) -> Checked {
    let check = fixture.open().await;
    let answers = must!(ask(&check, vec![id("never-seen")]).await, "check");
    ensure!(answers == [AccessAnswer::Denied], "the answers are {answers:?}");
    Ok(())
}

async fn bounds(fixture: &dyn AccessFixture) -> Checked {
    let check = fixture.open().await;
    let before = fixture.asked();
    let many = (0..=MAX_RECORDS_PER_CHECK).map(|number| id(&number.to_string())).collect();
    ensure!(matches!(ask(&check, many).await, Err(AccessCheckRefusal::TooMany { .. })), "201 records were accepted");
    let nobody = AccessQuestion { principal: String::new(), records: vec![id("open")] };
    ensure!(matches!(check.check(&nobody).await, Err(AccessCheckRefusal::NoPrincipal)), "nobody was accepted");
    ensure!(fixture.asked() == before, "the source was asked");
    Ok(())
}

async fn silence(fixture: &dyn AccessFixture) -> Checked {
    let check = fixture.hanging().await;
    let limit = Duration::from_millis(CHECK_TIMEOUT_MS * 2);
    match tokio::time::timeout(limit, ask(&check, vec![id("open"), id("closed")])).await {
        Ok(Ok(answers)) if answers == [AccessAnswer::Denied, AccessAnswer::Denied] => Ok(()),
        Ok(other) => Err(format!("a hanging source got {other:?}")),
        Err(_) => Err("the check hung with its source".into()),
    }
}

async fn revoked(fixture: &dyn AccessFixture) -> Checked {
    let check = fixture.open().await;
    let before = must!(ask(&check, vec![id("open")]).await, "check");
    ensure!(before == [AccessAnswer::Allowed], "ada may not read it to begin with");
    fixture.revoke().await;
    let after = must!(ask(&check, vec![id("open")]).await, "check");
    ensure!(after == [AccessAnswer::Denied], "a revoked permission still counts");
    Ok(())
}
