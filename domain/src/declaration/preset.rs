//! From a source to its sync preset (`wire/mcp-surface.md` 1.4).

use super::members::{Members, Place};
use super::read_source::{MAX_START_PAGE, narrow, read_for_each};
use super::refusal::DeclarationRefusal;
use super::words::{EVOLUTION_POLICY, PAGE_KIND, PARAMS_STYLE, PRESET_PAGINATION, RECORD_MODE};
use super::{ConnectorDeclaration, PageKind, PresetPagination, RecordMode, SourceSpec, SyncPreset};
use crate::id::{ConnectorName, StreamName};
use crate::json::{Json, JsonObject, write_dotted};

type Read<T> = Result<T, DeclarationRefusal>;

/// The most parents of a fan-out when nothing else is said (R004.28).
pub const MAX_FAN_OUT: u32 = 200;

/// The largest `max_fan_out` a preset may ask for.
const MAX_FAN_OUT_BOUND: u64 = 100_000;

/// The members of a preset. Every other member is a mapping hint.
const PRESET_MEMBERS: [&str; 49] = [
    "server",
    "tool",
    "action",
    "action_param",
    "params",
    "params_style",
    "params_arg",
    "arguments",
    "records_path",
    "records_is_mapping",
    "mapping_key_field",
    "id_field",
    "title_field",
    "text_field",
    "updated_field",
    "doc_type",
    "pagination",
    "cursor_param",
    "cursor_path",
    "cursor_record_field",
    "more_path",
    "page_param",
    "page_size_param",
    "page_size",
    "page_kind",
    "start_page",
    "updated_since_param",
    "mode_param",
    "max_pages",
    "record_mode",
    "node_type_field",
    "checkpoint_path",
    "content_hash_path",
    "relationships_path",
    "relationship_source_field",
    "relationship_target_field",
    "relationship_type_field",
    "relationship_properties_field",
    "reconcile_path",
    "authoritative_path",
    "withdrawals_path",
    "withdrawal_id_field",
    "withdrawal_reason_field",
    "strict_schema",
    "content_fields",
    "metadata_fields",
    "evolution_policy",
    "for_each",
    "max_fan_out",
];

/// Source member to preset member, copied only if the source set it.
const COPIED: [(&str, &str); 10] = [
    ("records_path", "records_path"),
    ("title_field", "title_field"),
    ("text_field", "text_field"),
    ("cursor_field", "updated_field"),
    ("pagination", "pagination"),
    ("page_param", "page_param"),
    ("page_size_param", "page_size_param"),
    ("page_size", "page_size"),
    ("start_page", "start_page"),
    ("arguments", "arguments"),
];

impl SyncPreset {
    /// The preset of a source. A source without a `preset` member gives the preset it would have with an empty one, so
    /// that it can be the parent of a fan-out.
    pub fn from_source(source: &SourceSpec, connector: &ConnectorName) -> Read<Self> {
        Self::from_object(&source.source_id, &raw_preset(source, connector))
    }

