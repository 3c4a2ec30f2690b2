//! Commits: atomicity, durability, replay, conflicts, binding, admission.

use scion_domain::digest;
use scion_domain::model::{Disposition, IngestMode, StreamStatus};
use scion_domain::refusal::Refusal as _;
use scion_domain::sink::SinkRefusal;

use super::{SinkFixture, expect_live, identity, ready};
use crate::fixtures::{
    at, batch, batch_of, connector, connector_named, edge, stream, stream_named, ticket, ticket_of, undeclared_mapping,
    undeclared_relation,
};
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

pub(super) async fn run(fixture: &dyn SinkFixture, report: &mut Report) {
    report.add("O1", "a_refused_batch_changes_nothing", refused_changes_nothing(fixture).await);
    report.add("O2", "a_receipt_survives_a_restart", survives_restart(fixture).await);
    report.add("O3", "the_same_batch_again_is_replayed", replay(fixture).await);
    report.add("O3", "an_old_batch_again_moves_nothing", late_replay(fixture).await);
    report.add("O4", "a_stale_checkpoint_is_a_conflict", stale(fixture).await);
    report.add("O4", "another_first_batch_is_a_conflict", second_first(fixture).await);
    report.add("O5", "the_receipt_binds_the_request", binds(fixture).await);
    report.add("O6", "an_unknown_mapping_is_refused", unknown_mapping(fixture).await);
    report.add("O6", "a_connector_without_a_pack_is_refused", no_pack(fixture).await);
    report.add("O6", "an_unknown_relation_is_refused", unknown_relation(fixture).await);
    report.add("O11", "something_unknown_has_an_empty_status", empty_status(fixture).await);
    report.add("O12", "more_records_than_declared_are_refused", too_many(fixture).await);
    report.add("O12", "edges_across_streams_follow_the_capability", cross_stream(fixture).await);
    report.add("O12", "edges_to_missing_records_follow_the_capability", forward_reference(fixture).await);
}

async fn refused_changes_nothing(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await, "first batch");
    let before = must!(sink.status(&connector(), &stream()).await, "status");
    let mut bad = batch(IngestMode::Full, vec![ticket("b", "two"), ticket("c", "three")], Some(1), 2);
    bad.records[1].mapping_reference = undeclared_mapping();
    ensure!(sink.commit(&bad).await.is_err(), "a batch with an unmapped record was accepted");
    let after = must!(sink.status(&connector(), &stream()).await, "status");
    ensure!(before == after, "the status moved from {before:?} to {after:?}");
    expect_live(fixture, &sink, &["a"]).await
}

async fn survives_restart(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let receipt = must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await, "commit");
    let sink = fixture.reopen(sink).await;
    let status = must!(sink.status(&connector(), &stream()).await, "status");
    ensure!(status.accepted_checkpoint == Some(at(1)), "the accepted checkpoint is {:?}", status.accepted_checkpoint);
    ensure!(status.last_batch_digest == Some(receipt.batch_digest), "the last batch digest is lost");
    ensure!(status.last_receipt_id.as_ref() == Some(&receipt.receipt_id), "the last receipt id is lost");
    expect_live(fixture, &sink, &["a"]).await
}

async fn replay(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let offered = batch(IngestMode::Full, vec![ticket("a", "one")], None, 1);
    let first = must!(sink.commit(&offered).await, "commit");
    ensure!(first.disposition == Disposition::Committed, "the first commit answered {:?}", first.disposition);
    match sink.commit(&offered).await {
        Ok(second) => {
            ensure!(second.disposition == Disposition::Replayed, "the second answered {:?}", second.disposition);
            ensure!(identity(&first) == identity(&second), "the replay is another receipt");
            ensure!(first.committed_graph_version == second.committed_graph_version, "the replay moved the graph");
        }
        Err(SinkRefusal::OutcomeUnknown) => {}
        Err(refusal) => return Err(format!("a replay was refused: {refusal}")),
    }
    let status = must!(sink.status(&connector(), &stream()).await, "status");
    ensure!(status.last_batch_digest == Some(first.batch_digest), "the status does not name the batch");
    Ok(())
}

async fn late_replay(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let first = batch(IngestMode::Full, vec![ticket("a", "one")], None, 1);
    must!(sink.commit(&first).await, "first");
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "two")], Some(1), 2)).await, "second");
    let before = must!(sink.status(&connector(), &stream()).await, "status");
    // Replayed or refused are both fine; moving is not.
    let _ = sink.commit(&first).await;
    let after = must!(sink.status(&connector(), &stream()).await, "status");
    ensure!(before == after, "an old batch moved the stream");
    Ok(())
}

async fn stale(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await, "first");
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("b", "two")], Some(1), 2)).await, "second");
    match sink.commit(&batch(IngestMode::Full, vec![ticket("c", "three")], Some(1), 3)).await {
        Err(SinkRefusal::Conflict { .. }) => expect_live(fixture, &sink, &["a", "b"]).await,
        other => Err(format!("a stale batch got {other:?}")),
    }
}

