//! Content packs: what a connector publishes, as entries with annotations, an archive of exact bytes and digests that a store
//! recomputes (`wire/engine-protocol.md` 6, `wire/mcp-surface.md` 4).
//!
//! [`crate::model::PackImport`] is the pack as it travels through [`Sink`](../../scion_ports/trait.Sink.html); this module holds
//! the facts about entries and the forms a store needs of them.

mod annotations;
mod catalog;

pub use annotations::{MeasuredFact, ModelFacts, PackAnnotations, PackCost, PackLatency, ToolMode};
pub use catalog::CatalogBinding;

mod refusal;

pub use refusal::PackRefusal;
