use std::fmt::Write as _;

use scion_domain::certification::CertificationReport;

use super::rows::{Outcome, name, rows};

/// Whether words are coloured. Colour is for terminals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Without.
    Plain,
    /// With ANSI colours.
    Colour,
}

impl Ink {
    fn paint(self, code: &str, word: &str) -> String {
        match self {
            Self::Plain => word.to_owned(),
            Self::Colour => format!("\u{1b}[{code}m{word}\u{1b}[0m"),
        }
    }
}

/// A report for a person: what passed, what failed, what to do. `fallback` names a server that did not say who it is. The texts may
/// hold names of the peer; a caller that prints them escapes control characters first, so they are escaped here.
pub fn text(report: &CertificationReport, fallback: &str, ink: Ink) -> String {
    let mut out = escaped(name(report, fallback));
    if report.listed() {
        let parts = [&report.server_name, &report.server_version, &report.protocol_version].map(|part| escaped(part));
        let _ = write!(out, " ({} {}, MCP {})", parts[0], parts[1], parts[2]);
    }
    out.push('\n');
    let rows = rows(report);
    for row in &rows {
        let title = escaped(&row.title());
        let _ = match &row.outcome {
            Outcome::Passed(detail) if detail.is_empty() => writeln!(out, "  {}    {title}", ink.paint("32", "ok")),
            Outcome::Passed(detail) => writeln!(out, "  {}    {title} {}", ink.paint("32", "ok"), escaped(detail)),
            Outcome::Skipped(why) => writeln!(out, "  {}  {title}: {why}", ink.paint("2", "skip")),
            Outcome::Warned(problem) => {
                let (word, message) = (ink.paint("33", "warn"), escaped(&problem.message));
                writeln!(out, "  {word}  {title}: {message} [{}]\n        next: {}", problem.code, problem.next)
            }
            Outcome::Failed(problems) => {
                for problem in problems {
                    let (word, message) = (ink.paint("1;31", "FAIL"), escaped(&problem.message));
                    let _ = writeln!(
                        out,
                        "  {word}  {title}: {message} [{}]\n        next: {}",
                        problem.code, problem.next
                    );
                }
                Ok(())
            }
        };
    }
    let failed = rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed(_))).count();
    let warned = rows.iter().filter(|row| matches!(row.outcome, Outcome::Warned(_))).count();
    let certified = report.pins().count();
    let word = if report.passed() { ink.paint("1;32", "certified") } else { ink.paint("1;31", "not certified") };
    let _ = write!(out, "{word}: {certified} of {}", count(report.tools.len(), "tool"));
    if failed > 0 {
        let _ = write!(out, ", {failed} failed");
    }
    if warned > 0 {
        let _ = write!(out, ", {}", count(warned, "warning"));
    }
    out.push('\n');
    out
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Names of a peer may hold control characters, which may not move the cursor of a terminal.
fn escaped(text: &str) -> String {
    let unsafe_for_terminals = |c: char| {
        c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if unsafe_for_terminals(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
