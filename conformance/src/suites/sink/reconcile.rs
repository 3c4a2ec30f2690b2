//! Withdrawal in its three forms, and coming back.

use scion_domain::model::{EntityRef, IngestMode, SourceBatch, SourceRecord};
use scion_domain::refusal::Refusal as _;
use scion_domain::sink::SinkRefusal;

use super::{SinkFixture, expect_live, ready};
use crate::fixtures::{
    batch, batch_of, connector, connector_named, entity, pack_with, stream, stream_named, ticket, ticket_of, withdrawal,
};
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

pub(super) async fn run(fixture: &dyn SinkFixture, report: &mut Report) {
    report.add("O7", "a_reconcile_withdraws_exactly_what_is_not_listed", exact(fixture).await);
    report.add("O7", "a_reconcile_leaves_other_streams_alone", others(fixture).await);
    report.add("O7", "a_withdrawal_of_something_not_live_is_refused", unknown_withdrawal(fixture).await);
    report.add("O8", "an_empty_snapshot_needs_approval", approval(fixture).await);
    report.add("O9", "a_withdrawn_record_comes_back", back(fixture).await);
}

fn listing(records: Vec<SourceRecord>, live: Vec<EntityRef>, from: i64, to: i64) -> SourceBatch {
    SourceBatch { authoritative_live_ids: Some(live), ..batch(IngestMode::Reconcile, records, Some(from), to) }
}

async fn exact(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let all = vec![ticket("a", "1"), ticket("b", "2"), ticket("c", "3")];
    must!(sink.commit(&batch(IngestMode::Full, all, None, 1)).await, "first");
    let offered = listing(vec![ticket("d", "4")], vec![entity("a"), entity("d")], 1, 2);
    let receipt = must!(sink.commit(&offered).await, "reconcile");
    let mut gone: Vec<String> = receipt.tombstones.iter().map(|t| t.entity.record_id.to_string()).collect();
    gone.sort_unstable();
    ensure!(gone == ["b", "c"], "tombstones are {gone:?}");
    expect_live(fixture, &sink, &["a", "d"]).await
}

async fn others(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let agents = stream_named("agents");
    let far = connector_named("other-mcp");
    must!(sink.import_pack(&pack_with(&far, 0)).await, "import");
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "1")], None, 1)).await, "tickets");
    let agent = ticket_of(&connector(), &agents, "a", "x");
    must!(sink.commit(&batch_of(&connector(), &agents, vec![agent])).await, "agents");
    must!(sink.commit(&batch_of(&far, &stream(), vec![ticket_of(&far, &stream(), "a", "x")])).await, "other connector");
    let mut empty = listing(vec![], vec![], 1, 2);
    empty.empty_authoritative_approval = Some("the queue was closed".into());
    let receipt = must!(sink.commit(&empty).await, "reconcile");
    ensure!(receipt.tombstones.len() == 1, "{} records were withdrawn", receipt.tombstones.len());
    ensure!(receipt.tombstones[0].entity == entity("a"), "another record was withdrawn");
    Ok(())
}

async fn unknown_withdrawal(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "1")], None, 1)).await, "first");
    let mut delta = batch(IngestMode::Delta, vec![], Some(1), 2);
    delta.withdrawals.push(withdrawal("nobody"));
    match sink.commit(&delta).await {
        Err(SinkRefusal::WithdrawalUnknown { .. }) => expect_live(fixture, &sink, &["a"]).await,
        other => Err(format!("a withdrawal of nothing got {other:?}")),
    }
}

async fn approval(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "1")], None, 1)).await, "first");
    for offered in [batch(IngestMode::Full, vec![], Some(1), 2), listing(vec![], vec![], 1, 2)] {
        match sink.commit(&offered).await {
            Err(refusal) if refusal.leaf_code() == "empty_authoritative_snapshot" => {}
            Err(refusal) => return Err(format!("refused with {}", refusal.code())),
            Ok(_) => return Err(format!("an empty {} batch was accepted", offered.mode.as_str())),
        }
    }
    expect_live(fixture, &sink, &["a"]).await
}

async fn back(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "1"), ticket("b", "2")], None, 1)).await, "first");
    let mut delta = batch(IngestMode::Delta, vec![], Some(1), 2);
    delta.withdrawals.push(withdrawal("a"));
    must!(sink.commit(&delta).await, "withdrawal");
    expect_live(fixture, &sink, &["b"]).await?;
    must!(sink.commit(&batch(IngestMode::Delta, vec![ticket("a", "1")], Some(2), 3)).await, "observed again");
    expect_live(fixture, &sink, &["a", "b"]).await
}