    /// Reads the flat form: `server` and `tool` are needed, everything else has a default, `null` counts as absent.
    pub fn from_object(name: &StreamName, object: &JsonObject) -> Read<Self> {
        let mut given = object.clone();
        given.retain(|_, value| !value.is_null());
        let label = format!("preset {name}");
        let members = Members::of(&given, Place::Member(&Place::Root, &label));
        let page_size = members.number_or("page_size", 100, 1, 10_000)?;
        let preset = Self {
            name: name.clone(),
            server: members.text("server", 1, usize::MAX)?,
            tool: members.text("tool", 1, usize::MAX)?,
            action: members.text_or("action", "")?,
            action_param: members.text_or("action_param", "action")?,
            params: expand(members.object_or_empty("params")?)
                .ok_or_else(|| members.bad("params", "has a name with more than 32 dotted parts"))?,
            params_style: members.word_or("params_style", &PARAMS_STYLE)?,
            params_arg: members.text_or("params_arg", "params_json")?,
            arguments: members.object_or_empty("arguments")?,
            records_path: members.text_or("records_path", "")?,
            records_is_mapping: members.flag_or("records_is_mapping", false)?,
            mapping_key_field: members.text_or("mapping_key_field", "source_key")?,
            id_field: members.text_or("id_field", "id")?,
            title_field: members.text_or("title_field", "title")?,
            text_field: members.text_or("text_field", "text")?,
            updated_field: members.text_or("updated_field", "")?,
            doc_type: members.text_or("doc_type", "document")?,
            pagination: members.word_or("pagination", &PRESET_PAGINATION)?,
            cursor_param: members.text_or("cursor_param", "")?,
            cursor_path: members.text_or("cursor_path", "")?,
            cursor_record_field: members.text_or("cursor_record_field", "")?,
            more_path: members.text_or("more_path", "")?,
            page_param: members.text_or("page_param", "")?,
            page_size_param: members.text_or("page_size_param", "")?,
            page_size: narrow(page_size),
            page_size_declared: members.get("page_size").is_some(),
            page_kind: match members.get("page_kind") {
                None => None,
                Some(_) => Some(members.word_or("page_kind", &PAGE_KIND)?),
            },
            start_page: members.number_or("start_page", 0, 0, MAX_START_PAGE)?,
            start_page_declared: members.get("start_page").is_some(),
            updated_since_param: members.text_or("updated_since_param", "")?,
            mode_param: members.text_or("mode_param", "mode")?,
            max_pages: narrow(members.number_or("max_pages", 100, 1, 100_000)?),
            record_mode: members.word_or("record_mode", &RECORD_MODE)?,
            node_type_field: members.text_or("node_type_field", "")?,
            checkpoint_path: members.text_or("checkpoint_path", "")?,
            content_hash_path: members.text_or("content_hash_path", "content_hash")?,
            relationships_path: members.text_or("relationships_path", "")?,
            relationship_source_field: members.text_or("relationship_source_field", "source")?,
            relationship_target_field: members.text_or("relationship_target_field", "target")?,
            relationship_type_field: members.text_or("relationship_type_field", "relationship")?,
            relationship_properties_field: members.text_or("relationship_properties_field", "")?,
            reconcile_path: members.text_or("reconcile_path", "")?,
            authoritative_path: members.text_or("authoritative_path", "")?,
            withdrawals_path: members.text_or("withdrawals_path", "")?,
            withdrawal_id_field: members.text_or("withdrawal_id_field", "id")?,
            withdrawal_reason_field: members.text_or("withdrawal_reason_field", "reason")?,
            strict_schema: members.flag_or("strict_schema", false)?,
            content_fields: members.texts("content_fields")?,
            metadata_fields: members.texts("metadata_fields")?,
            evolution_policy: members.word_or("evolution_policy", &EVOLUTION_POLICY)?,
            for_each: members.get("for_each").map(|value| read_for_each(value, members.at("for_each"))).transpose()?,
            max_fan_out: narrow(members.number_or("max_fan_out", u64::from(MAX_FAN_OUT), 1, MAX_FAN_OUT_BOUND)?),
            hints: hints(&given),
        };
        preset.check_rules(&members)?;
        Ok(preset)
    }

    fn check_rules(&self, members: &Members<'_>) -> Read<()> {
        let refuse = |broken: bool, name: &str, rule| if broken { Err(members.bad(name, rule)) } else { Ok(()) };
        refuse(self.id_field.is_empty(), "id_field", "must not be empty")?;
        self.check_paging(members)?;
        self.check_depth(members)?;
        let typed = self.record_mode == RecordMode::TypedEntities;
        refuse(typed && self.node_type_field.is_empty(), "record_mode", "typed_entities needs a node_type_field")?;
        refuse(!typed && !self.node_type_field.is_empty(), "node_type_field", "needs record_mode typed_entities")?;
        let edges = !self.relationships_path.is_empty();
        refuse(edges && !typed, "relationships_path", "needs record_mode typed_entities")?;
        let edge_fields =
            [&self.relationship_source_field, &self.relationship_target_field, &self.relationship_type_field];
        refuse(
            edges && edge_fields.iter().any(|field| field.is_empty()),
            "relationships_path",
            "needs relationship_source_field, relationship_target_field and relationship_type_field",
        )?;
        refuse(
            self.reconcile_path.is_empty() != self.authoritative_path.is_empty(),
            "reconcile_path",
            "and authoritative_path go together",
        )?;
        let gone = !self.withdrawals_path.is_empty();
        refuse(
            gone && (self.withdrawal_id_field.is_empty() || self.withdrawal_reason_field.is_empty()),
            "withdrawals_path",
            "needs withdrawal_id_field and withdrawal_reason_field",
        )?;
        refuse(
            !self.checkpoint_path.is_empty() && self.updated_since_param.is_empty(),
            "checkpoint_path",
            "needs an updated_since_param to hand the mark back",
        )?;
        refuse(self.strict_schema && self.metadata_fields.is_empty(), "strict_schema", "needs metadata_fields")?;
        let mode = self.params.get(&self.mode_param).and_then(Json::as_str);
        refuse(
            mode == Some("reconcile"),
            "params",
            "must not ask for reconcile: the answer's authoritative flag decides",
        )
    }

