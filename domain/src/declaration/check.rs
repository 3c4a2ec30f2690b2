//! What must hold between the parts of a declaration.

use std::collections::BTreeSet;

use super::refusal::{DeclarationRefusal, closest};
use super::{ConnectorDeclaration, SourceSpec, SyncPreset};

impl ConnectorDeclaration {
    /// Checks that source ids are unique, that parents exist and that fan-outs end (R004.19, R004.28).
    pub fn check(&self) -> Result<(), DeclarationRefusal> {
        let mut seen = BTreeSet::new();
        for source in &self.sources {
            if !seen.insert(source.source_id.as_str()) {
                return Err(DeclarationRefusal::DuplicateSource { source: source.source_id.to_string() });
            }
        }
        self.sources.iter().try_for_each(|source| self.check_fan_out(source))
    }

    fn check_fan_out(&self, start: &SourceSpec) -> Result<(), DeclarationRefusal> {
        let mut here = start;
        // A chain longer than the number of sources has been somewhere twice.
        for _ in 0..=self.sources.len() {
            let Some(for_each) = &here.for_each else { return Ok(()) };
            here = self.source(for_each.source.as_str()).ok_or_else(|| DeclarationRefusal::UnknownParent {
                source: here.source_id.to_string(),
                parent: for_each.source.to_string(),
                hint: closest(for_each.source.as_str(), self.sources.iter().map(|s| s.source_id.as_str())),
            })?;
        }
        Err(DeclarationRefusal::ForEachCycle { source: start.source_id.to_string() })
    }

    /// The source of this id.
    pub fn source(&self, source_id: &str) -> Option<&SourceSpec> {
        self.sources.iter().find(|source| source.source_id.as_str() == source_id)
    }

    /// The source a preset was made from; it carries the edges and the record type.
    pub fn source_of_preset(&self, preset: &SyncPreset) -> Option<&SourceSpec> {
        self.source(preset.name.as_str())
    }

    /// Record types of sources that `schema_mappings` does not name, sorted. A store admits none of their records
    /// (R004.25).
    pub fn unmapped_record_types(&self) -> Vec<&str> {
        let types: BTreeSet<&str> = self.sources.iter().map(|source| source.record_type.as_str()).collect();
        types.into_iter().filter(|record_type| !self.schema_mappings.contains_key(*record_type)).collect()
    }
}
