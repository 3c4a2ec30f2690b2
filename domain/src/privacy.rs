//! What must not be persisted (`wire/mcp-surface.md` 6.3, records; SDK-SOURCE-INGEST-R004.26).
//!
//! The guard is the last step before a record is committed: fields that hold secrets, places or persons lose their value,
//! and texts lose what looks like an identifier of a person, a credential or a path of a machine.

mod fields;
mod guard;
mod patterns;
mod pii;
mod public_url;
mod report;
mod summary;

pub use fields::{field_name, is_location_field};
pub use guard::{GuardRefusal, PersistencePrivacyGuard};
pub use pii::{PiiRefusal, PiiSanitizer};
pub use public_url::{is_public_address, public_http_url};
pub use report::GuardReport;