    /// Dotted names are written level by level, so their depth is bounded.
    fn check_depth(&self, members: &Members<'_>) -> Read<()> {
        let for_each = self.for_each.as_ref().map_or("", |for_each| for_each.argument.as_str());
        let names = [
            ("page_param", self.page_param.as_str()),
            ("page_size_param", &self.page_size_param),
            ("cursor_param", &self.cursor_param),
            ("updated_since_param", &self.updated_since_param),
            ("for_each", for_each),
        ];
        match names.iter().find(|(_, path)| too_deep(path)) {
            None => Ok(()),
            Some((name, _)) => Err(members.bad(name, "has more than 32 dotted parts")),
        }
    }

    fn check_paging(&self, members: &Members<'_>) -> Read<()> {
        let refuse = |broken: bool, name: &str, rule| if broken { Err(members.bad(name, rule)) } else { Ok(()) };
        let paging = self.pagination;
        let cursor = paging == PresetPagination::Cursor;
        refuse(cursor && self.cursor_param.is_empty(), "pagination", "by cursor needs a cursor_param")?;
        refuse(
            cursor && self.cursor_path.is_empty() && self.cursor_record_field.is_empty(),
            "pagination",
            "by cursor needs a cursor_path or a cursor_record_field",
        )?;
        let counted = matches!(paging, PresetPagination::Page | PresetPagination::Offset);
        refuse(counted && self.page_param.is_empty(), "pagination", "by page or offset needs a page_param")?;
        let kind = match paging {
            PresetPagination::Page => Some(PageKind::Number),
            PresetPagination::Offset => Some(PageKind::Offset),
            PresetPagination::None | PresetPagination::Cursor => None,
        };
        refuse(self.page_kind.is_some() && self.page_kind != kind, "page_kind", "contradicts pagination")?;
        let offset = paging == PresetPagination::Offset;
        refuse(offset && self.start_page != 0, "start_page", "is not for paging by offset")
    }
}

/// The flat form of a source's preset: what the source set, then the preset object over it.
pub(super) fn raw_preset(source: &SourceSpec, connector: &ConnectorName) -> JsonObject {
    let full = source.to_full_json();
    let server = if source.server.is_empty() { connector.as_str() } else { source.server.as_str() };
    let mut raw = JsonObject::new();
    raw.insert("server".to_owned(), server.into());
    raw.insert("tool".to_owned(), source.tools.first().map_or("", String::as_str).into());
    raw.insert("id_field".to_owned(), source.id_field.as_str().into());
    for (from, to) in COPIED {
        if let Some(value) = full.get(from).filter(|_| source.is_set(from)) {
            raw.insert(to.to_owned(), value.clone());
        }
    }
    if let Some(for_each) = &source.for_each {
        raw.insert("for_each".to_owned(), for_each.to_json());
    }
    raw.extend(source.preset.iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    raw.retain(|_, value| !value.is_null());
    raw
}

fn hints(given: &JsonObject) -> JsonObject {
    given
        .iter()
        .filter(|(name, _)| !PRESET_MEMBERS.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn too_deep(path: &str) -> bool {
    path.split('.').nth(32).is_some()
}

/// Dotted parameter names become nested objects; `None` when one is too deep.
fn expand(params: JsonObject) -> Option<JsonObject> {
    if params.keys().any(|name| too_deep(name)) {
        return None;
    }
    let mut out = JsonObject::new();
    for (name, value) in params {
        write_dotted(&mut out, &name, value);
    }
    Some(out)
}

impl ConnectorDeclaration {
    /// The presets of the sources that have one, in the order of the sources.
    pub fn presets(&self) -> Read<Vec<SyncPreset>> {
        self.sources
            .iter()
            .filter(|source| source.preset.is_some())
            .map(|source| SyncPreset::from_source(source, &self.connector))
            .collect()
    }

    /// The preset of the parent of a fan-out; `None` for a preset without one. The parent itself needs no `preset`.
    pub fn parent_preset(&self, child: &SyncPreset) -> Read<Option<SyncPreset>> {
        let Some(for_each) = &child.for_each else { return Ok(None) };
        let parent = self.source(for_each.source.as_str()).ok_or_else(|| DeclarationRefusal::UnknownParent {
            source: child.name.to_string(),
            parent: for_each.source.to_string(),
            hint: String::new(),
        })?;
        SyncPreset::from_source(parent, &self.connector).map(Some)
    }
}
