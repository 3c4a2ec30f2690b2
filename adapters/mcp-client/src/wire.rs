//! Between the bytes of a message and the message type of the protocol library.
//!
//! The library reads every message through an untagged union and `serde_json`, which rounds numbers and refuses some
//! (`1e400`). A connector must keep them, so results of calls and listings go past it as raw text: the library routes
//! the text to its caller, who reads it with the lossless parser (`decode.rs`). It also keeps a page of records from
//! being copied through each variant of the union.
//!
//! Error messages of the peer are dropped here: no refusal and no log line of ours can repeat them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData, ListToolsResult,
    MetaObject, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde_json::Value;

use crate::scan::{member, members};

/// The member of error data with the time to wait, in milliseconds; of such an error only the number is kept.
const RETRY_KEY: &str = "retry_after_ms";
/// Under this `_meta` key a typed listing carries its raw text. What a peer sends under it is overwritten.
pub(crate) const RAW_KEY: &str = "dev.scion/raw";

/// The code of an answer that is not what the protocol says. It is outside the JSON-RPC range on purpose.
pub(crate) const MALFORMED: ErrorCode = ErrorCode(1);
/// The code of an answer over the bound.
pub(crate) const OVERSIZED: ErrorCode = ErrorCode(2);

/// The code of an answer that was lost with its connection.
pub(crate) const LOST: ErrorCode = ErrorCode(3);
/// The code of a request that was refused without an error message of the protocol.
pub(crate) const REFUSED: ErrorCode = ErrorCode(4);

/// All that is kept of an error message of the peer: which of the two meanings of -32001 and -32602 it has.
pub(crate) mod hint {
    /// Access is denied.
    pub(crate) const DENIED: &str = "denied";
    /// The thing named does not exist.
    pub(crate) const UNKNOWN: &str = "unknown";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The caller reads the text of the result.
    Raw,
    /// The caller reads the text; the library learns header annotations from the typed form.
    Tools,
    /// The library reads the result.
    Typed,
}

/// The requests in flight and who reads their results.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    kinds: Mutex<HashMap<RequestId, Kind>>,
    learns: bool,
}

impl Pending {
    /// For a transport whose library half has to read tool listings too: over HTTP, annotated arguments become headers.
    pub(crate) fn learning() -> Self {
        Self { learns: true, ..Self::default() }
    }

    /// Notes what goes out.
    pub(crate) fn note(&self, message: &ClientJsonRpcMessage) {
        let mut pending = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            ClientJsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    // A late answer to an earlier probe must not be taken for the answer to the handshake.
                    pending.clear();
                }
                let kind = match request.request {
                    ClientRequest::ListToolsRequest(_) if self.learns => Kind::Tools,
                    ClientRequest::CallToolRequest(_)
                    | ClientRequest::ListToolsRequest(_)
                    | ClientRequest::ListResourcesRequest(_)
                    | ClientRequest::ListPromptsRequest(_)
                    | ClientRequest::GetPromptRequest(_)
                    | ClientRequest::ReadResourceRequest(_) => Kind::Raw,
                    _ => Kind::Typed,
                };
                pending.insert(request.id.clone(), kind);
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    pending.remove(id);
                }
            }
            _ => {}
        }
    }

    fn take(&self, id: &RequestId) -> Option<Kind> {
        let mut pending = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        // Some servers answer a numeric id as text.
        pending.remove(id).or_else(|| match id {
            RequestId::String(text) => text.parse().ok().and_then(|number| pending.remove(&RequestId::Number(number))),
            RequestId::Number(_) => None,
        })
    }
}

/// The notifications that mean something to a session, as they stand in a message.
const HEARD: [&str; 6] = [
    r#""notifications/cancelled""#,
    r#""notifications/tools/list_changed""#,
    r#""notifications/prompts/list_changed""#,
    r#""notifications/resources/list_changed""#,
    r#""notifications/resources/updated""#,
    r#""notifications/subscriptions/acknowledged""#,
];

/// Not a protocol message at all.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAMessage;

