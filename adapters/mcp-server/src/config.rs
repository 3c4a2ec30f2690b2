use std::time::Duration;

/// The bounds of serving. Reaching one is a named answer, never a silent cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// The longest request line, in bytes; a longer one is dropped unread, with a line in the log. 4 MiB unless set.
    pub max_request_bytes: usize,
    /// The longest answer, text and attachments together, in bytes; a longer one becomes `tool_answer_too_large`. 8 MiB unless
    /// set, half of what common clients read in one line, because the structured value repeats the text.
    pub max_answer_bytes: usize,
    /// Calls under way at once; further ones wait their turn. 64 unless set.
    pub max_calls: usize,
    /// The time a tool has to answer; then it is stopped and the answer is `tool_timed_out`. 300 s unless set.
    pub call_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_request_bytes: 4 << 20,
            max_answer_bytes: 8 << 20,
            max_calls: 64,
            call_timeout: Duration::from_mins(5),
        }
    }
}
