//! What a change on a server makes a runner do (`wire/mcp-surface.md` 7.1, changes).

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher;

use crate::config::ConnectorConfig;
use crate::id::StreamName;
use crate::mcp::ServerChange;

/// The work of one cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CyclePlan {
    /// Import the declaration and content first.
    pub provision: bool,
    /// The presets to sync, by name.
    pub presets: Vec<StreamName>,
}

impl CyclePlan {
    /// The plan of a scheduled cycle: everything selected.
    pub fn full(config: &ConnectorConfig, selected: &[StreamName]) -> Self {
        let names: BTreeSet<_> = selected.iter().cloned().collect();
        Self { provision: config.provision, presets: names.into_iter().collect() }
    }

    /// The plan after some changes: a list change or an update of a packed URI provisions again, an update of a
    /// configured data resource syncs its presets.
    pub fn after<S: BuildHasher>(
        config: &ConnectorConfig,
        changes: &[ServerChange],
        pack_uris: &HashSet<String, S>,
    ) -> Self {
        let mut provision = false;
        let mut presets = BTreeSet::new();
        for change in changes {
            match change {
                ServerChange::Tools | ServerChange::Prompts | ServerChange::Resources => provision = true,
                ServerChange::Resource(uri) => {
                    provision |= pack_uris.contains(uri);
                    presets.extend(config.data_resources.get(uri).into_iter().flatten().cloned());
                }
            }
        }
        Self { provision: provision && config.provision, presets: presets.into_iter().collect() }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        !self.provision && self.presets.is_empty()
    }
}
