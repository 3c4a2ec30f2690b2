//! What a fuzz target drives: everything that reads bytes of a server.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage,
    ServerResult,
};

use crate::decode;
use crate::stdio::framer::{Framed, LineFramer};
use crate::wire::{self, Pending};

/// Reads bytes as the standard output of a server whose answer to request 1, a tool call, is awaited.
pub fn standard_output(bytes: &[u8]) {
    let pending = Pending::learning();
    let mut framer = LineFramer::new(1 << 16);
    let mut rest = bytes;
    while !rest.is_empty() {
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("t")));
        pending.note(&ClientJsonRpcMessage::request(call, RequestId::Number(1)));
        let (used, framed) = framer.feed(rest);
        rest = &rest[used..];
        match framed {
            Some(Framed::Line) => message(wire::read(framer.line(), &pending).ok().flatten()),
            Some(Framed::Oversized(Some(id))) => message(wire::oversized(&id, &pending)),
            Some(Framed::Oversized(None)) | None => {}
        }
    }
}

fn message(message: Option<ServerJsonRpcMessage>) {
    if let Some(ServerJsonRpcMessage::Response(response)) = message
        && let ServerResult::CustomResult(custom) = response.result
        && let Some(text) = custom.0.as_str()
    {
        result(text);
    }
}

/// Reads a text as each kind of result.
pub fn result(text: &str) {
    let _ = decode::tool_result(text, false);
    let _ = decode::tools(text);
    let _ = decode::resources(text);
    let _ = decode::resource(text, "connector://resources");
}
