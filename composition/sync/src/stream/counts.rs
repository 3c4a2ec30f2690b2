//! What a submission committed.

use std::collections::HashSet;

use scion_domain::model::EntityRef;
use serde::{Deserialize, Serialize};

use crate::ingest::IngestOutcome;

/// How much was committed: `{"nodes": n, "edges": n}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records, each once.
    pub nodes: usize,
    /// Relationships.
    pub edges: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.edges += other.edges;
    }
}

/// Counts over the batches of one submission; a record that anchors several batches counts once.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: HashSet<EntityRef>,
    edges: usize,
}

impl Tally {
    pub(super) fn of(outcomes: &[IngestOutcome]) -> Self {
        let mut tally = Self::default();
        for outcome in outcomes {
            tally.seen.extend(outcome.receipt.raw_admissions.iter().map(|admission| admission.entity.clone()));
            tally.edges += outcome.edges;
        }
        tally
    }

    pub(super) fn counts(&self) -> Counts {
        Counts { nodes: self.seen.len(), edges: self.edges }
    }
}
