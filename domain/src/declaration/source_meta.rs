//! Declaring a source on its read tool: the `connector_sources` member of the tool's `_meta` (R075.2).

use std::collections::BTreeMap;

use super::members::{Members, Place};
use super::read::read_mapping;
use super::read_source::SOURCE_MEMBERS;
use super::refusal::{DeclarationRefusal, closest};
use super::words::SOURCE_PAGINATION;
use super::{EdgeSpec, ForEach, PaginationMode, SchemaMapping, SourceSpec};
use crate::json::{Json, JsonObject};

type Read<T> = Result<T, DeclarationRefusal>;

/// The member of a tool's `_meta` with the list of its sources.
pub const SOURCE_META_KEY: &str = "connector_sources";

/// Members of the form that are no members of a source.
const EXTRA: [&str; 3] = ["mapping", "tool", "tools"];

/// One source as it is declared: a source without its tools, and the mapping of its record type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredSource {
    /// The members set, `source_id`, `record_type` and `id_field` among them.
    members: JsonObject,
    tool: Option<String>,
    mapping: Option<SchemaMapping>,
}

impl DeclaredSource {
    /// Starts a declaration. It takes part in runner sync (an empty `preset`) unless [`DeclaredSource::without_preset`].
    pub fn new(source_id: &str, record_type: &str, id_field: &str) -> Self {
        let members = [
            ("source_id", Json::from(source_id)),
            ("record_type", record_type.into()),
            ("id_field", id_field.into()),
            ("preset", JsonObject::new().into()),
        ];
        let members = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { members, tool: None, mapping: None }
    }

    /// Sets any member by its wire name; [`DeclaredSource::meta`] refuses names and values that are not right.
    #[must_use]
    pub fn set(mut self, member: &str, value: impl Into<Json>) -> Self {
        self.members.insert(member.to_owned(), value.into());
        self
    }

    /// Names the tool, for declarations that stand apart from it.
    #[must_use]
    pub fn tool(mut self, tool: &str) -> Self {
        self.tool = Some(tool.to_owned());
        self
    }

    /// The ontology class of the record type.
    #[must_use]
    pub fn ontology_class(mut self, class: &str) -> Self {
        self.mapping.get_or_insert_default().ontology_class = Some(class.to_owned());
        self
    }

    /// Maps a record field onto a property.
    #[must_use]
    pub fn field(mut self, field: &str, property: &str) -> Self {
        self.mapping.get_or_insert_default().fields.insert(field.to_owned(), property.to_owned());
        self
    }

    /// Where the list of records is in a result.
    #[must_use]
    pub fn records_path(self, path: &str) -> Self {
        self.set("records_path", path)
    }

    /// The field with the change time.
    #[must_use]
    pub fn cursor_field(self, field: &str) -> Self {
        self.set("cursor_field", field)
    }

    /// Pages by number, from `start_page` on. The first page is always written out: a source and the preset made from it
    /// have different defaults for it.
    #[must_use]
    pub fn pages(self, page_param: &str, page_size_param: Option<&str>, page_size: u32, start_page: u64) -> Self {
        let paged = self
            .set("pagination", SOURCE_PAGINATION.word(PaginationMode::Page))
            .set("page_param", page_param)
            .set("page_size", u64::from(page_size))
            .set("start_page", start_page);
        match page_size_param {
            Some(name) => paged.set("page_size_param", name),
            None => paged,
        }
    }

    /// Sets a member of the preset, for example `params_style`.
    #[must_use]
    pub fn preset(mut self, member: &str, value: impl Into<Json>) -> Self {
        let preset = self.members.entry("preset".to_owned()).or_insert_with(|| JsonObject::new().into());
        if let Json::Object(preset) = preset {
            preset.insert(member.to_owned(), value.into());
        }
        self
    }

    /// Keeps the source out of runner sync.
    #[must_use]
    pub fn without_preset(mut self) -> Self {
        self.members.remove("preset");
        self
    }

    /// Reads the source once per record of another one; `field` of the parent goes into `argument` (R004.28).
    #[must_use]
    pub fn for_each(self, for_each: &ForEach) -> Self {
        let value = for_each.to_json();
        self.set("for_each", value)
    }

