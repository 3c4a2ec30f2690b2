use std::time::Duration;

use scion_domain::certification::RecordedPins;

/// How to certify, and what to hold the server against beside its own declaration.
#[derive(Clone, Debug)]
pub struct CertifyOptions {
    /// The longest that listing and reading may take together; 60 s when silent.
    pub timeout: Duration,
    /// Warnings fail too.
    pub strict: bool,
    /// The connector that must answer.
    pub expected: Option<String>,
    /// The pins of an earlier run, recomputed from the live tools.
    pub pins: Option<RecordedPins>,
}

impl Default for CertifyOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_mins(1), strict: false, expected: None, pins: None }
    }
}
