//! The shapes, with the bounds of the wire. Reading, checking and writing live beside this file.

use std::collections::BTreeMap;

use crate::id::{ConnectorName, StreamName};
use crate::json::JsonObject;

/// The whole declaration of one connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorDeclaration {
    /// The connector.
    pub connector: ConnectorName,
    /// Its sources; `source_id` unique.
    pub sources: Vec<SourceSpec>,
    /// Record type to mapping.
    pub schema_mappings: BTreeMap<String, SchemaMapping>,
    /// Resource models with their relations.
    pub resources: Vec<ResourceSpec>,
    /// Data-resource descriptors, kept as served.
    pub descriptors: Vec<JsonObject>,
}

/// One ingestible source (R004.19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpec {
    /// `^[a-z0-9][a-z0-9._-]{0,63}$`.
    pub source_id: StreamName,
    /// 1 to 128 characters.
    pub record_type: String,
    /// Read-only tools, at least one; the first is called.
    pub tools: Vec<String>,
    /// The field that identifies a record.
    pub id_field: String,
    /// Dotted path to the list; empty means the result itself.
    pub records_path: String,
    /// The field with a title.
    pub title_field: Option<String>,
    /// The field with text.
    pub text_field: Option<String>,
    /// The field with a change time or number.
    pub cursor_field: Option<String>,
    /// Only changes since the accepted cursor are read; needs `cursor_field`.
    pub incremental: bool,
    /// Fixed arguments of every call.
    pub arguments: JsonObject,
    /// How pages are asked for.
    pub pagination: PaginationMode,
    /// The argument with the page number.
    pub page_param: Option<String>,
    /// The argument with the page size.
    pub page_size_param: Option<String>,
    /// 1 to 1000; 100 when silent.
    pub page_size: u32,
    /// The first page number; 1 when silent.
    pub start_page: u64,
    /// For people.
    pub description: String,
    /// The server, when it is not the connector.
    pub server: String,
    /// Opts the source into runner sync; kept as served.
    pub preset: Option<JsonObject>,
    /// Read once per record of a parent source (R004.28).
    pub for_each: Option<ForEach>,
    /// Edges to the records its reference fields name (R004.36).
    pub edges: Vec<EdgeSpec>,
    /// The names of the members the source set itself, in the served document; a preset copies only those (1.4).
    pub set_members: Vec<String>,
}

/// The pagination a source itself can declare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaginationMode {
    /// One call.
    #[default]
    None,
    /// By page number.
    Page,
}

/// A fan-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForEach {
    /// The parent source.
    pub source: StreamName,
    /// The argument that receives the value.
    pub argument: String,
    /// The parent field with the value; `id` when silent.
    pub field: String,
}

/// A declared edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeSpec {
    /// `^[A-Za-z][A-Za-z0-9_]{0,63}$`.
    pub relationship: String,
    /// Dotted path to the reference; a list on the way is read element by element.
    pub target_field: String,
    /// The record type of the target.
    pub target_type: String,
    /// Where an object reference keeps its id, for example `value`.
    pub target_id_key: Option<String>,
    /// Forms the target id; `{type}:{id}` when silent; must hold `{id}`.
    pub target_id_template: String,
    /// Stub property to reference member.
    pub target_fields: BTreeMap<String, String>,
    /// The source whose own record is meant, so that no stub is sent.
    pub target_stream: Option<StreamName>,
}

/// How a record type maps onto the ontology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaMapping {
    /// The class; its local name should do.
    pub ontology_class: Option<String>,
    /// Source field to property or `xsd:` check.
    pub fields: BTreeMap<String, String>,
}

/// A resource model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSpec {
    /// Its name.
    pub name: String,
    /// Its label.
    pub label: String,
    /// The prefix of its ids.
    pub id_prefix: String,
    /// Its relations.
    pub relations: Vec<RelationSpec>,
}

/// A relation of a resource model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationSpec {
    /// Its name.
    pub name: String,
    /// The resource it leads to.
    pub target: String,
    /// Its label.
    pub label: String,
    /// The relationship type in a property graph.
    pub lpg_rel_type: String,
}

