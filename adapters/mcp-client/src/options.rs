//! Bounds of a session.

use std::time::Duration;

/// The bounds of every session a client opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOptions {
    /// The largest single message, in bytes; 64 MiB when silent. A larger answer is refused as
    /// [`TooLarge`](scion_domain::mcp::McpRefusal::TooLarge), and so is a listing whose pages add up to more.
    pub max_message_bytes: usize,
    /// The most pages of one listing; 1,000 when silent.
    pub max_listing_pages: usize,
    /// How long a child process may take to end after its standard input closes; 2 s when silent. Then it is killed,
    /// with its whole process group.
    pub grace: Duration,
    /// How calls are spaced.
    pub pace: Pace,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            max_message_bytes: 64 << 20,
            max_listing_pages: 1_000,
            grace: Duration::from_secs(2),
            pace: Pace::default(),
        }
    }
}

/// How requests of one session are spaced. The wait for a turn does not count against a request's deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// The least time between the starts of two requests; no wait when silent.
    pub min_interval: Duration,
    /// The most requests at once; unbounded when silent. Zero counts as one.
    pub max_in_flight: Option<usize>,
}
