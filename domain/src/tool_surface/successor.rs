//! Whether a release still serves what the one before served.

use std::collections::BTreeSet;

use super::{ActionSplitReport, SplitOutcome, ToolSurfaceRefusal};

/// One tool of the release to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuccessorTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it still routes an `action`.
    pub routes_actions: bool,
}

/// What became of each tool of the release before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuccessorParity {
    /// Served under the same name.
    pub kept: BTreeSet<String>,
    /// Replaced by tools of its actions, at least one of its own.
    pub split: BTreeSet<String>,
    /// Every action served by operations' tools.
    pub covered: BTreeSet<String>,
    /// Gone, or still a router.
    pub lost: BTreeSet<String>,
}

impl SuccessorParity {
    /// Refuses a release that loses a tool.
    pub fn ensure(&self) -> Result<(), ToolSurfaceRefusal> {
        if self.lost.is_empty() {
            return Ok(());
        }
        Err(ToolSurfaceRefusal::ToolsLost {
            tools: self.lost.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Compares two releases. A tool is kept under its name, unless it is a router that was not split; else every action of it
/// in the report must be served by a tool that is really there.
pub fn successor_parity(
    before: impl IntoIterator<Item = impl AsRef<str>>,
    after: &[SuccessorTool<'_>],
    report: &ActionSplitReport,
) -> SuccessorParity {
    let mut parity = SuccessorParity::default();
    for tool in before {
        let tool = tool.as_ref();
        let same = after.iter().find(|other| other.name == tool);
        let actions: Vec<_> =
            report.entries.iter().filter(|entry| entry.router == tool && entry.action.is_some()).collect();
        let served = |name: &str| after.iter().any(|other| other.name == name);
        let place = match same {
            Some(same) if !same.routes_actions => &mut parity.kept,
            Some(_) => &mut parity.lost,
            None if actions.is_empty() || !actions.iter().all(|entry| served(&entry.served_by)) => &mut parity.lost,
            None if actions.iter().any(|entry| entry.outcome == SplitOutcome::Split) => &mut parity.split,
            None => &mut parity.covered,
        };
        place.insert(tool.to_owned());
    }
    parity
}
