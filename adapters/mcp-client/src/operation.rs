//! What a request is for, in words, and what an error code means for it.

use std::fmt;

use rmcp::model::{ErrorCode, ErrorData};
use scion_domain::mcp::McpRefusal;

use crate::wire::{LOST, MALFORMED, OVERSIZED, REFUSED, hint};

/// A request as refusals name it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation<'a> {
    Connect,
    Call(&'a str),
    ListTools,
    ListResources,
    ListPrompts,
    Prompt(&'a str),
    Read(&'a str),
    Subscribe(&'a str),
    Listen,
}

impl fmt::Display for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect => f.write_str("the MCP handshake"),
            Self::Call(tool) => write!(f, "tools/call {tool}"),
            Self::ListTools => f.write_str("tools/list"),
            Self::ListResources => f.write_str("resources/list"),
            Self::ListPrompts => f.write_str("prompts/list"),
            Self::Prompt(name) => write!(f, "prompts/get {name}"),
            Self::Read(uri) => write!(f, "resources/read {uri}"),
            Self::Subscribe(uri) => write!(f, "resources/subscribe {uri}"),
            Self::Listen => f.write_str("subscriptions/listen"),
        }
    }
}

impl Operation<'_> {
    /// The refusal an error reply stands for (`wire/mcp-surface.md` 2.7). The library has already lost the peer's text.
    pub(crate) fn refused(&self, error: &ErrorData, limit: usize) -> McpRefusal {
        let operation = self.to_string();
        let hint = error.message.as_ref();
        match (error.code.0, self) {
            (code, _) if code == OVERSIZED.0 => McpRefusal::TooLarge { operation, limit },
            (code, _) if code == LOST.0 => McpRefusal::Closed { operation },
            (code, _) if code == MALFORMED.0 || code == REFUSED.0 => McpRefusal::Malformed { operation },
            (-32_000, _) => McpRefusal::RateLimited { operation },
            (-32_001, Self::Call(tool)) if hint != hint::DENIED => McpRefusal::UnknownTool { tool: (*tool).to_owned() },
            (-32_001, _) => McpRefusal::AccessDenied { operation },
            (-32_602, Self::Call(tool)) if hint == hint::UNKNOWN => {
                McpRefusal::UnknownTool { tool: (*tool).to_owned() }
            }
            (-32_602, Self::Call(tool)) => McpRefusal::ArgumentsRefused { tool: (*tool).to_owned() },
            (-32_002 | -32_602, Self::Read(uri) | Self::Subscribe(uri)) => {
                McpRefusal::UnknownResource { uri: (*uri).to_owned() }
            }
            (code, _) if code == ErrorCode::METHOD_NOT_FOUND.0 => McpRefusal::Unsupported { operation },
            (_, Self::Prompt(name)) => McpRefusal::PromptRejected { prompt: (*name).to_owned() },
            (-32_600 | -32_602 | -32_700, _) => McpRefusal::Malformed { operation },
            (_, Self::Call(tool)) => McpRefusal::ToolFailed { tool: (*tool).to_owned() },
            _ => McpRefusal::ToolFailed { tool: operation },
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ErrorCode, ErrorData};
    use scion_domain::refusal::Refusal;

    use super::Operation;
    use crate::wire::hint;

    #[test]
    fn each_code_has_its_refusal() {
        let call = Operation::Call("t");
        for (operation, code, hint, refusal) in [
            (call, -32_603, "", "tool_failed"),
            (call, -32_602, "", "arguments_refused"),
            (call, -32_602, hint::UNKNOWN, "unknown_tool"),
            (call, -32_001, "", "unknown_tool"),
            (call, -32_001, hint::UNKNOWN, "unknown_tool"),
            (call, -32_001, hint::DENIED, "server_access_denied"),
            (Operation::ListTools, -32_001, "", "server_access_denied"),
            (Operation::Read("x"), -32_002, "", "unknown_resource"),
            (Operation::Listen, -32_601, "", "operation_unsupported"),
            (call, -32_000, "", "server_rate_limited"),
            (call, -32_600, "", "answer_malformed"),
            (Operation::ListResources, -32_603, "", "tool_failed"),
            (Operation::Prompt("p"), -32_602, "", "prompt_rejected"),
            (Operation::Prompt("p"), -32_603, "", "prompt_rejected"),
            (Operation::Prompt("p"), -32_000, "", "server_rate_limited"),
            (Operation::Prompt("p"), 1, "", "answer_malformed"),
            (Operation::ListPrompts, -32_601, "", "operation_unsupported"),
            (call, 1, "", "answer_malformed"),
            (call, 2, "", "message_too_large"),
        ] {
            let error = ErrorData::new(ErrorCode(code), hint, None);
            assert_eq!(operation.refused(&error, 9).code(), refusal, "{operation} {code} {hint}");
        }
    }
}
