//! What of a declaration a runner syncs (`wire/mcp-surface.md` 7.1, start checks).

use std::collections::BTreeSet;

use super::refusal::{DeclarationRefusal, closest, shown};
use super::{ConnectorDeclaration, MappingChoice, SyncPreset};
use crate::config::ConnectorConfig;

/// The presets a connector's configuration selects, by name. Checks that the declaration is of this connector, that every
/// selected and triggered preset is declared, that triggered ones are selected, and that the records of each can be
/// admitted under a declared mapping.
pub fn select(
    declaration: &ConnectorDeclaration,
    config: &ConnectorConfig,
) -> Result<Vec<SyncPreset>, DeclarationRefusal> {
    if declaration.connector != config.connector {
        return Err(DeclarationRefusal::OtherConnector {
            configured: config.connector.to_string(),
            declared: declaration.connector.to_string(),
        });
    }
    let mut presets = declaration.presets()?;
    if presets.is_empty() {
        return Err(DeclarationRefusal::NoPreset { connector: config.connector.to_string() });
    }
    let unknown = |name: &str, presets: &[SyncPreset]| DeclarationRefusal::UnknownPreset {
        preset: shown(name),
        hint: closest(name, presets.iter().map(|preset| preset.name.as_str())),
    };
    let wanted: BTreeSet<&str> = config.presets.iter().map(crate::id::StreamName::as_str).collect();
    if let Some(name) = wanted.iter().find(|name| !presets.iter().any(|preset| preset.name.as_str() == **name)) {
        return Err(unknown(name, &presets));
    }
    let selected = |name: &str| wanted.is_empty() || wanted.contains(name);
    for trigger in config.data_resources.values().flatten() {
        if !presets.iter().any(|preset| preset.name == *trigger) {
            return Err(unknown(trigger.as_str(), &presets));
        }
        if !selected(trigger.as_str()) {
            return Err(DeclarationRefusal::TriggerNotSelected { preset: trigger.to_string() });
        }
    }
    presets.retain(|preset| selected(preset.name.as_str()));
    presets.sort_by(|a, b| a.name.cmp(&b.name));
    let choice = MappingChoice::parse(&config.mapping_reference, &config.connector)?;
    for preset in &presets {
        declaration.record_type_of(preset, &choice)?;
    }
    Ok(presets)
}
