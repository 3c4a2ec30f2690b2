//! Notices on their way to the client: in order, bounded, never polled for, never a reason to do anything twice.

use std::sync::atomic::Ordering;
use std::time::Duration;

use scion_domain::call::{ChannelRefusal, LogLevel, LogLine, ProgressNotice};
use scion_domain::json::{Json, to_compact};
use scion_domain::redaction::{MESSAGE_MARKER, is_sensitive_name, redact_log_text, redact_message};
use scion_domain::tool_context::{
    CallEventKind, MAX_PROGRESS_MESSAGE, ProgressRules, ProgressStep, ToolContextRefusal,
};

use crate::context_call::{CallState, lock};

/// The longest a notice may take to leave. A client that does not read by then gets no further ones.
const DELIVERY: Duration = Duration::from_secs(5);
/// The longest log line, in bytes of its JSON.
const MAX_LINE: usize = 32 * 1024;

/// What became of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was handed to the transport.
    Sent,
    /// It said nothing new.
    Suppressed,
    /// The client did not ask for any; the summary in the result is kept up to date.
    Unwatched,
    /// It did not reach the client (`delivery_failed`). The call goes on.
    Lost,
}

pub(crate) async fn report(
    call: &CallState,
    rule: impl FnOnce(&mut ProgressRules, Option<&str>) -> Result<ProgressStep, ToolContextRefusal>,
    message: Option<&str>,
) -> Result<Delivery, ToolContextRefusal> {
    let message = message.map(masked);
    if !call.channel.wants_progress() {
        if call.has_ended() {
            return Err(ToolContextRefusal::Cancelled);
        }
        let step = rule(&mut lock(&call.progress), message.as_deref())?;
        return Ok(if step == ProgressStep::Suppressed { Delivery::Suppressed } else { Delivery::Unwatched });
    }
    // The lock is fair, so producers go one after the other in the order they came.
    let _turn = call.order.lock().await;
    if call.has_ended() {
        return Err(ToolContextRefusal::Cancelled);
    }
    let step = rule(&mut lock(&call.progress), message.as_deref())?;
    let ProgressStep::Notify(progress) = step else { return Ok(Delivery::Suppressed) };
    let notice = ProgressNotice { completed: progress.completed, total: progress.total, message: progress.message };
    Ok(deliver(call, call.channel.progress(&notice)).await)
}

pub(crate) async fn log(call: &CallState, level: LogLevel, data: Json) -> Delivery {
    if call.has_ended() {
        return Delivery::Lost;
    }
    let data = redacted(data);
    let size = to_compact(&data).len();
    let data = if size > MAX_LINE { format!("a log line of {size} bytes was left out").into() } else { data };
    let line = LogLine { level, data };
    deliver(call, call.channel.log(&line)).await
}

/// The message without secrets. A marker may be longer than what it stands for; that is no fault of whoever kept to the bound.
fn masked(message: &str) -> String {
    let masked = redact_message(message, &[]);
    if message.chars().count() > MAX_PROGRESS_MESSAGE {
        return masked;
    }
    masked.chars().take(MAX_PROGRESS_MESSAGE).collect()
}

async fn deliver(call: &CallState, sent: impl Future<Output = Result<(), ChannelRefusal>>) -> Delivery {
    if !call.undeliverable.load(Ordering::Relaxed) {
        match tokio::time::timeout(DELIVERY, sent).await {
            Ok(Ok(())) => return Delivery::Sent,
            Ok(Err(ChannelRefusal::Unsupported { .. })) => return Delivery::Unwatched,
            Ok(Err(_)) | Err(_) => call.undeliverable.store(true, Ordering::Relaxed),
        }
    }
    call.lost.fetch_add(1, Ordering::Relaxed);
    call.emit(CallEventKind::NotificationLost);
    Delivery::Lost
}

fn redacted(data: Json) -> Json {
    match data {
        Json::String(text) => Json::String(redact_log_text(&text, &[])),
        Json::Array(items) => Json::Array(items.into_iter().map(redacted).collect()),
        Json::Object(members) => Json::Object(
            members
                .into_iter()
                .map(|(name, value)| {
                    let value = if is_sensitive_name(&name) { MESSAGE_MARKER.into() } else { redacted(value) };
                    (name, value)
                })
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_makes_no_message_too_long_and_a_long_one_stays_too_long() {
        let short = format!("{} password=abcd1234", "x".repeat(MAX_PROGRESS_MESSAGE - 18));
        let masked_short = masked(&short);
        assert!(
            masked_short.chars().count() <= MAX_PROGRESS_MESSAGE && !masked_short.contains("abcd1234"),
            "{masked_short}"
        );
        assert!(masked(&"x".repeat(MAX_PROGRESS_MESSAGE + 1)).chars().count() > MAX_PROGRESS_MESSAGE);
    }
}