/// Reads one message. `None` for an answer nobody waits for and for a notification nobody understands.
pub(crate) fn read(bytes: &[u8], pending: &Pending) -> Result<Option<ServerJsonRpcMessage>, NotAMessage> {
    let text = std::str::from_utf8(bytes).map_err(|_| NotAMessage)?;
    let found = members(text).ok_or(NotAMessage)?;
    if member(&found, "jsonrpc") != Some(r#""2.0""#) {
        return Err(NotAMessage);
    }
    if let Some(method) = member(&found, "method") {
        // Log messages, progress and the unknown end here, before the library writes them to its own log.
        if member(&found, "id").is_none() && !HEARD.contains(&method) {
            return Ok(None);
        }
        // An unknown method is a custom message to the library; what fails here has impossible members.
        return Ok(serde_json::from_str(text).ok());
    }
    let id = member(&found, "id").and_then(|raw| serde_json::from_str::<RequestId>(raw).ok());
    if let Some(raw) = member(&found, "result") {
        let Some(id) = id else { return Ok(None) };
        let Some(kind) = pending.take(&id) else {
            return Ok(None);
        };
        return Ok(Some(match result(raw, kind) {
            Some(result) => ServerJsonRpcMessage::response(result, id),
            None => ServerJsonRpcMessage::error(ErrorData::new(MALFORMED, "", None), Some(id)),
        }));
    }
    let raw = member(&found, "error").ok_or(NotAMessage)?;
    let kind = match &id {
        Some(id) => match pending.take(id) {
            Some(kind) => kind,
            None => return Ok(None),
        },
        None => Kind::Typed,
    };
    Ok(Some(ServerJsonRpcMessage::error(error(raw, kind), id)))
}

/// The answer to a request whose answer was too large to read.
pub(crate) fn oversized(raw_id: &str, pending: &Pending) -> Option<ServerJsonRpcMessage> {
    let id = serde_json::from_str::<RequestId>(raw_id).ok()?;
    pending.take(&id)?;
    Some(ServerJsonRpcMessage::error(ErrorData::new(OVERSIZED, "", None), Some(id)))
}

/// An error answer made here for a request that still waits for one.
pub(crate) fn unanswered(id: &RequestId, code: ErrorCode, pending: &Pending) -> Option<ServerJsonRpcMessage> {
    pending.take(id)?;
    Some(ServerJsonRpcMessage::error(ErrorData::new(code, "", None), Some(id.clone())))
}

