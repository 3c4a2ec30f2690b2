//! What is looked at beside the tools of the presets.

use super::check::Check;
use super::finding::CertificationFinding as Finding;
use super::judge::CertificationSubject;
use super::pin::RecordedPins;
use super::report::CertificationReport;
use crate::client_profile::ClientProfile;
use crate::json::JsonObject;

/// The checks that need no more than the listing: identity, pins of an earlier run, and what common clients accept.
pub fn further_checks(
    subject: &CertificationSubject<'_>,
    report: &CertificationReport,
    expected: Option<&str>,
    pins: Option<&RecordedPins>,
) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(expected) = expected {
        checks.push(if expected == report.connector {
            Check::passed("identity", expected, JsonObject::new())
        } else {
            let (expected, declared) = (expected.to_owned(), report.connector.clone());
            Check::failed("identity", expected.clone(), Finding::OtherConnector { expected, declared })
        });
    }
    match pins {
        None => checks.push(Check::skipped("pins", "no report of an earlier run was given")),
        Some(pins) => checks.extend(against(pins, report)),
    }
    checks.extend(profile(subject, report));
    checks
}

/// Pins are recomputed from the live tools and compared with the recorded ones.
fn against(pins: &RecordedPins, report: &CertificationReport) -> Vec<Check> {
    let live: std::collections::BTreeMap<_, _> = report.pins().collect();
    let check = |tool: &String| match live.get(tool.as_str()) {
        None => Check::failed("pins", tool.as_str(), Finding::PinGone { tool: tool.clone() }),
        Some(pin) => match pins.differs(tool, pin) {
            None => Check::passed("pins", tool.as_str(), JsonObject::new()),
            Some(side) => Check::failed("pins", tool.as_str(), Finding::PinChanged { tool: tool.clone(), side }),
        },
    };
    pins.tools.keys().map(check).collect()
}

/// What some client would not take of any listed tool: warnings, since the sync does not depend on it.
fn profile(subject: &CertificationSubject<'_>, report: &CertificationReport) -> Vec<Check> {
    let found = ClientProfile::for_server(&report.server).check_listing(subject.tools);
    if found.is_empty() {
        return vec![Check::passed("client_profile", "", JsonObject::new())];
    }
    found.into_iter().map(|one| Check::warned("client_profile", one.tool().to_owned(), one)).collect()
}
