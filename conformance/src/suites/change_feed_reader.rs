//! The suite of [`ChangeFeedReader`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::messaging::{ChangeKind, ChangePage, ChangePosition, MessageRefusal};
use scion_ports::ChangeFeedReader;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes graphs to test. How one changes is the store's business.
#[async_trait]
pub trait ChangeFeedFixture: Send + Sync {
    /// An empty graph.
    async fn open(&self) -> Arc<dyn ChangeFeedReader>;

    /// Adds a node to the graph opened last.
    async fn add(&self, node: &str);

    /// Makes the feed of the graph opened last lose the changes so far, as a restart or a full memory does.
    async fn lose(&self) -> Arc<dyn ChangeFeedReader>;
}

/// Runs every check.
pub async fn run(fixture: &dyn ChangeFeedFixture) -> Report {
    let mut report = Report::new("ChangeFeedReader");
    report.add("O1", "following_the_position_gives_every_change_once", follow(fixture).await);
    report.add("O2", "a_change_shows_at_once", at_once(fixture).await);
    report.add("O3", "a_position_in_the_future_is_a_gap", future(fixture).await);
    report.add("O3", "another_epoch_is_a_gap", epoch(fixture).await);
    report.add("O3", "lost_changes_are_a_gap", lost(fixture).await);
    report.add("O4", "pages_are_bounded", bounds(fixture).await);
    report
}

async fn read(feed: &dyn ChangeFeedReader, from: Option<ChangePosition>, limit: usize) -> Result<ChangePage, String> {
    Ok(must!(feed.read(from, limit).await, "read"))
}

async fn follow(fixture: &dyn ChangeFeedFixture) -> Checked {
    let feed = fixture.open().await;
    for node in ["a", "b", "c", "d", "e"] {
        fixture.add(node).await;
    }
    let (mut from, mut nodes, mut sequences) = (None, Vec::new(), Vec::new());
    for _ in 0..6 {
        let page = read(&*feed, from, 2).await?;
        ensure!(!page.gap && page.changes.len() <= 2, "a page has a gap or is too long");
        for change in page.changes {
            ensure!(
                change.kind == ChangeKind::AddNode && change.after.is_some(),
                "a node that came is {:?}",
                change.kind
            );
            sequences.push(change.seq);
            nodes.push(change.node);
        }
        from = Some(page.next);
    }
    ensure!(nodes == ["a", "b", "c", "d", "e"], "the changes are of {nodes:?}");
    ensure!(sequences.windows(2).all(|pair| pair[1] > pair[0]), "the sequences are {sequences:?}");
    Ok(())
}

async fn at_once(fixture: &dyn ChangeFeedFixture) -> Checked {
    let feed = fixture.open().await;
    let page = read(&*feed, None, 10).await?;
    ensure!(page.changes.is_empty() && !page.gap, "an empty graph has changes");
    fixture.add("a").await;
    let page = read(&*feed, Some(page.next), 10).await?;
    ensure!(page.changes.len() == 1 && !page.gap, "a committed change does not show");
    Ok(())
}

async fn gap(feed: &dyn ChangeFeedReader, from: ChangePosition) -> Checked {
    let page = read(feed, Some(from), 10).await?;
    ensure!(page.gap && page.changes.is_empty(), "{from:?} gives {} changes and gap {}", page.changes.len(), page.gap);
    let next = read(feed, Some(page.next), 10).await?;
    ensure!(!next.gap && next.changes.is_empty(), "the position after a gap is not the newest one");
    Ok(())
}

async fn future(fixture: &dyn ChangeFeedFixture) -> Checked {
    let feed = fixture.open().await;
    fixture.add("a").await;
    let page = read(&*feed, None, 10).await?;
    gap(&*feed, ChangePosition { seq: page.next.seq + 100, ..page.next }).await
}

async fn epoch(fixture: &dyn ChangeFeedFixture) -> Checked {
    let feed = fixture.open().await;
    fixture.add("a").await;
    let page = read(&*feed, None, 10).await?;
    gap(&*feed, ChangePosition { epoch: page.next.epoch ^ 1, seq: 0 }).await
}

async fn lost(fixture: &dyn ChangeFeedFixture) -> Checked {
    let feed = fixture.open().await;
    let start = read(&*feed, None, 10).await?.next;
    fixture.add("a").await;
    drop(feed);
    let feed = fixture.lose().await;
    fixture.add("b").await;
    gap(&*feed, start).await
}

async fn bounds(fixture: &dyn ChangeFeedFixture) -> Checked {
    let feed = fixture.open().await;
    for limit in [0, 1001] {
        match feed.read(None, limit).await {
            Err(MessageRefusal::Invalid { .. }) => {}
            other => return Err(format!("a page of {limit} got {other:?}")),
        }
    }
    Ok(())
}
