//! Reading the parent of a fan-out (R004.28).

use std::sync::Arc;

use scion_domain::declaration::{ForEach, SyncPreset};
use scion_domain::json::{Json, JsonObject};
use scion_domain::pagination::fan::ParentValues;
use scion_domain::source::{PageRequest, SourceRefusal};
use scion_ports::SourceAdapter as _;

use super::McpToolSource;

/// Reads all distinct values of the parent, from its first page to its last.
pub(super) async fn parent_values(
    child: &SyncPreset,
    each: &ForEach,
    parent: &McpToolSource,
) -> Result<Arc<[Json]>, SourceRefusal> {
    let mut values = ParentValues::new(child, each);
    let mut position = Json::Object(JsonObject::new());
    let pages = parent.preset.max_pages;
    for _ in 0..pages {
        let page = parent.read_page(&PageRequest { position, watermark: None }).await?;
        values.add(&page.records)?;
        match page.next_position {
            Some(next) => position = next,
            None => return Ok(values.into_values().into()),
        }
    }
    let pages = usize::try_from(pages).unwrap_or(usize::MAX);
    Err(SourceRefusal::ParentBudget { parent: each.source.to_string(), pages })
}
