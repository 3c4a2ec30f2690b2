//! The suite of [`McpSession`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{McpRefusal, ToolCall};
use scion_ports::McpSession;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes sessions to test. The server of [`open`](Self::open) lists `tools` tools over more than one page, among them `echo`
/// (answers its argument `text` as the one text block), `slow` (answers after ten seconds), `fail` (answers `isError`) and
/// `raise` (answers a protocol error), and has the resource `connector://status` with the text `ok`. Error texts of the
/// server contain `hunter2`. The deadline of the session is at most two seconds.
#[async_trait]
pub trait SessionFixture: Send + Sync {
    /// A session with a well-behaved server.
    async fn open(&self) -> Arc<dyn McpSession>;

    /// A session with a server whose tool listing repeats a cursor.
    async fn looping(&self) -> Arc<dyn McpSession>;

    /// A session with a server that ends when the tool `die` is called.
    async fn dying(&self) -> Arc<dyn McpSession>;

    /// A session bounded to 64 KiB a message, with a server whose tool `huge` answers 1 MiB.
    async fn bounded(&self) -> Arc<dyn McpSession>;

    /// Whether the server of the last `open` saw a cancellation within a second.
    async fn saw_cancellation(&self) -> bool;

    /// How many tools the server of `open` lists.
    fn tools(&self) -> usize;
}

/// Runs every check.
pub async fn run(fixture: &dyn SessionFixture) -> Report {
    let mut report = Report::new("McpSession");
    report.add("O1", "a_listing_follows_every_page", listing(fixture).await);
    report.add("O1", "a_listing_that_repeats_a_cursor_is_refused", looping(fixture).await);
    report.add("O2", "answers_reach_their_own_callers", concurrent(fixture).await);
    report.add("O3", "a_slow_call_ends_at_the_deadline", slow(fixture).await);
    report.add("O3", "a_dropped_call_is_cancelled_at_the_server", cancelled(fixture).await);
    report.add("O4", "a_dead_server_ends_every_call", dead(fixture).await);
    report.add("O5", "a_message_over_the_bound_is_refused", bounded(fixture).await);
    report.add("O6", "error_results_are_answers_and_protocol_errors_refusals", errors(fixture).await);
    report.add("O6", "a_resource_is_read_exactly", resource(fixture).await);
    report.add("O7", "a_closed_session_refuses", closed(fixture).await);
    report
}

fn call(tool: &str, text: &str) -> ToolCall {
    let arguments = JsonObject::from([("text".to_owned(), Json::from(text))]);
    ToolCall { tool: tool.into(), arguments }
}

async fn listing(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    let tools = must!(session.list_tools().await, "tools/list");
    ensure!(tools.len() == fixture.tools(), "{} of {} tools were listed", tools.len(), fixture.tools());
    Ok(())
}

async fn looping(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.looping().await;
    match tokio::time::timeout(Duration::from_secs(10), session.list_tools()).await {
        Ok(Err(McpRefusal::ListingLoop { .. })) => Ok(()),
        Ok(Err(other)) => Err(format!("a loop was refused with {other}")),
        Ok(Ok(tools)) => Err(format!("a loop gave {} tools", tools.len())),
        Err(_) => Err("a loop was followed for ever".into()),
    }
}

async fn concurrent(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    let calls: Vec<_> = (0..16)
        .map(|number| {
            let session = session.clone();
            tokio::spawn(async move {
                let text = format!("caller {number}");
                let answer = session.call_tool(&call("echo", &text)).await;
                answer.is_ok_and(|answer| answer.texts == [text])
            })
        })
        .collect();
    for (number, answer) in calls.into_iter().enumerate() {
        ensure!(answer.await.unwrap_or(false), "caller {number} got another answer");
    }
    Ok(())
}

async fn slow(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    match tokio::time::timeout(Duration::from_secs(6), session.call_tool(&call("slow", ""))).await {
        Ok(Err(McpRefusal::Timeout { .. })) => {}
        Ok(other) => return Err(format!("a slow call got {other:?}")),
        Err(_) => return Err("a slow call did not end".into()),
    }
    must!(session.call_tool(&call("echo", "after")).await, "a call after a timeout");
    Ok(())
}

async fn cancelled(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    let slow = call("slow", "");
    let dropped = tokio::time::timeout(Duration::from_millis(200), session.call_tool(&slow)).await;
    ensure!(dropped.is_err(), "the slow call answered at once");
    ensure!(fixture.saw_cancellation().await, "the server was not told");
    Ok(())
}

async fn dead(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.dying().await;
    let (die, slow) = (call("die", ""), call("slow", ""));
    let both = async { tokio::join!(session.call_tool(&slow), session.call_tool(&die)) };
    match tokio::time::timeout(Duration::from_secs(6), both).await {
        Ok((Err(_), Err(_))) => {}
        Ok(other) => return Err(format!("calls to a dead server got {other:?}")),
        Err(_) => return Err("a call to a dead server did not end".into()),
    }
    ensure!(session.call_tool(&call("echo", "")).await.is_err(), "a dead session answered");
    Ok(())
}

async fn bounded(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.bounded().await;
    match session.call_tool(&call("huge", "")).await {
        Err(McpRefusal::TooLarge { .. }) => Ok(()),
        Err(other) => Err(format!("a huge answer was refused with {other}")),
        Ok(_) => Err("a huge answer was taken".into()),
    }
}

async fn errors(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    let answer = must!(session.call_tool(&call("fail", "")).await, "an isError result");
    ensure!(answer.is_error, "an isError result is not marked");
    let Err(refusal) = session.call_tool(&call("raise", "")).await else {
        return Err("a protocol error was an answer".into());
    };
    let text = format!("{refusal} {refusal:?}");
    ensure!(!text.contains("hunter2"), "the refusal repeats the server's text");
    Ok(())
}

async fn resource(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    let body = must!(session.read_resource("connector://status").await, "resources/read");
    ensure!(body.bytes == b"ok", "the body is {} bytes", body.bytes.len());
    match session.read_resource("connector://nothing").await {
        Err(McpRefusal::UnknownResource { .. }) => Ok(()),
        other => Err(format!("an unknown resource got {other:?}")),
    }
}

async fn closed(fixture: &dyn SessionFixture) -> Checked {
    let session = fixture.open().await;
    session.close().await;
    session.close().await;
    match tokio::time::timeout(Duration::from_secs(6), session.call_tool(&call("echo", ""))).await {
        Ok(Err(_)) => Ok(()),
        Ok(Ok(_)) => Err("a closed session answered".into()),
        Err(_) => Err("a call on a closed session did not end".into()),
    }
}