    /// Adds an edge to the records a field names (R004.36).
    #[must_use]
    pub fn edge(mut self, edge: &EdgeSpec) -> Self {
        let edges = self.members.entry("edges".to_owned()).or_insert_with(|| Json::Array(Vec::new()));
        if let Json::Array(edges) = edges {
            edges.push(edge.to_json());
        }
        self
    }

    /// Reads one entry of `connector_sources`.
    pub(super) fn read(value: &Json, place: Place<'_>) -> Read<Self> {
        let known: Vec<&str> = SOURCE_MEMBERS.iter().chain(&EXTRA).copied().collect();
        let members = Members::closed(value, place, &known)?;
        let mut object = value.as_object().cloned().unwrap_or_default();
        let mapping = match members.given("mapping") {
            None => None,
            Some(mapping) => Some(read_mapping(mapping, members.at("mapping"))?),
        };
        let tool = members.optional_text("tool")?;
        object.retain(|name, _| name != "mapping" && name != "tool");
        let read = Self { members: object, tool, mapping };
        read.spec_at(&["a tool"], place)?;
        Ok(read)
    }

    /// The tool it names itself.
    pub fn named_tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The mapping of its record type.
    pub fn mapping(&self) -> Option<&SchemaMapping> {
        self.mapping.as_ref()
    }

    /// The source, called through these tools unless it lists its own.
    pub fn spec(&self, tools: &[&str]) -> Read<SourceSpec> {
        self.spec_at(tools, Place::Root)
    }

    fn spec_at(&self, tools: &[&str], place: Place<'_>) -> Read<SourceSpec> {
        let mut members = self.members.clone();
        let tools: Vec<Json> = tools.iter().map(|tool| Json::from(*tool)).collect();
        members.entry("tools".to_owned()).or_insert_with(|| tools.into());
        SourceSpec::read(&Json::Object(members), place)
    }

    /// The entry as served.
    pub fn to_json(&self) -> Json {
        let mut members = self.members.clone();
        if let Some(mapping) = &self.mapping {
            let fields: JsonObject =
                mapping.fields.iter().map(|(field, property)| (field.clone(), property.as_str().into())).collect();
            let pairs = [("ontology_class", mapping.ontology_class.as_deref().into()), ("fields", fields.into())];
            members.insert("mapping".to_owned(), Json::from(pairs));
        }
        if let Some(tool) = &self.tool {
            members.insert("tool".to_owned(), tool.as_str().into());
        }
        Json::Object(members)
    }

    /// The `_meta` of the read tool: `{"connector_sources": [...]}`. Refuses what [`SourceSpec`] refuses.
    pub fn meta(&self) -> Read<JsonObject> {
        source_meta(std::slice::from_ref(self))
    }
}

/// The `_meta` of a tool that feeds several sources.
pub fn source_meta(sources: &[DeclaredSource]) -> Read<JsonObject> {
    for source in sources {
        source.spec(&["a tool"])?;
    }
    let entries = sources.iter().map(DeclaredSource::to_json).collect::<Vec<_>>();
    Ok(JsonObject::from([(SOURCE_META_KEY.to_owned(), entries.into())]))
}

/// Reads the sources a tool's `_meta` declares; none when it declares none.
pub fn sources_of_meta(meta: &JsonObject) -> Read<Vec<DeclaredSource>> {
    Members::of(meta, Place::Root).items(SOURCE_META_KEY, DeclaredSource::read)
}

/// Merges a mapping into the mappings of a declaration; a second, different one is refused.
pub(super) fn add_mapping(
    mappings: &mut BTreeMap<String, SchemaMapping>,
    record_type: &str,
    mapping: &SchemaMapping,
) -> Read<()> {
    match mappings.get(record_type) {
        Some(known) if known == mapping => Ok(()),
        Some(_) => Err(DeclarationRefusal::MappingConflict { record_type: record_type.to_owned() }),
        None => {
            mappings.insert(record_type.to_owned(), mapping.clone());
            Ok(())
        }
    }
}

/// The refusal of a tool name nobody registered.
pub(super) fn unknown_tool<'a>(
    source: &str,
    tool: &str,
    registered: impl IntoIterator<Item = &'a str>,
) -> DeclarationRefusal {
    DeclarationRefusal::UnknownTool {
        source: source.to_owned(),
        tool: super::refusal::shown(tool),
        hint: closest(tool, registered),
    }
}
