//! Which outside addresses may be dialled (`wire/mcp-surface.md` 6.4).

/// The policy of one client; strict by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPolicy {
    /// Resolve, check every address, dial the checked one. Off only for a transport that does this itself.
    pub pin_egress: bool,
    /// Exact host names or addresses that may be private.
    pub allowed_private_hosts: Vec<String>,
    /// Whether loopback may be dialled.
    pub allow_loopback: bool,
    /// After dialling, the peer's address must be the checked one.
    pub verify_pinned_peer: bool,
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self { pin_egress: true, allowed_private_hosts: Vec::new(), allow_loopback: false, verify_pinned_peer: true }
    }
}
