//! The older transport: a stream of events at `/sse`, and messages to it at `/messages/` (`wire/mcp-surface.md` 0.2).
//!
//! One stream is one session, and ends with it. What is sent waits in a bounded queue; a reader that lets it fill up is
//! disconnected, so that nobody waits for it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions as _};
use rmcp::service::{RoleServer, TxJsonRpcMessage, serve_server_with_ct};
use rmcp::transport::Transport;
use scion_domain::served_route::MESSAGES;
use scion_domain::surface::CallerIdentity;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::admission::Caller;
use super::answer::{self, Answer};
use super::{Shared, limiter, router};

/// Messages that wait for the server, and events and bytes that wait for the reader; one event of any size always may.
const INBOX: usize = 32;
const OUTBOX: usize = 256;
const OUTBOX_BYTES: usize = 32 << 20;
/// A comment this often shows whether somebody still listens.
const PING: Duration = Duration::from_secs(15);
/// A session in which nothing was said for this long ends.
const IDLE: Duration = Duration::from_mins(15);

/// The sessions that are open.
#[derive(Default)]
pub(crate) struct Streams(Mutex<HashMap<Arc<str>, Open>>);

#[derive(Clone)]
struct Open {
    owner: Option<CallerIdentity>,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    outbox: Outbox,
}

impl Streams {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was room.
    fn add(&self, id: &Arc<str>, open: Open, limit: usize) -> bool {
        let mut streams = self.lock();
        streams.len() < limit && streams.insert(Arc::clone(id), open).is_none()
    }

    fn of(&self, id: &str, caller: Option<&CallerIdentity>) -> Option<Open> {
        self.lock().get(id).filter(|open| open.owner.as_ref() == caller).cloned()
    }
}

/// The way to the reader.
#[derive(Clone)]
struct Outbox {
    events: mpsc::Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
    /// Ends the session and its connection.
    end: CancellationToken,
}

impl Outbox {
    /// Queues an event. A full queue ends the session.
    fn send(&self, event: &str, data: &str) -> Result<(), std::io::Error> {
        let bytes = Bytes::from(format!("event: {event}\r\ndata: {data}\r\n\r\n"));
        let length = bytes.len();
        let before = self.waiting.fetch_add(length, Ordering::Relaxed);
        if (before > 0 && before + length > OUTBOX_BYTES) || self.events.try_send(bytes).is_err() {
            self.end.cancel();
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }
}

/// A session as the protocol library sees it.
struct Conversation {
    inbox: mpsc::Receiver<ClientJsonRpcMessage>,
    outbox: Outbox,
}

impl Transport<RoleServer> for Conversation {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let text = serde_json::to_string(&message).map_err(std::io::Error::from);
        std::future::ready(text.and_then(|text| self.outbox.send("message", &text)))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        tokio::select! {
            () = self.outbox.end.cancelled() => None,
            message = tokio::time::timeout(IDLE, self.inbox.recv()) => message.ok().flatten(),
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inbox.close();
        Ok(())
    }
}

/// What the body of the stream holds; dropping it ends the session.
struct Feed {
    events: mpsc::Receiver<Bytes>,
    waiting: Arc<AtomicUsize>,
    _end: DropGuard,
}

impl Feed {
    async fn next(mut self) -> Option<(Result<Frame<Bytes>, Infallible>, Self)> {
        let event = match tokio::time::timeout(PING, self.events.recv()).await {
            Ok(event) => event?,
            Err(_) => Bytes::from_static(b": ping\r\n\r\n"),
        };
        let _ = self
            .waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |waiting| Some(waiting.saturating_sub(event.len())));
        Some((Ok(Frame::data(event)), self))
    }
}

