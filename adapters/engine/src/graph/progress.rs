//! The progress document of a source, as the peer keeps it: `ingest-source/<connector>/<source>` (`wire/engine-protocol.md` 7.7).

use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{Json, JsonLimits, parse_with, to_compact};
use scion_domain::model::ProgressDocument;
use scion_domain::sink::StoreRefusal;
use scion_ports::KeyValueStore as _;

use super::NAMESPACE;
use crate::EngineKeyValues;

fn key(connector: &ConnectorName, source: &StreamName) -> String {
    format!("ingest-source/{connector}/{source}")
}

pub(super) async fn load(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    source: &StreamName,
) -> Result<Option<ProgressDocument>, StoreRefusal> {
    let Some(entry) = values.get(NAMESPACE, &key(connector, source)).await? else { return Ok(None) };
    let body = parse_with(&entry.value, JsonLimits::DEFAULT).map_err(|_| StoreRefusal::Corrupt)?;
    Ok(Some(ProgressDocument { version: entry.version, body }))
}

pub(super) async fn advance(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    source: &StreamName,
    expected: Option<u64>,
    body: &Json,
) -> Result<u64, StoreRefusal> {
    values.compare_and_swap(NAMESPACE, &key(connector, source), expected, to_compact(body).as_bytes()).await
}

pub(super) async fn reset(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    source: &StreamName,
    expected: u64,
) -> Result<(), StoreRefusal> {
    values.delete(NAMESPACE, &key(connector, source), expected).await
}