/// The error message in the body of a refused request. A refusal cannot always name the request it answers, so the id in
/// the body does not count.
pub(crate) fn refusal_of(id: &RequestId, body: &[u8], pending: &Pending) -> Option<ServerJsonRpcMessage> {
    let found = members(std::str::from_utf8(body).ok()?)?;
    let raw = member(&found, "error").filter(|_| member(&found, "jsonrpc") == Some(r#""2.0""#))?;
    let kind = pending.take(id)?;
    Some(ServerJsonRpcMessage::error(error(raw, kind), Some(id.clone())))
}

fn result(raw: &str, kind: Kind) -> Option<ServerResult> {
    let text = || ServerResult::CustomResult(CustomResult(Value::String(raw.to_owned())));
    match kind {
        Kind::Raw => Some(text()),
        Kind::Tools => Some(match serde_json::from_str::<ListToolsResult>(raw) {
            Ok(mut typed) => {
                let meta = typed.meta.get_or_insert_with(MetaObject::default);
                meta.insert(RAW_KEY.to_owned(), Value::String(raw.to_owned()));
                ServerResult::ListToolsResult(typed)
            }
            Err(_) => text(),
        }),
        Kind::Typed => serde_json::from_str(raw).ok(),
    }
}

fn error(raw: &str, kind: Kind) -> ErrorData {
    let Ok(error) = serde_json::from_str::<ErrorData>(raw) else {
        return ErrorData::new(MALFORMED, "", None);
    };
    let said = error.message.to_ascii_lowercase();
    let hint = if ["denied", "forbidden", "unauthorized"].iter().any(|word| said.contains(word)) {
        hint::DENIED
    } else if ["unknown", "not found"].iter().any(|word| said.contains(word)) {
        hint::UNKNOWN
    } else {
        ""
    };
    // Version negotiation reads the list of supported versions, and a limited request the time to wait, a number; nothing else reads
    // error data.
    let data = match (error.code.0, error.data) {
        (-32_000, Some(data)) => data.get(RETRY_KEY).filter(|wait| wait.is_u64()).cloned(),
        (_, data) => data.filter(|_| kind == Kind::Typed && error.code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION),
    };
    ErrorData::new(error.code, hint, data)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ListToolsRequest, RequestId,
        ServerJsonRpcMessage, ServerResult,
    };

    use super::{MALFORMED, NotAMessage, Pending, RAW_KEY, oversized, read};

    fn pending(id: i64) -> Pending {
        let pending = Pending::default();
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("t")));
        pending.note(&ClientJsonRpcMessage::request(call, RequestId::Number(id)));
        pending
    }

    #[test]
    fn a_result_keeps_its_exact_text() {
        let line = br#"{"jsonrpc":"2.0","id":4,"result":{"structuredContent":{"n":1e400,"d":-0.10}}}"#;
        let Some(ServerJsonRpcMessage::Response(response)) = read(line, &pending(4)).unwrap() else { panic!() };
        let ServerResult::CustomResult(custom) = response.result else { panic!() };
        assert_eq!(custom.0, r#"{"structuredContent":{"n":1e400,"d":-0.10}}"#);
    }

    #[test]
    fn an_answer_nobody_waits_for_is_passed_over() {
        assert!(read(br#"{"jsonrpc":"2.0","id":5,"result":{}}"#, &pending(4)).unwrap().is_none());
        assert!(read(br#"{"jsonrpc":"2.0","id":"4","result":{}}"#, &pending(4)).unwrap().is_some());
        assert!(oversized("9", &pending(4)).is_none());
        assert!(oversized("4", &pending(4)).is_some());
    }

    #[test]
    fn the_text_of_a_peer_error_is_dropped() {
        let line = br#"{"jsonrpc":"2.0","id":4,"error":{"code":-32001,"message":"access denied for sk-123","data":{"k":"sk-123"}}}"#;
        let Some(ServerJsonRpcMessage::Error(error)) = read(line, &pending(4)).unwrap() else { panic!() };
        assert_eq!((error.error.code.0, error.error.message.as_ref(), error.error.data), (-32001, "denied", None));
    }

    #[test]
    fn an_error_without_a_code_is_malformed() {
        let line = br#"{"jsonrpc":"2.0","id":4,"error":"boom"}"#;
        let Some(ServerJsonRpcMessage::Error(error)) = read(line, &pending(4)).unwrap() else { panic!() };
        assert_eq!(error.error.code, MALFORMED);
    }

    #[test]
    fn a_tool_listing_is_typed_and_raw() {
        let pending = Pending::learning();
        let list = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        pending.note(&ClientJsonRpcMessage::request(list, RequestId::Number(1)));
        let line = br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}"#;
        let Some(ServerJsonRpcMessage::Response(response)) = read(line, &pending).unwrap() else { panic!() };
        let ServerResult::ListToolsResult(list) = response.result else { panic!() };
        assert!(list.meta.unwrap().get(RAW_KEY).is_some());
    }

    #[test]
    fn logs_are_not_messages() {
        for noise in [&b"INFO ready"[..], b"{\"level\":\"info\"}", b"[]", b"\xff\xfe", b"{\"jsonrpc\":\"2.0\"}"] {
            assert!(matches!(read(noise, &pending(1)), Err(NotAMessage)));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, &pending(1));
        }

        #[test]
        fn arbitrary_members_never_panic(id in "[0-9a-z\"]{0,4}", tail in "[\\[\\]{}\":,a-z0-9.]{0,40}") {
            let _ = read(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{tail}}}"#).as_bytes(), &pending(1));
            let _ = read(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{tail}}}"#).as_bytes(), &pending(1));
            let _ = read(format!(r#"{{"jsonrpc":"2.0","method":"{id}","params":{tail}}}"#).as_bytes(), &pending(1));
        }
    }
}
