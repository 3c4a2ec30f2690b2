//! Content packs: what a connector publishes, as entries with annotations, an archive of exact bytes and digests that a store
//! recomputes (`wire/engine-protocol.md` 6, `wire/mcp-surface.md` 4).
//!
//! [`crate::model::PackImport`] is the pack as it travels through [`Sink`](../../scion_ports/trait.Sink.html); this module holds
//! the facts about entries and the forms a store needs of them.

mod annotation_json;
mod annotations;
mod archive;
mod catalog;
mod compatibility;
mod diff;
mod digests;
mod facts;
mod file;
mod index;
mod kind;
mod readable;
mod refusal;
mod tool_entry;
mod validate;

#[cfg(test)]
mod tests;

pub use annotation_json::ANNOTATIONS_KEY;
pub use annotations::{MeasuredFact, ModelFacts, PackAnnotations, PackCost, PackLatency, ToolMode};
pub use archive::{
    ArchivedEntry, MAX_ARCHIVE_BYTES, MAX_ENTRIES, MAX_LIST, MAX_NAME_BYTES, PackArchive, Section, import_key,
    server_entry, server_uri,
};
pub use catalog::CatalogBinding;
pub use compatibility::{Break, Compatibility, CompatibilityReceipt, CompatibilityRefusal, admit, decide};
pub use diff::{EntryChange, Fate, Impact, PackDiff};
pub use digests::{annotations_digest, catalog_digest, references_digest};
pub use facts::{BYTES_PER_TOKEN, DeclaredBy, SideEffect, ToolContractFacts, ToolFactsRefusal, schema_tokens};
pub use file::{MAX_PACK_FILE_BYTES, PackFile, ReleaseMark};
pub use index::{ArchiveRef, INDEX_VERSION, PackIndex, PackProducer};
pub use kind::EntryKind;
pub use readable::{
    DEFAULT_READABLE_CHARS, FittedTerms, ReadableForm, ReadableRenderer, ReadableScore, render_readable,
    render_readable_with,
};
pub use refusal::PackRefusal;
pub use tool_entry::{tool_entry, tool_schema};
pub use validate::{resource_kind, skill_header, skill_of, validate};
