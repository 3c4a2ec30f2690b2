//! Progress documents: JSON in the key-value table, under the key a Python peer uses for the same thing
//! (`wire/engine-protocol.md` 7.7).

use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{Json, JsonLimits, parse_with, to_compact};
use scion_domain::model::ProgressDocument;
use scion_domain::sink::StoreRefusal;
use scion_ports::KeyValueEntry;

/// The namespace.
pub(crate) const NAMESPACE: &str = "agent-connector-sdk";

/// The largest document: its drift gate part holds a whole tool schema.
const MAX_BYTES: usize = 16 << 20;

const LIMITS: JsonLimits = JsonLimits { max_bytes: MAX_BYTES, max_depth: 128, max_number_chars: MAX_BYTES };

/// `ingest-source/<connector>/<source>`; a connector name has no slash, so no two sources share a key.
pub(crate) fn key(connector: &ConnectorName, source: &StreamName) -> String {
    format!("ingest-source/{connector}/{source}")
}

pub(crate) fn write(body: &Json) -> Result<Vec<u8>, StoreRefusal> {
    let text = to_compact(body);
    if text.len() > MAX_BYTES {
        return Err(StoreRefusal::BadKey { what: "a progress document has more than 16 MiB" });
    }
    Ok(text.into_bytes())
}

pub(crate) fn read(entry: &KeyValueEntry) -> Result<ProgressDocument, StoreRefusal> {
    let body = parse_with(&entry.value, LIMITS).map_err(|_| StoreRefusal::Corrupt)?;
    Ok(ProgressDocument { version: entry.version, body })
}
