use super::check::Check;
use super::finding::{CertificationFinding, CertificationRefusal};
use super::pin::ToolPin;
use crate::id::Digest256;

/// What certification of one connector came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificationReport {
    /// The connector as it declares itself; empty when it was not listed.
    pub connector: String,
    /// The one MCP server of its presets.
    pub server: String,
    /// The name the server gives itself in the handshake.
    pub server_name: String,
    /// Its version.
    pub server_version: String,
    /// The negotiated protocol version.
    pub protocol_version: String,
    /// SHA-256 over the bytes of `connector://resources`.
    pub declaration: Option<Digest256>,
    /// Why nothing was certified.
    pub refusal: Option<CertificationRefusal>,
    /// The tools of the presets, by name.
    pub tools: Vec<ToolVerdict>,
    /// Everything else that was looked at.
    pub checks: Vec<Check>,
}

/// What came out for one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolVerdict {
    /// Its name.
    pub tool: String,
    /// The presets that call it, sorted.
    pub presets: Vec<String>,
    /// Its pin, or everything that is wrong.
    pub outcome: Result<ToolPin, Vec<CertificationFinding>>,
}

impl CertificationReport {
    /// Whether listing and declaration were had.
    pub const fn listed(&self) -> bool {
        self.refusal.is_none()
    }

    /// Whether everything is as declared.
    pub fn passed(&self) -> bool {
        self.listed()
            && self.tools.iter().all(|tool| tool.outcome.is_ok())
            && !self.checks.iter().any(Check::is_failure)
    }

    /// 0 when it passed, 1 when something is missing or wrong, 2 when it was not listed.
    pub fn exit_code(&self) -> u8 {
        match (self.listed(), self.passed()) {
            (false, _) => 2,
            (true, false) => 1,
            (true, true) => 0,
        }
    }

    /// A check about one tool failed: there is no pin for it.
    pub(super) fn failure_of(&self, tool: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.subject == tool && check.is_failure())
    }

    /// Adds checks. With `strict`, what would be a warning fails.
    pub fn add(&mut self, checks: impl IntoIterator<Item = Check>, strict: bool) {
        self.checks.extend(checks.into_iter().map(|check| if strict { check.strict() } else { check }));
    }

    /// The tools with a pin: certified, and no check of theirs failed.
    pub fn pins(&self) -> impl Iterator<Item = (&str, &ToolPin)> {
        self.tools.iter().filter_map(|verdict| {
            let pin = verdict.outcome.as_ref().ok()?;
            self.failure_of(&verdict.tool).is_none().then_some((verdict.tool.as_str(), pin))
        })
    }
}
