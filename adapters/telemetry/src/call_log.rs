use std::time::Duration;

use scion_domain::id::Digest256;
use scion_domain::redaction::redact_log_text;
use scion_domain::tool_context::{CallEvent, CallEventKind, TerminalState, ToolExecutionResult};
use scion_ports::CallObserver;

/// Writes a line per event through `tracing`, target `scion::calls`: ends at level info (uncertain ones at warn), everything
/// else at debug. Ids, digests, codes and references only; ids that a client chose are redacted like any text.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallLog;

impl CallObserver for CallLog {
    fn observe(&self, event: &CallEvent<'_>) {
        match event.kind {
            CallEventKind::Started => step(event, "started"),
            CallEventKind::Asked => step(event, "asked"),
            CallEventKind::Answered { yes: true } => step(event, "confirmed"),
            CallEventKind::Answered { yes: false } => step(event, "not confirmed"),
            CallEventKind::CacheHit => step(event, "cache hit"),
            CallEventKind::NotificationLost => step(event, "notification lost"),
            CallEventKind::Ended { result, approval, took } => ended(event, result, approval, took),
        }
    }
}

/// One line: what belongs to it, then what every line has.
macro_rules! line {
    ($level:ident, $event:expr, $what:expr $(, $name:ident = $value:expr)* $(,)?) => {{
        let (event, ids) = ($event, $event.ids);
        tracing::$level!(
            target: "scion::calls",
            event = $what,
            $($name = $value,)*
            sequence = event.sequence,
            connector = ids.connector,
            tool = ids.tool,
            operation = ids.operation,
            tenant = shown(ids.tenant),
            actor = shown(ids.actor),
            audience = shown(ids.audience),
            session = shown(ids.session),
            request = shown(ids.request),
            trace = %ids.trace,
            schema = %event.schema_digest,
        );
    }};
}

fn step(event: &CallEvent<'_>, what: &'static str) {
    if tracing::enabled!(target: "scion::calls", tracing::Level::DEBUG) {
        line!(debug, event, what);
    }
}

fn ended(event: &CallEvent<'_>, result: &ToolExecutionResult, approval: Option<Digest256>, took: Duration) {
    macro_rules! end {
        ($level:ident) => {
            line!(
                $level,
                event,
                "ended",
                state = result.state.as_str(),
                reason = result.reason,
                approval = approval.map(|approval| approval.to_hex()),
                receipt = result.receipt.as_ref().map(|receipt| receipt.as_str()),
                progress = result.last_sequence(),
                lost = result.lost,
                milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            )
        };
    }
    if result.state == TerminalState::Uncertain {
        end!(warn);
    } else if tracing::enabled!(target: "scion::calls", tracing::Level::INFO) {
        end!(info);
    }
}

/// An id without control characters and without what looks like a secret, at most 128 characters of it.
fn shown(id: Option<&str>) -> Option<String> {
    let id: String = id?.chars().filter(|character| !character.is_control()).take(128).collect();
    Some(redact_log_text(&id, &[]))
}
