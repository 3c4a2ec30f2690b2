//! The suite of [`MessageStream`].

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::messaging::{MAX_MESSAGE, MessageRefusal, StreamBounds};
use scion_ports::MessageStream;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes streams to test.
#[async_trait]
pub trait MessageStreamFixture: Send + Sync {
    /// A fresh store without streams.
    async fn open(&self) -> Arc<dyn MessageStream>;

    /// The same store after a restart.
    async fn reopen(&self, store: Arc<dyn MessageStream>) -> Arc<dyn MessageStream>;
}

/// Runs every check.
pub async fn run(fixture: &dyn MessageStreamFixture) -> Report {
    let mut report = Report::new("MessageStream");
    report.add("O1", "messages_come_in_order_from_an_offset", order(fixture).await);
    report.add("O1", "streams_are_separate", separate(fixture).await);
    report.add("O1", "concurrent_messages_each_have_an_offset", race(fixture).await);
    report.add("O2", "messages_and_offsets_survive_a_restart", restart(fixture).await);
    report.add("O3", "each_group_has_its_own_offset", groups(fixture).await);
    report.add("O4", "a_committed_offset_never_goes_back", back(fixture).await);
    report.add("O5", "a_trim_keeps_the_newest_messages", trim(fixture).await);
    report.add("O5", "a_trim_lets_old_messages_go", age(fixture).await);
    report.add("O6", "names_and_messages_are_bounded", bounds(fixture).await);
    report
}

/// Offsets and payloads of the whole stream.
async fn all(store: &dyn MessageStream, from: u64) -> Result<Vec<(u64, Vec<u8>)>, String> {
    let (mut from, mut found) = (from, Vec::new());
    loop {
        let page = must!(store.read("s", from, 1000).await, "read");
        let Some(last) = page.last() else { return Ok(found) };
        from = last.offset + 1;
        found.extend(page.into_iter().map(|message| (message.offset, message.payload)));
        ensure!(found.len() < 10_000, "reading does not end");
    }
}

async fn order(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    ensure!(must!(store.read("s", 0, 10).await, "read a stream nobody made").is_empty(), "it has messages");
    let payloads: [&[u8]; 4] = [b"one", b"", b"\0\xff\x80", b"four"];
    for (at, payload) in payloads.into_iter().enumerate() {
        let offset = must!(store.publish("s", payload, 1_000).await, "publish");
        ensure!(offset == at as u64, "message {at} has the offset {offset}");
    }
    let found = all(&*store, 1).await?;
    let expected: Vec<_> = (1..4_u8).map(|at| (u64::from(at), payloads[usize::from(at)].to_vec())).collect();
    ensure!(found == expected, "from offset 1 came {found:?}");
    ensure!(must!(store.read("s", 1, 2).await, "read a page").len() <= 2, "the page is longer than its limit");
    ensure!(must!(store.read("s", 4, 10).await, "read the end").is_empty(), "there is something past the end");
    ensure!(must!(store.read("s", u64::MAX, 10).await, "read far past the end").is_empty(), "the far end has messages");
    Ok(())
}

async fn separate(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    must!(store.publish("s", b"1", 1_000).await, "publish");
    let offset = must!(store.publish("other", b"2", 1_000).await, "publish to another stream");
    ensure!(offset == 0, "the other stream starts at {offset}");
    ensure!(all(&*store, 0).await? == [(0, b"1".to_vec())], "the streams mix");
    Ok(())
}

async fn race(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    let writers: Vec<_> = (0..16_u8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move { store.publish("s", &[writer], 1_000).await })
        })
        .collect();
    let mut offsets = Vec::new();
    for writer in writers {
        let published = writer.await.map_err(|_| "a writer panicked".to_owned())?;
        offsets.push(must!(published, "publish beside others"));
    }
    offsets.sort_unstable();
    ensure!(offsets == (0..16).collect::<Vec<_>>(), "the offsets are {offsets:?}");
    let mut payloads: Vec<_> = all(&*store, 0).await?.into_iter().map(|(_, payload)| payload).collect();
    payloads.sort_unstable();
    ensure!(payloads == (0..16_u8).map(|writer| vec![writer]).collect::<Vec<_>>(), "the messages are {payloads:?}");
    Ok(())
}

async fn restart(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    must!(store.publish("s", b"1", 1_000).await, "publish");
    must!(store.publish("s", b"2", 1_000).await, "publish");
    must!(store.commit("s", "g", 1).await, "commit");
    let store = fixture.reopen(store).await;
    ensure!(all(&*store, 0).await? == [(0, b"1".to_vec()), (1, b"2".to_vec())], "messages are lost");
    ensure!(must!(store.committed("s", "g").await, "read the offset") == Some(1), "the offset is lost");
    let offset = must!(store.publish("s", b"3", 1_000).await, "publish after the restart");
    ensure!(offset == 2, "offsets go on at {offset}");
    Ok(())
}

