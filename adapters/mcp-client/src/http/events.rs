//! Events of a response, with their results as raw text and no request left without an answer.

use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt};
use rmcp::model::{ErrorCode, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::SseError;
use scion_ports::InboundResponse;
use sse_stream::{Sse, SseStream};

use super::Shared;
use super::body::{Broken, bounded_events, chunks};
use crate::wire::{self, LOST, MALFORMED, OVERSIZED};

struct State<S> {
    events: S,
    shared: Arc<Shared>,
    /// The request this stream answers; none for the standing notification stream.
    request: Option<RequestId>,
    /// The server gave event ids, so the library can resume the stream.
    resumable: bool,
    over: bool,
}

/// Reads the events of a response.
pub(super) fn read(
    response: InboundResponse,
    shared: Arc<Shared>,
    request: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let chunks = bounded_events(chunks(response, Arc::clone(&shared.end)), shared.limit);
    let events = SseStream::from_bytes_stream(Box::pin(chunks));
    let state = State { events, shared, request, resumable: false, over: false };
    stream::unfold(state, |mut state| async move {
        if state.over {
            return None;
        }
        let item = match state.events.next().await {
            Some(Ok(event)) => Ok(state.rewrite(event)),
            Some(Err(error)) => {
                state.over = true;
                let code = match &error {
                    SseError::Body(body) => match body.downcast_ref::<Broken>() {
                        Some(Broken::TooLarge) => OVERSIZED,
                        _ => LOST,
                    },
                    _ => MALFORMED,
                };
                if code == LOST && state.resumable { Err(error) } else { state.give_up(code).ok_or(error) }
            }
            None => {
                state.over = true;
                if state.resumable {
                    return None;
                }
                Ok(state.give_up(LOST)?)
            }
        };
        Some((item, state))
    })
    .boxed()
}

impl<S> State<S> {
    fn rewrite(&mut self, mut event: Sse) -> Sse {
        self.resumable |= event.id.is_some();
        let Some(data) = event.data.take() else {
            return event;
        };
        if data.trim().is_empty() {
            return event;
        }
        let message = match wire::read(data.as_bytes(), &self.shared.pending) {
            Ok(message) => message,
            Err(wire::NotAMessage) => self.answer(MALFORMED),
        };
        event.data = message.and_then(|message| serde_json::to_string(&message).ok());
        event
    }

    /// An answer for the request of this stream, unless it has one.
    fn answer(&self, code: ErrorCode) -> Option<ServerJsonRpcMessage> {
        wire::unanswered(self.request.as_ref()?, code, &self.shared.pending)
    }

    fn give_up(&self, code: ErrorCode) -> Option<Sse> {
        let data = serde_json::to_string(&self.answer(code)?).ok()?;
        Some(Sse::default().data(data))
    }
}