/// A sync preset, with every default applied (1.4).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of the wire form or says whether one was declared")]
pub struct SyncPreset {
    /// The stream: the source's id.
    pub name: StreamName,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The action, when the tool is an action tool.
    pub action: String,
    /// The argument that receives the action.
    pub action_param: String,
    /// Parameters, dotted names expanded.
    pub params: JsonObject,
    /// Parameters as arguments or as JSON text.
    pub params_style: ParamsStyle,
    /// The argument that receives the JSON text.
    pub params_arg: String,
    /// Fixed arguments.
    pub arguments: JsonObject,
    /// Dotted path to the records.
    pub records_path: String,
    /// The records are a mapping from key to record.
    pub records_is_mapping: bool,
    /// The field that receives the mapping key.
    pub mapping_key_field: String,
    /// The id field.
    pub id_field: String,
    /// The title field.
    pub title_field: String,
    /// The text field.
    pub text_field: String,
    /// The change time field; empty for none.
    pub updated_field: String,
    /// The document type.
    pub doc_type: String,
    /// How pages are asked for.
    pub pagination: PresetPagination,
    /// The argument with the cursor.
    pub cursor_param: String,
    /// Where the next cursor is.
    pub cursor_path: String,
    /// The record field that is the next cursor.
    pub cursor_record_field: String,
    /// Where the "there is more" flag is.
    pub more_path: String,
    /// The argument with the page or offset.
    pub page_param: String,
    /// The argument with the page size.
    pub page_size_param: String,
    /// 1 to 10,000; 100 when silent.
    pub page_size: u32,
    /// The page size was declared and not assumed. Only a declared size that is not merely asked for (no
    /// `page_size_param`) says anything about the end of a sweep.
    pub page_size_declared: bool,
    /// Number or offset.
    pub page_kind: Option<PageKind>,
    /// The first page; 0 when silent.
    pub start_page: u64,
    /// The first page was declared and not assumed.
    pub start_page_declared: bool,
    /// The argument with the watermark.
    pub updated_since_param: String,
    /// The parameter that names the mode.
    pub mode_param: String,
    /// 1 to 100,000; 100 when silent. Bounds the parent sweep of a fan-out.
    pub max_pages: u32,
    /// Documents or typed entities.
    pub record_mode: RecordMode,
    /// The field with the record's type, for typed entities.
    pub node_type_field: String,
    /// Where the source hands out its own watermark.
    pub checkpoint_path: String,
    /// Where the source hands out a digest.
    pub content_hash_path: String,
    /// Where the edges are.
    pub relationships_path: String,
    /// The edge's source field.
    pub relationship_source_field: String,
    /// The edge's target field.
    pub relationship_target_field: String,
    /// The edge's type field.
    pub relationship_type_field: String,
    /// The edge's properties field; empty for none.
    pub relationship_properties_field: String,
    /// Where the live ids are.
    pub reconcile_path: String,
    /// Where the "this is everything" flag is.
    pub authoritative_path: String,
    /// Where the withdrawals are.
    pub withdrawals_path: String,
    /// The withdrawal's id field.
    pub withdrawal_id_field: String,
    /// The withdrawal's reason field.
    pub withdrawal_reason_field: String,
    /// Refuse undeclared fields.
    pub strict_schema: bool,
    /// Fields that are content.
    pub content_fields: Vec<String>,
    /// Fields that are metadata.
    pub metadata_fields: Vec<String>,
    /// What a new optional field means to the drift gate.
    pub evolution_policy: EvolutionPolicy,
    /// The fan-out.
    pub for_each: Option<ForEach>,
    /// The most parents of a fan-out; 200 when silent. Our addition: a peer keeps it as a mapping hint.
    pub max_fan_out: u32,
    /// Members not listed above, kept as mapping hints.
    pub hints: JsonObject,
}

/// How parameters travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParamsStyle {
    /// As one JSON text argument.
    #[default]
    Json,
    /// As arguments of their own.
    Args,
}

/// How a preset pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PresetPagination {
    /// One call.
    #[default]
    None,
    /// By an opaque cursor.
    Cursor,
    /// By page number.
    Page,
    /// By record offset.
    Offset,
}

/// What the page parameter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Pages.
    Number,
    /// Records.
    Offset,
}

/// What a record becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordMode {
    /// A document.
    #[default]
    Documents,
    /// An entity with its own type.
    TypedEntities,
}

/// The declared schema evolution policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvolutionPolicy {
    /// Every change needs a look.
    #[default]
    Review,
    /// New optional fields are compatible.
    OptionalFields,
}