async fn groups(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    for _ in 0..4 {
        must!(store.publish("s", b"m", 1_000).await, "publish");
        must!(store.publish("other", b"m", 1_000).await, "publish");
    }
    ensure!(must!(store.committed("s", "g").await, "read the offset").is_none(), "a new group has an offset");
    must!(store.commit("s", "g", 3).await, "commit");
    must!(store.commit("s", "h", 1).await, "commit for another group");
    must!(store.commit("other", "g", 2).await, "commit in another stream");
    for (stream, group, expected) in [("s", "g", 3), ("s", "h", 1), ("other", "g", 2)] {
        let found = must!(store.committed(stream, group).await, "read the offset");
        ensure!(found == Some(expected), "{group} of {stream} stands at {found:?}, not {expected}");
    }
    ensure!(all(&*store, 0).await?.len() == 4, "a commit takes messages away");
    Ok(())
}

async fn back(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    for _ in 0..4 {
        must!(store.publish("s", b"m", 1_000).await, "publish");
    }
    must!(store.commit("s", "g", 3).await, "commit");
    match store.commit("s", "g", 2).await {
        Err(MessageRefusal::Behind { committed: 3, asked: 2 }) => {}
        other => return Err(format!("committing 2 after 3 got {other:?}")),
    }
    ensure!(must!(store.committed("s", "g").await, "read the offset") == Some(3), "the refused commit took effect");
    must!(store.commit("s", "g", 3).await, "commit the same again");
    must!(store.commit("s", "g", 4).await, "commit further on");
    Ok(())
}

async fn trim(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    must!(store.declare("s", StreamBounds { max_messages: Some(5), max_age_ms: None }).await, "declare");
    must!(store.declare("s", StreamBounds { max_messages: Some(2), max_age_ms: None }).await, "declare again");
    for at in 0..5_u8 {
        must!(store.publish("s", &[at], 1_000).await, "publish");
    }
    must!(store.commit("s", "g", 1).await, "commit");
    let gone = must!(store.trim("s", 1_000).await, "trim");
    ensure!(gone == 3, "{gone} messages went");
    ensure!(all(&*store, 0).await? == [(3, vec![3]), (4, vec![4])], "other messages are left");
    ensure!(must!(store.trim("s", 1_000).await, "trim again") == 0, "there was more to trim");
    ensure!(must!(store.publish("s", b"m", 1_000).await, "publish") == 5, "offsets start anew");
    ensure!(must!(store.committed("s", "g").await, "read the offset") == Some(1), "the trim moved a group");
    Ok(())
}

async fn age(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    must!(store.publish("free", b"m", 1_000).await, "publish");
    ensure!(must!(store.trim("free", 1_000_000).await, "trim") == 0, "a stream without bounds loses messages");
    must!(store.declare("s", StreamBounds { max_messages: None, max_age_ms: Some(100) }).await, "declare");
    must!(store.publish("s", b"old", 1_000).await, "publish");
    must!(store.publish("s", b"young", 1_950).await, "publish");
    ensure!(must!(store.trim("s", 2_000).await, "trim") == 1, "not the one old message went");
    ensure!(all(&*store, 0).await? == [(1, b"young".to_vec())], "other messages are left");
    Ok(())
}

async fn bounds(fixture: &dyn MessageStreamFixture) -> Checked {
    let store = fixture.open().await;
    let (long, large) = ("n".repeat(513), vec![7; MAX_MESSAGE + 1]);
    let refused = |result: Result<(), MessageRefusal>, what: &str| match result {
        Err(MessageRefusal::Invalid { .. }) => Ok(()),
        other => Err(format!("{what} got {other:?}")),
    };
    for name in ["", &long, "a\nb"] {
        refused(store.publish(name, b"m", 1_000).await.map(|_| ()), "publishing under a bad name")?;
        refused(store.commit("s", name, 1).await, "committing for a bad name")?;
    }
    refused(store.publish("s", &large, 1_000).await.map(|_| ()), "a message that is too long")?;
    refused(store.read("s", 0, 0).await.map(|_| ()), "an empty page")?;
    refused(store.read("s", 0, 1001).await.map(|_| ()), "a long page")?;
    for at in 0..12_u64 {
        ensure!(
            must!(store.publish("s", &large[..MAX_MESSAGE], 1_000).await, "publish") == at,
            "a refusal took an offset"
        );
    }
    let found = all(&*store, 0).await?;
    ensure!(found.len() == 12 && found.iter().all(|(_, m)| m.len() == MAX_MESSAGE), "large messages do not come back");
    Ok(())
}
