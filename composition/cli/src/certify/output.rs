//! Reports told: to a file, to standard output in a form for programs, to standard error for a person.

use std::io::IsTerminal as _;

use scion::certify::render::{Ink, junit, sarif, text};
use scion_domain::certification::{CertificationReport, pretty};
use scion_domain::json::Json;

use super::args::{CertifyArgs, Format};
use super::files;
use crate::output::{Refused, print, tell};
use crate::{DONE, FAILED, NOT_STARTED};

/// A report, and what to call its server if it did not say who it is.
pub(super) struct Named {
    pub(super) fallback: String,
    pub(super) report: CertificationReport,
}

/// Tells everything and gives the exit code.
pub(super) fn tell_all(args: &CertifyArgs, reports: &[Named]) -> Result<u8, Refused> {
    if let Some(path) = &args.report {
        files::write(path, &document(args, reports))?;
    }
    let pairs: Vec<(&str, &CertificationReport)> =
        reports.iter().map(|named| (named.fallback.as_str(), &named.report)).collect();
    let people =
        |ink| pairs.iter().map(|(fallback, report)| text(report, fallback, ink)).collect::<Vec<_>>().join("\n");
    match args.format {
        None => tell(people(ink(std::io::stderr().is_terminal())).trim_end()),
        Some(Format::Text) => print(&people(ink(std::io::stdout().is_terminal())))?,
        Some(Format::Json) => print(&document(args, reports))?,
        Some(Format::Sarif) => print(&sarif(&pairs, env!("CARGO_PKG_VERSION")))?,
        Some(Format::Junit) => print(&junit(&pairs))?,
    }
    Ok(code(reports))
}

/// 2 as soon as one was not listed: a fleet with a gap is not certified by what is left of it.
fn code(reports: &[Named]) -> u8 {
    if reports.is_empty() || reports.iter().any(|named| !named.report.listed()) {
        NOT_STARTED
    } else if reports.iter().all(|named| named.report.passed()) {
        DONE
    } else {
        FAILED
    }
}

/// One report, or those of a fleet: `{"connectors": […], "passed": …}`.
fn document(args: &CertifyArgs, reports: &[Named]) -> String {
    match reports {
        [only] if args.config.is_none() => only.report.to_text(),
        all => {
            let connectors: Vec<Json> = all.iter().map(|named| named.report.to_json()).collect();
            let passed = code(all) == DONE;
            pretty(&Json::from([("connectors", Json::from(connectors)), ("passed", passed.into())]))
        }
    }
}

fn ink(terminal: bool) -> Ink {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if terminal && !refused { Ink::Colour } else { Ink::Plain }
}
