//! Certification: a live server compared with its own declaration (`wire/mcp-surface.md` 7.2).
//!
//! [`judge`] is pure: what a server listed and declared goes in, a [`CertificationReport`] comes out. The report's document has
//! the members of the Python peer's, byte for byte, and one further member, `scion`, with everything we add; a reader of the
//! peer's report reads past it.

mod check;
mod finding;
mod further;
mod judge;
mod parameters;
mod pin;
mod preset;
mod report;
mod write;

#[cfg(test)]
mod tests;

pub use check::{Check, CheckOutcome, Problem};
pub use finding::{CertificationFinding, CertificationRefusal};
pub use further::further_checks;
pub use judge::{CertificationSubject, judge, refused};
pub use parameters::{UnfitArgument, unfit_argument};
pub use pin::{PinRefusal, RecordedPins, ToolPin};
pub use preset::check_preset;
pub use report::{CertificationReport, ToolVerdict};
pub use write::{REPORT_MEMBER, REPORT_SCHEMA, pretty};
