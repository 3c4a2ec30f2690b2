//! What a runner reads out of a declaration, as a document: the presets with every default, and a short row for each.

use super::preset::raw_preset;
use super::words::{EVOLUTION_POLICY, PAGE_KIND, PARAMS_STYLE, PRESET_PAGINATION, RECORD_MODE};
use super::{ConnectorDeclaration, DeclarationRefusal, ForEach, SyncPreset};
use crate::json::{Json, JsonObject};

impl ConnectorDeclaration {
    /// `{connector, sync: [...], presets: [...]}`, or `None` when no source has a preset.
    pub fn runner_contract(&self) -> Result<Option<Json>, DeclarationRefusal> {
        let presets = self.presets()?;
        if presets.is_empty() {
            return Ok(None);
        }
        let raws = self.sources.iter().filter(|source| source.preset.is_some());
        let rows = raws.zip(&presets).map(|(source, preset)| preset.row(raw_preset(source, &self.connector)));
        Ok(Some(Json::from([
            ("connector", self.connector.as_str().into()),
            ("sync", rows.collect::<Vec<_>>().into()),
            ("presets", presets.iter().map(SyncPreset::to_json).collect::<Vec<_>>().into()),
        ])))
    }
}

impl SyncPreset {
    fn row(&self, raw: JsonObject) -> Json {
        let action = (!self.action.is_empty()).then_some(self.action.as_str());
        Json::from([
            ("preset", self.name.as_str().into()),
            ("server", self.server.as_str().into()),
            ("tool", self.tool.as_str().into()),
            ("action", action.into()),
            ("records_path", self.records_path.as_str().into()),
            ("id_field", self.id_field.as_str().into()),
            ("title_field", self.title_field.as_str().into()),
            ("text_field", self.text_field.as_str().into()),
            ("updated_field", self.updated_field.as_str().into()),
            ("pagination", PRESET_PAGINATION.word(self.pagination).into()),
            ("doc_type", self.doc_type.as_str().into()),
            ("raw", raw.into()),
        ])
    }

    /// Every member with its default. `max_fan_out` is ours: it goes among the mapping hints when it was declared.
    pub fn to_json(&self) -> Json {
        let texts = |items: &[String]| Json::Array(items.iter().map(|item| item.as_str().into()).collect());
        let mut hints = self.hints.clone();
        if self.max_fan_out != super::MAX_FAN_OUT {
            hints.insert("max_fan_out".to_owned(), u64::from(self.max_fan_out).into());
        }
        Json::from([
            ("name", self.name.as_str().into()),
            ("server", self.server.as_str().into()),
            ("tool", self.tool.as_str().into()),
            ("action", self.action.as_str().into()),
            ("action_param", self.action_param.as_str().into()),
            ("params", self.params.clone().into()),
            ("params_style", PARAMS_STYLE.word(self.params_style).into()),
            ("params_arg", self.params_arg.as_str().into()),
            ("arguments", self.arguments.clone().into()),
            ("records_path", self.records_path.as_str().into()),
            ("records_is_mapping", self.records_is_mapping.into()),
            ("mapping_key_field", self.mapping_key_field.as_str().into()),
            ("id_field", self.id_field.as_str().into()),
            ("title_field", self.title_field.as_str().into()),
            ("text_field", self.text_field.as_str().into()),
            ("updated_field", self.updated_field.as_str().into()),
            ("doc_type", self.doc_type.as_str().into()),
            ("pagination", PRESET_PAGINATION.word(self.pagination).into()),
            ("cursor_param", self.cursor_param.as_str().into()),
            ("cursor_path", self.cursor_path.as_str().into()),
            ("cursor_record_field", self.cursor_record_field.as_str().into()),
            ("more_path", self.more_path.as_str().into()),
            ("page_param", self.page_param.as_str().into()),
            ("page_size_param", self.page_size_param.as_str().into()),
            ("page_size", u64::from(self.page_size).into()),
            ("page_kind", self.page_kind.map(|kind| PAGE_KIND.word(kind)).into()),
            ("start_page", self.start_page.into()),
            ("updated_since_param", self.updated_since_param.as_str().into()),
            ("max_pages", u64::from(self.max_pages).into()),
            ("mode_param", self.mode_param.as_str().into()),
            ("record_mode", RECORD_MODE.word(self.record_mode).into()),
            ("node_type_field", self.node_type_field.as_str().into()),
            ("checkpoint_path", self.checkpoint_path.as_str().into()),
            ("content_hash_path", self.content_hash_path.as_str().into()),
            ("relationships_path", self.relationships_path.as_str().into()),
            ("relationship_source_field", self.relationship_source_field.as_str().into()),
            ("relationship_target_field", self.relationship_target_field.as_str().into()),
            ("relationship_type_field", self.relationship_type_field.as_str().into()),
            ("relationship_properties_field", self.relationship_properties_field.as_str().into()),
            ("reconcile_path", self.reconcile_path.as_str().into()),
            ("authoritative_path", self.authoritative_path.as_str().into()),
            ("withdrawals_path", self.withdrawals_path.as_str().into()),
            ("withdrawal_id_field", self.withdrawal_id_field.as_str().into()),
            ("withdrawal_reason_field", self.withdrawal_reason_field.as_str().into()),
            ("evolution_policy", EVOLUTION_POLICY.word(self.evolution_policy).into()),
            ("strict_schema", self.strict_schema.into()),
            ("content_fields", texts(&self.content_fields)),
            ("metadata_fields", texts(&self.metadata_fields)),
            ("mapping_hints", hints.into()),
            ("for_each", self.for_each.as_ref().map(ForEach::to_full_json).into()),
        ])
    }
}

impl ForEach {
    fn to_full_json(&self) -> Json {
        Json::from([
            ("source", self.source.as_str().into()),
            ("argument", self.argument.as_str().into()),
            ("field", self.field.as_str().into()),
        ])
    }
}
