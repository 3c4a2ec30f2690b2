//! The declaration of `connector://resources`: sources, mappings, relations, data resources, sync presets
//! (`wire/mcp-surface.md` 1.3 and 1.4).

mod model;

pub use model::{
    ConnectorDeclaration, EdgeSpec, EvolutionPolicy, ForEach, PageKind, PaginationMode, ParamsStyle, PresetPagination,
    RecordMode, RelationSpec, ResourceSpec, SchemaMapping, SourceSpec, SyncPreset,
};
