//! What a person reads: refusals on standard error, results on standard output.

use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, Write};

use scion_domain::command::CommandRefusal;
use scion_domain::refusal::Refusal;
use scion_domain::sync::SyncRefusal;

/// A refusal as it is told, whatever its family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its stable code.
    pub(crate) code: &'static str,
    /// One line.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) next: &'static str,
}

impl<T: Refusal> From<T> for Refused {
    fn from(refusal: T) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), next: refusal.next_step() }
    }
}

impl Refused {
    /// In the words of the most specific refusal.
    pub(crate) fn of_sync(refusal: &SyncRefusal) -> Self {
        Self { code: refusal.leaf_code(), message: refusal.to_string(), next: refusal.leaf_next_step() }
    }

    /// The same at a place: a file with line and column, or a connector.
    pub(crate) fn at(self, place: &str) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }
}

impl fmt::Display for Refused {
    /// `error[code]: message` and the next step below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}\n  next: {}", self.code, printable(&self.message), self.next)
    }
}

/// Names of a peer may hold control characters, which may not move the cursor of a terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes to standard error. When that is gone there is nobody left to tell.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes a result to standard output. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), CommandRefusal> {
    written(write_all(text))
}

/// Judges what writing to standard output said.
pub(crate) fn written(result: io::Result<()>) -> Result<(), CommandRefusal> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CommandRefusal::Output { what: reason(error.kind()) }),
    }
}

fn write_all(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A word for a system error; its own text may carry paths.
pub(crate) fn reason(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "it does not exist",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => "something else is in its place",
        ErrorKind::IsADirectory => "it is a directory",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::AddrInUse => "the address is in use",
        ErrorKind::AddrNotAvailable => "this machine has no such address",
        ErrorKind::InvalidData => "it is not UTF-8",
        _ => "the system reports an error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_one_line_and_its_next_step() {
        let refused = Refused::from(CommandRefusal::NoStore { path: "/a\nb\u{1b}[2J".into() });
        assert_eq!(
            refused.to_string(),
            "error[store_missing]: there is no store at /a\\nb\\u{1b}[2J\n  next: run connector-sync first, or pass the \
             --state-dir it used"
        );
        assert_eq!(printable("ok ü\u{202e}"), "ok ü\\u{202e}");
    }
}
