//! The declaration of `connector://resources`: sources, mappings, relations, data resources, sync presets
//! (`wire/mcp-surface.md` 1.3 and 1.4).
//!
//! A server *writes* it: from the metas of its tools ([`live`]) and from authored data ([`field_sets`]). A runner *reads*
//! it, turns sources into presets and selects what to sync ([`selection`]).

mod check;
mod contract;
pub mod descriptor;
pub mod field_sets;
mod identity;
pub mod live;
mod mapping;
mod members;
mod model;
pub mod plan;
mod preset;
mod read;
mod read_source;
pub(crate) mod refusal;
mod schema;
pub mod selection;
mod source_meta;
mod words;
mod write;

pub use field_sets::{AuthoredSources, FieldSets};
pub use identity::ConnectorIdentity;
pub use mapping::MappingChoice;
pub use model::{
    ConnectorDeclaration, EdgeSpec, EvolutionPolicy, ForEach, PageKind, PaginationMode, ParamsStyle, PresetPagination,
    RecordMode, RelationSpec, ResourceSpec, SchemaMapping, SourceSpec, SyncPreset,
};
pub use preset::MAX_FAN_OUT;
pub use read::MAX_DECLARATION_BYTES;
pub use refusal::DeclarationRefusal;
pub use source_meta::{DeclaredSource, SOURCE_META_KEY, source_meta, sources_of_meta};
pub use write::{DECLARATION_MEDIA_TYPE, DECLARATION_URI};
