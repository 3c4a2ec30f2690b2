//! The declaration of `connector://resources`: sources, mappings, relations, data resources, sync presets
//! (`wire/mcp-surface.md` 1.3 and 1.4).

mod model;

pub use model::{
    ConnectorDeclaration, EdgeSpec, ForEach, PageKind, PaginationMode, ParamsStyle, PresetPagination, RecordMode,
    EvolutionPolicy, RelationSpec, ResourceSpec, SchemaMapping, SourceSpec, SyncPreset,
};
