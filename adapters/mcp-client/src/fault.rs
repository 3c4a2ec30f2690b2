//! Why a session cannot go on, and what its pending calls are told.

use std::sync::OnceLock;

use scion_domain::mcp::McpRefusal;
use tokio_util::sync::CancellationToken;

/// The end of a session, or of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A line on standard output is not a protocol message.
    Noise,
    /// The child ended with this status.
    Exited(String),
    /// A message is over the bound.
    TooLarge,
    /// An answer is not what the protocol says.
    Malformed,
    /// Nobody answers.
    Unreachable,
    /// The credentials are refused.
    Unauthorized,
    /// The caller may not do this.
    Denied,
    /// The server asks for a lower pace.
    Limited,
    /// What answers does not speak MCP.
    NotMcp,
    /// A secret cannot be had; the refusal says which.
    Refused(McpRefusal),
    /// The session ended.
    Closed,
}

impl Fault {
    /// The refusal of one operation. `peer` is the program name or the shown address.
    pub(crate) fn refusal(&self, peer: &str, operation: &str, limit: usize) -> McpRefusal {
        let operation = operation.to_owned();
        let peer = peer.to_owned();
        match self {
            Self::Noise => McpRefusal::NoiseOnStdout { program: peer },
            Self::Exited(status) => McpRefusal::Exited { program: peer, status: status.clone() },
            Self::TooLarge => McpRefusal::TooLarge { operation, limit },
            Self::Malformed => McpRefusal::Malformed { operation },
            Self::Unreachable => McpRefusal::Unreachable { endpoint: peer },
            Self::Unauthorized => McpRefusal::Unauthorized { endpoint: peer },
            Self::Denied => McpRefusal::AccessDenied { operation },
            Self::Limited => McpRefusal::RateLimited { operation },
            Self::NotMcp => McpRefusal::Handshake { endpoint: peer },
            Self::Refused(refusal) => refusal.clone(),
            Self::Closed => McpRefusal::Closed { operation },
        }
    }
}

/// Set once, by whoever notices first, and seen by every pending call at once.
#[derive(Debug, Default)]
pub(crate) struct End {
    fault: OnceLock<Fault>,
    ended: CancellationToken,
}

impl End {
    /// Ends the session. Only the first reason counts.
    pub(crate) fn set(&self, fault: Fault) {
        let _ = self.fault.set(fault);
        self.ended.cancel();
    }

    /// The reason, once there is one.
    pub(crate) fn get(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// Waits for the end and answers its reason.
    pub(crate) async fn wait(&self) -> Fault {
        self.ended.cancelled().await;
        self.fault.get().cloned().unwrap_or(Fault::Closed)
    }
}