async fn second_first(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    must!(sink.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await, "first");
    match sink.commit(&batch(IngestMode::Full, vec![ticket("z", "other")], None, 1)).await {
        Err(SinkRefusal::Conflict { .. }) => expect_live(fixture, &sink, &["a"]).await,
        other => Err(format!("another first batch got {other:?}")),
    }
}

async fn binds(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let mut offered = batch(IngestMode::Full, vec![ticket("a", "one"), ticket("b", "two")], None, 1);
    offered.relationships.push(edge("a", "b"));
    let receipt = must!(sink.commit(&offered).await, "commit");
    let expected = must!(digest::batch(&offered), "batch digest");
    ensure!(receipt.batch_digest == expected.batch, "the batch digest differs");
    ensure!(receipt.receipt_id == format!("source-ingest:{}", expected.batch), "receipt id is {}", receipt.receipt_id);
    ensure!(receipt.accepted_checkpoint == offered.provider_checkpoint, "another checkpoint was accepted");
    ensure!(
        receipt.accepted_checkpoint_digest == digest::checkpoint(&offered.provider_checkpoint),
        "the checkpoint digest differs"
    );
    let raw: Vec<_> = receipt.raw_admissions.iter().map(|admission| admission.raw_digest).collect();
    ensure!(raw == expected.raw, "the raw digests differ");
    ensure!(receipt.affected_count == 3 && receipt.relationship_count == 1, "the counts differ");
    ensure!(receipt.mode == offered.mode, "the mode differs");
    Ok(())
}

async fn unknown_mapping(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let mut bad = batch(IngestMode::Full, vec![ticket("a", "one")], None, 1);
    bad.records[0].mapping_reference = undeclared_mapping();
    match sink.commit(&bad).await {
        Err(SinkRefusal::UnknownMapping { .. }) => {}
        other => return Err(format!("an unmapped record got {other:?}")),
    }
    let status = must!(sink.status(&connector(), &stream()).await, "status");
    ensure!(status.accepted_checkpoint.is_none(), "the checkpoint moved");
    Ok(())
}

async fn no_pack(fixture: &dyn SinkFixture) -> Checked {
    let sink = fixture.open().await;
    match sink.commit(&batch(IngestMode::Full, vec![ticket("a", "one")], None, 1)).await {
        Err(SinkRefusal::UnknownMapping { .. }) => Ok(()),
        other => Err(format!("a connector without a pack got {other:?}")),
    }
}

async fn unknown_relation(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let mut bad = batch(IngestMode::Full, vec![ticket("a", "one"), ticket("b", "two")], None, 1);
    bad.relationships.push(edge("a", "b"));
    bad.relationships[0].relation_reference = undeclared_relation();
    match sink.commit(&bad).await {
        Err(SinkRefusal::UnknownRelation { .. }) => expect_live(fixture, &sink, &[]).await,
        other => Err(format!("an undeclared relation got {other:?}")),
    }
}

async fn empty_status(fixture: &dyn SinkFixture) -> Checked {
    let sink = fixture.open().await;
    let status = must!(sink.status(&connector(), &stream_named("never")).await, "status");
    ensure!(status == StreamStatus::default(), "the status is {status:?}");
    let pack = must!(sink.pack_status(&connector_named("never")).await, "pack status");
    ensure!(pack.accepted_digest.is_none() && pack.revision.is_none(), "the pack status is {pack:?}");
    Ok(())
}

async fn too_many(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let limit = sink.capabilities().max_records;
    let records = (0..=limit).map(|number| ticket(&format!("r{number}"), "s")).collect();
    match sink.commit(&batch(IngestMode::Full, records, None, 1)).await {
        Err(refusal) if refusal.leaf_code() == "batch_too_many" || refusal.code() == "capability_missing" => Ok(()),
        Err(refusal) => Err(format!("{} records were refused with {}", limit + 1, refusal.leaf_code())),
        Ok(_) => Err(format!("{} records were accepted", limit + 1)),
    }
}

async fn cross_stream(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let other = stream_named("agents");
    let agent = ticket_of(&connector(), &other, "x", "agent");
    must!(sink.commit(&batch_of(&connector(), &other, vec![agent])).await, "other stream");
    let mut offered = batch(IngestMode::Full, vec![ticket("a", "one")], None, 1);
    offered.relationships.push(edge("a", "x"));
    offered.relationships[0].target.stream = other;
    let accepted = sink.commit(&offered).await.is_ok();
    let declared = sink.capabilities().cross_stream_relationships;
    ensure!(declared == accepted, "declared {declared}, accepted {accepted}");
    Ok(())
}

async fn forward_reference(fixture: &dyn SinkFixture) -> Checked {
    let sink = ready(fixture).await?;
    let mut offered = batch(IngestMode::Full, vec![ticket("a", "one")], None, 1);
    offered.relationships.push(edge("a", "later"));
    match (sink.capabilities().forward_references, sink.commit(&offered).await) {
        (true, Ok(_)) | (false, Err(SinkRefusal::EndpointUnknown { .. })) => Ok(()),
        (declared, answer) => Err(format!("declared {declared}, accepted {}", answer.is_ok())),
    }
}
