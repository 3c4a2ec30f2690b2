//! What the store knows of its streams.

use rusqlite::{Connection, OptionalExtension as _, params};
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::model::{StreamOverview, StreamStatus};

use crate::checkpoint_text;
use crate::failure::{Failure, Outcome};
use crate::receipt::receipt_id;

pub(crate) fn of_stream(
    connection: &Connection,
    connector: &ConnectorName,
    stream: &StreamName,
) -> Outcome<StreamStatus> {
    type Stored = (Option<String>, Option<[u8; 32]>, Option<[u8; 32]>, Option<u64>);
    let stored: Option<Stored> = connection
        .prepare_cached(
            "SELECT s.checkpoint, s.checkpoint_digest, s.last_batch, s.graph_version
             FROM stream s JOIN connector c ON c.id = s.connector WHERE c.name = ?1 AND s.name = ?2",
        )?
        .query_row([connector.as_str(), stream.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((checkpoint, digest, batch, version)) = stored else { return Ok(StreamStatus::default()) };
    let batch = batch.map(Digest256::from_bytes);
    Ok(StreamStatus {
        accepted_checkpoint: checkpoint.map(|text| checkpoint_text::read(stream, &text)).transpose()?,
        accepted_checkpoint_digest: digest.map(Digest256::from_bytes),
        last_batch_digest: batch,
        last_receipt_id: batch.as_ref().map(receipt_id),
        committed_graph_version: version,
    })
}

/// Every stream that ever committed, by connector and stream.
pub(crate) fn all(connection: &Connection) -> Outcome<Vec<StreamOverview>> {
    let mut list = connection.prepare_cached(
        "SELECT s.id, c.name, s.name, s.checkpoint, s.last_batch, s.last_commit_unix_ms, s.batches, s.live, s.withdrawn,
         s.edges FROM stream s JOIN connector c ON c.id = s.connector WHERE s.batches > 0 ORDER BY c.name, s.name",
    )?;
    let mut rows = list.query([])?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        let stream = StreamName::parse(&row.get::<_, String>(2)?).map_err(|_| Failure::corrupt())?;
        let batch: Option<[u8; 32]> = row.get(4)?;
        let edges: u64 = row.get(9)?;
        out.push(StreamOverview {
            connector: ConnectorName::parse(&row.get::<_, String>(1)?).map_err(|_| Failure::corrupt())?,
            checkpoint: row
                .get::<_, Option<String>>(3)?
                .map(|text| checkpoint_text::read(&stream, &text))
                .transpose()?,
            stream,
            last_receipt_id: batch.map(|batch| receipt_id(&Digest256::from_bytes(batch))),
            last_commit_unix_ms: row.get(5)?,
            batches: row.get(6)?,
            live_records: row.get(7)?,
            withdrawn_records: row.get(8)?,
            relationships: edges.saturating_sub(hidden_edges(connection, row.get(0)?)?),
        });
    }
    Ok(out)
}

/// Stored edges of a stream that do not show because an end is not live. Few records are not live, so they lead.
fn hidden_edges(connection: &Connection, stream: i64) -> Outcome<u64> {
    Ok(connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM record t INDEXED BY record_absent
                     CROSS JOIN edge e ON e.target = t.id CROSS JOIN record s ON s.id = e.source
                     WHERE t.state <> 1 AND s.stream = ?1)
                  + (SELECT count(*) FROM record s INDEXED BY record_absent
                     CROSS JOIN relation r CROSS JOIN edge e ON e.relation = r.id AND e.source = s.id
                     CROSS JOIN record t ON t.id = e.target
                     WHERE s.state <> 1 AND s.stream = ?1 AND t.state = 1)",
        )?
        .query_row(params![stream], |row| row.get(0))?)
}
