//! Taking secrets out of what is shown: URLs, header fields, log lines, messages (`wire/mcp-surface.md` 6.3).
//!
//! One list of names says what is sensitive, for URLs, header fields and `name=value` in texts alike. Redaction is the second
//! line: secrets live in [`Secret`](crate::secret::Secret), and refusals never carry a peer's text.

mod address;
mod name;
mod text;

#[cfg(test)]
mod tests;

pub use address::{redact_headers, redact_url};
pub use name::{is_sensitive_header, is_sensitive_name};
pub use text::{contains_secret, redact_log_text, redact_message, redact_secrets};

/// What stands for a value in a URL or a header field.
pub const URL_MARKER: &str = "REDACTED";
/// What stands for a value in a log line.
pub const LOG_MARKER: &str = "***REDACTED***";
/// What stands for a value in a message.
pub const MESSAGE_MARKER: &str = "[REDACTED]";
