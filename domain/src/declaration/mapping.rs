//! Which mapping admits the records of a preset (R004.25, R075.6).

use super::refusal::{DeclarationRefusal, closest, shown};
use super::{ConnectorDeclaration, RecordMode, SchemaMapping, SyncPreset};
use crate::id::{ConnectorName, MappingReference, RecordType};

type Read<T> = Result<T, DeclarationRefusal>;

/// What a configured `mapping_reference` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingChoice {
    /// Nothing is configured: every source uses the mapping of its own record type.
    OwnRecordType,
    /// `connector:<connector>`: the only mapping there is.
    OnlyMapping,
    /// `connector:<connector>#mappings/<record type>`.
    Exact(String),
}

impl MappingChoice {
    /// Reads a configured value; empty means [`MappingChoice::OwnRecordType`].
    pub fn parse(text: &str, connector: &ConnectorName) -> Read<Self> {
        if text.is_empty() {
            return Ok(Self::OwnRecordType);
        }
        let foreign = || DeclarationRefusal::ForeignMapping { connector: connector.to_string() };
        let rest = text.strip_prefix("connector:").and_then(|rest| rest.strip_prefix(connector.as_str()));
        match rest.ok_or_else(foreign)? {
            "" => Ok(Self::OnlyMapping),
            rest => {
                let record_type =
                    rest.strip_prefix("#mappings/").filter(|name| !name.is_empty()).ok_or_else(foreign)?;
                Ok(Self::Exact(record_type.to_owned()))
            }
        }
    }
}

impl ConnectorDeclaration {
    /// The mapping of a record type.
    pub fn mapping_for(&self, record_type: &str) -> Option<&SchemaMapping> {
        self.schema_mappings.get(record_type)
    }

    /// The reference of a declared mapping; refuses a record type without one.
    pub fn mapping_reference(&self, record_type: &str) -> Read<MappingReference> {
        let unknown = || DeclarationRefusal::UnknownMapping {
            record_type: shown(record_type),
            hint: closest(record_type, self.schema_mappings.keys().map(String::as_str)),
        };
        if !self.schema_mappings.contains_key(record_type) {
            return Err(unknown());
        }
        let record_type = RecordType::parse(record_type).map_err(|_| unknown())?;
        MappingReference::of(&self.connector, &record_type).map_err(|_| unknown())
    }

    /// The record type whose mapping admits the records of `preset` that do not name their own type, or `None` when every
    /// record of the preset names its own (`strict_schema` with `typed_entities`).
    ///
    /// With nothing configured it is the source's own record type where `schema_mappings` has it, else the only mapping.
    /// That two record types need a configured reference although each has its mapping is a peer's rule not kept here.
    pub fn record_type_of(&self, preset: &SyncPreset, choice: &MappingChoice) -> Read<Option<&str>> {
        let own = self
            .source_of_preset(preset)
            .and_then(|source| self.schema_mappings.get_key_value(&source.record_type))
            .map(|(name, _)| name.as_str());
        match choice {
            MappingChoice::Exact(record_type) => match self.schema_mappings.get_key_value(record_type) {
                Some((name, _)) => Ok(Some(name)),
                None => self.mapping_reference(record_type).map(|_| None),
            },
            MappingChoice::OwnRecordType if own.is_some() => Ok(own),
            MappingChoice::OwnRecordType | MappingChoice::OnlyMapping => self.only_mapping(preset),
        }
    }

    fn only_mapping(&self, preset: &SyncPreset) -> Read<Option<&str>> {
        let mut names = self.schema_mappings.keys();
        match (names.next(), names.next()) {
            (Some(only), None) => Ok(Some(only)),
            _ if preset.record_mode == RecordMode::TypedEntities && preset.strict_schema => Ok(None),
            (None, _) => Err(DeclarationRefusal::NoMapping { preset: preset.name.to_string() }),
            (Some(_), Some(_)) => Err(DeclarationRefusal::SeveralMappings {
                preset: preset.name.to_string(),
                count: self.schema_mappings.len(),
            }),
        }
    }
}
