//! The suite of [`RecordDigests`], together with the sink it belongs to.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::model::{IngestMode, SourceBatch};
use scion_ports::{RecordDigests, Sink};

use crate::fixtures::{batch, connector, connector_named, id, pack, stream, stream_named, ticket, withdrawal};
use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// A sink and the digests of what it accepted.
#[derive(Clone)]
pub struct Pair {
    /// The sink.
    pub sink: Arc<dyn Sink>,
    /// Its digests.
    pub digests: Arc<dyn RecordDigests>,
}

/// Makes pairs to test.
#[async_trait]
pub trait RecordDigestsFixture: Send + Sync {
    /// A fresh, empty pair.
    async fn open(&self) -> Pair;

    /// A pair without records whose sink has accepted the fixture pack.
    async fn open_with_pack(&self) -> Result<Pair, String> {
        let pair = self.open().await;
        must!(pair.sink.import_pack(&pack()).await, "import");
        Ok(pair)
    }

    /// The same store after a restart.
    async fn reopen(&self, pair: Pair) -> Pair;
}

/// Runs every check.
pub async fn run(fixture: &dyn RecordDigestsFixture) -> Report {
    let mut report = Report::new("RecordDigests");
    report.add("O1", "answers_come_in_order_and_unknown_ids_are_none", order(fixture).await);
    report.add("O1", "a_withdrawn_record_has_no_digest", withdrawn(fixture).await);
    report.add("O1", "streams_and_connectors_are_separate", separate(fixture).await);
    report.add("O2", "digests_survive_a_restart", restart(fixture).await);
    report.add("O2", "a_changed_record_has_its_new_digest", changed(fixture).await);
    report
}

async fn commit(pair: &Pair, offered: &SourceBatch) -> Checked {
    let receipt = must!(pair.sink.commit(offered).await, "commit");
    let digests: Vec<_> =
        offered.records.iter().map(|record| (record.entity.record_id.clone(), record.content_digest)).collect();
    must!(pair.digests.accepted(&offered.connector, &stream(), &digests, &receipt).await, "accepted");
    Ok(())
}

async fn with_two(fixture: &dyn RecordDigestsFixture) -> Result<Pair, String> {
    let pair = fixture.open_with_pack().await?;
    commit(&pair, &batch(IngestMode::Full, vec![ticket("a", "1"), ticket("b", "2")], None, 1)).await?;
    Ok(pair)
}

async fn order(fixture: &dyn RecordDigestsFixture) -> Checked {
    let pair = with_two(fixture).await?;
    let ids = [id("b"), id("nobody"), id("a"), id("b")];
    let found = must!(pair.digests.lookup(&connector(), &stream(), &ids).await, "lookup");
    let (a, b) = (ticket("a", "1").content_digest, ticket("b", "2").content_digest);
    ensure!(found == [Some(b), None, Some(a), Some(b)], "the lookup gave {found:?}");
    ensure!(
        must!(pair.digests.lookup(&connector(), &stream(), &[]).await, "lookup of nothing").is_empty(),
        "not empty"
    );
    Ok(())
}

async fn withdrawn(fixture: &dyn RecordDigestsFixture) -> Checked {
    let pair = with_two(fixture).await?;
    let mut delta = batch(IngestMode::Delta, vec![], Some(1), 2);
    delta.withdrawals.push(withdrawal("a"));
    commit(&pair, &delta).await?;
    let found = must!(pair.digests.lookup(&connector(), &stream(), &[id("a"), id("b")]).await, "lookup");
    ensure!(found == [None, Some(ticket("b", "2").content_digest)], "the lookup gave {found:?}");
    Ok(())
}

async fn separate(fixture: &dyn RecordDigestsFixture) -> Checked {
    let pair = with_two(fixture).await?;
    for (connector, stream) in [(connector(), stream_named("agents")), (connector_named("other-mcp"), stream())] {
        let found = must!(pair.digests.lookup(&connector, &stream, &[id("a")]).await, "lookup");
        ensure!(found == [None], "{connector}/{stream} knows a record of another stream");
    }
    Ok(())
}

async fn restart(fixture: &dyn RecordDigestsFixture) -> Checked {
    let pair = fixture.reopen(with_two(fixture).await?).await;
    let found = must!(pair.digests.lookup(&connector(), &stream(), &[id("a")]).await, "lookup");
    ensure!(found == [Some(ticket("a", "1").content_digest)], "the digest is lost");
    Ok(())
}

async fn changed(fixture: &dyn RecordDigestsFixture) -> Checked {
    let pair = with_two(fixture).await?;
    commit(&pair, &batch(IngestMode::Full, vec![ticket("a", "other")], Some(1), 2)).await?;
    let found = must!(pair.digests.lookup(&connector(), &stream(), &[id("a")]).await, "lookup");
    ensure!(found == [Some(ticket("a", "other").content_digest)], "the old digest is still there");
    Ok(())
}
