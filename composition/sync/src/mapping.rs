//! Records of a vendor become entities, relationships and documents (R004.30).
//!
//! A connector declares each record kind as data with [`RecordMap`] and [`EdgeMap`], or writes a function that fills
//! [`Mapped`]. Nothing here does input or output.

mod edge_map;
mod from_record;
mod mapped;
mod read;
mod record_map;
mod template;

pub use edge_map::EdgeMap;
pub use from_record::{document_from_record, entity_from_record, relationship_from_record};
pub use mapped::Mapped;
pub use read::{FromField, ext_id, read_field, records_of, slug};
pub use record_map::RecordMap;
pub use template::IdTemplate;

pub(crate) use read::{id_text, is_blank};

use scion_domain::ingest::IngestRefusal;
use scion_domain::json::JsonObject;

/// Turns one record of a kind into what it means. A [`RecordMap`] and any `Fn(&JsonObject, &mut Mapped)` are mappers.
pub trait RecordMapper: Send + Sync {
    /// Adds what the record means. A record that means nothing is counted with [`Mapped::skip`].
    fn map(&self, record: &JsonObject, mapped: &mut Mapped) -> Result<(), IngestRefusal>;
}

impl<F> RecordMapper for F
where
    F: Fn(&JsonObject, &mut Mapped) -> Result<(), IngestRefusal> + Send + Sync,
{
    fn map(&self, record: &JsonObject, mapped: &mut Mapped) -> Result<(), IngestRefusal> {
        self(record, mapped)
    }
}
