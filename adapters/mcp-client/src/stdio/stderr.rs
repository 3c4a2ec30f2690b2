//! The standard error of a child: always drained, never kept, never part of a refusal.

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStderr;

/// The longest piece of one line that is logged; the rest of the line is passed over.
const MAX_LOGGED: usize = 2_048;

/// Reads to the end, so that a child that floods it never blocks. Lines go to the log at debug level.
pub(super) async fn drain(errors: ChildStderr, connector: String) {
    let mut errors = BufReader::with_capacity(64 << 10, errors);
    let mut line = Vec::new();
    loop {
        let available = match errors.fill_buf().await {
            Ok([]) | Err(_) => break,
            Ok(available) => available,
        };
        let used = available.len();
        if tracing::enabled!(tracing::Level::DEBUG) {
            for piece in available.split_inclusive(|byte| *byte == b'\n') {
                let room = MAX_LOGGED - line.len();
                line.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.ends_with(b"\n") {
                    log(&connector, &line);
                    line.clear();
                }
            }
        }
        errors.consume(used);
    }
    if !line.is_empty() {
        log(&connector, &line);
    }
}

fn log(connector: &str, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    tracing::debug!(connector, line = text.trim_end(), "server standard error");
}