/// Opens a session. `connection` is cancelled when its reader is too slow.
pub(super) fn open(shared: &Arc<Shared>, method: &Method, caller: &Caller, connection: &CancellationToken) -> Answer {
    if method != Method::GET {
        return answer::json(StatusCode::METHOD_NOT_ALLOWED, r#"{"error":"method not allowed"}"#);
    }
    let mut random = [0u8; 16];
    if getrandom::fill(&mut random).is_err() {
        return answer::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"no random numbers"}"#);
    }
    let id: Arc<str> = format!("{:032x}", u128::from_be_bytes(random)).into();
    let (inbox, messages) = mpsc::channel(INBOX);
    let (events, queue) = mpsc::channel(OUTBOX);
    let end = shared.options.shutdown.child_token();
    let outbox = Outbox { events, waiting: Arc::default(), end: end.clone() };
    let feed = Feed { events: queue, waiting: Arc::clone(&outbox.waiting), _end: end.clone().drop_guard() };
    let _ = outbox.send("endpoint", &format!("{MESSAGES}/?session_id={id}"));
    let session = Open { owner: caller.identity.clone(), inbox, outbox: outbox.clone() };
    if !shared.streams.add(&id, session, shared.options.max_sessions) {
        return answer::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"too many sessions"}"#);
    }
    let (shared, connection) = (Arc::clone(shared), connection.clone());
    tokio::spawn(async move {
        let conversation = Conversation { inbox: messages, outbox };
        // Its end is the end of the session, whatever the reason.
        let serving = async {
            if let Ok(service) = serve_server_with_ct(shared.first.another(), conversation, end.clone()).await {
                let _ = service.waiting().await;
            }
        };
        tokio::select! {
            () = end.cancelled() => {}
            () = serving => {}
        }
        shared.streams.lock().remove(&id);
        // Whoever reads gets what is queued and the end of the stream; whoever does not is let go.
        if end.is_cancelled() {
            connection.cancel();
        }
    });
    let mut response = http::Response::new(StreamBody::new(stream::unfold(feed, Feed::next)).boxed());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Takes a message to a session.
pub(super) fn message(shared: &Shared, mut parts: http::request::Parts, body: &[u8], mut caller: Caller) -> Answer {
    if parts.method != Method::POST {
        return answer::json(StatusCode::METHOD_NOT_ALLOWED, r#"{"error":"method not allowed"}"#);
    }
    let query = parts.uri.query().unwrap_or_default();
    let id = query.split('&').find_map(|pair| pair.strip_prefix("session_id=")).unwrap_or_default();
    let Some(open) = shared.streams.of(id, caller.identity.as_ref()) else {
        return answer::json(StatusCode::NOT_FOUND, r#"{"error":"there is no such session"}"#);
    };
    caller.session = Some(id.into());
    let Ok(mut message) = serde_json::from_slice::<ClientJsonRpcMessage>(body) else {
        return answer::rpc_error(StatusCode::BAD_REQUEST, &serde_json::Value::Null, -32_700, "this is no message");
    };
    if let Some(wait) = router::too_soon(shared, &parts.method, body, &caller) {
        let id = router::request_id(body);
        let refusal = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": limiter::error(wait) });
        let _ = open.outbox.send("message", &refusal.to_string());
        return answer::bare(StatusCode::ACCEPTED, "");
    }
    router::narrow(&parts, &mut caller);
    parts.headers.remove(header::AUTHORIZATION);
    parts.extensions.insert(caller);
    match &mut message {
        ClientJsonRpcMessage::Request(request) => {
            request.request.extensions_mut().insert(parts);
        }
        ClientJsonRpcMessage::Notification(notification) => {
            notification.notification.extensions_mut().insert(parts);
        }
        _ => {}
    }
    match open.inbox.try_send(message) {
        Ok(()) => answer::bare(StatusCode::ACCEPTED, ""),
        Err(mpsc::error::TrySendError::Full(_)) => {
            answer::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"error":"too many messages at once"}"#)
        }
        Err(mpsc::error::TrySendError::Closed(_)) => {
            answer::json(StatusCode::NOT_FOUND, r#"{"error":"there is no such session"}"#)
        }
    }
}
