//! `JUnit` XML, as CI systems read it: one suite for each connector, one case for each row.

use std::fmt::Write as _;

use scion_domain::certification::CertificationReport;

use super::rows::{Outcome, Row, name, rows};

/// Several reports as one document. A server that could not be listed is an error, everything else that is wrong a failure; a
/// warning passes and is told in the case's output.
pub fn junit(reports: &[(&str, &CertificationReport)]) -> String {
    let mut suites = String::new();
    let mut total = Counts::default();
    for (fallback, report) in reports {
        let rows = rows(report);
        let connector = name(report, fallback);
        let mut counts = Counts::default();
        let mut cases = String::new();
        for row in &rows {
            counts.count(row, report.listed());
            case(connector, row, report.listed(), &mut cases);
        }
        total.add(&counts);
        let _ = write!(
            suites,
            "  <testsuite name=\"{}\" {}>\n{cases}  </testsuite>\n",
            quoted(connector),
            counts.attributes()
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"connector-certify\" {}>\n{suites}</testsuites>\n",
        total.attributes()
    )
}

#[derive(Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn count(&mut self, row: &Row, listed: bool) {
        self.tests += 1;
        match row.outcome {
            Outcome::Failed(_) if listed => self.failures += 1,
            Outcome::Failed(_) => self.errors += 1,
            Outcome::Skipped(_) => self.skipped += 1,
            Outcome::Passed(_) | Outcome::Warned(_) => {}
        }
    }

    fn add(&mut self, other: &Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
    }

    fn attributes(&self) -> String {
        let Self { tests, failures, errors, skipped } = self;
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
    }
}

fn case(connector: &str, row: &Row, listed: bool, out: &mut String) {
    let (class, title) = (format!("{connector}.{}", row.check), row.title());
    let _ = write!(out, "    <testcase classname=\"{}\" name=\"{}\"", quoted(&class), quoted(&title));
    match &row.outcome {
        Outcome::Passed(_) => out.push_str("/>\n"),
        Outcome::Skipped(why) => {
            let _ = writeln!(out, "><skipped message=\"{}\"/></testcase>", quoted(why));
        }
        Outcome::Warned(problem) => {
            let said = quoted(&format!("{}: {}; {}", problem.code, problem.message, problem.next));
            let _ = writeln!(out, "><system-out>{said}</system-out></testcase>");
        }
        // One element for a case: some readers take the first alone.
        Outcome::Failed(problems) => {
            let element = if listed { "failure" } else { "error" };
            let (code, message) = problems.first().map_or(("", ""), |first| (first.code, first.message.as_str()));
            let lines =
                problems.iter().map(|problem| format!("{}: {}; {}", problem.code, problem.message, problem.next));
            let all = lines.collect::<Vec<_>>().join("\n");
            let _ = writeln!(
                out,
                "><{element} type=\"{}\" message=\"{}\">{}</{element}></testcase>",
                quoted(code),
                quoted(message),
                quoted(&all)
            );
        }
    }
}

/// Text for XML 1.0: what the document cannot carry at all becomes U+FFFD.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}
