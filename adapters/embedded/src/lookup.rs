//! Content digests by record id: point reads in one read transaction.

use rusqlite::{Connection, OptionalExtension as _, params};
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};

use crate::failure::Outcome;

pub(crate) fn digests(
    connection: &Connection,
    connector: &ConnectorName,
    stream: &StreamName,
    ids: &[RecordId],
) -> Outcome<Vec<Option<Digest256>>> {
    let stream: Option<i64> = connection
        .prepare_cached(
            "SELECT s.id FROM stream s JOIN connector c ON c.id = s.connector WHERE c.name = ?1 AND s.name = ?2",
        )?
        .query_row([connector.as_str(), stream.as_str()], |row| row.get(0))
        .optional()?;
    let Some(stream) = stream else { return Ok(vec![None; ids.len()]) };
    let mut find =
        connection.prepare_cached("SELECT digests FROM record WHERE stream = ?1 AND record_id = ?2 AND state = 1")?;
    ids.iter()
        .map(|id| {
            let stored = find.query_row(params![stream, id.as_str()], |row| row.get::<_, [u8; 64]>(0)).optional()?;
            Ok(stored.map(|both| {
                let mut content = [0; 32];
                content.copy_from_slice(&both[..32]);
                Digest256::from_bytes(content)
            }))
        })
        .collect()
}
