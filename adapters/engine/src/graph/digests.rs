//! The digest of each accepted record, in the engine's key-value store: a trie of small leaves, so that the cost follows the records
//! that are named and not the stream.
//!
//! The engine says what a batch withdrew in its receipt only. Before a batch that withdraws is sent, the stream is therefore marked;
//! the mark goes when the receipt has been taken in. A mark that is found means a receipt was lost: every digest of the stream is
//! forgotten, and its records are submitted once more (O3).

use scion_domain::digest::sha256;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::json::{Json, JsonLimits, parse_with, to_compact};
use scion_domain::model::SourceReceipt;
use scion_domain::sink::StoreRefusal;
use scion_ports::KeyValueStore as _;

use super::NAMESPACE;
use super::trie::{Change, Trie};
use crate::EngineKeyValues;

/// The state of a stream's digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    /// The version of its document; `None` when there is none.
    version: Option<u64>,
    /// The trie in use. Forgetting is taking the next one.
    generation: u64,
    /// A batch that withdraws is under way, or its receipt was lost.
    marked: bool,
}

fn state_key(connector: &ConnectorName, stream: &StreamName) -> String {
    format!("digests/{connector}/{stream}")
}

fn trie(connector: &ConnectorName, stream: &StreamName, state: State) -> Trie {
    // Stream names may be long and may hold any character of an id; a digest keeps keys short and apart.
    let of = sha256(format!("{connector}/{stream}").as_bytes()).to_hex();
    Trie::new(format!("digest/{of}/{}", state.generation))
}

async fn read(values: &EngineKeyValues, connector: &ConnectorName, stream: &StreamName) -> Result<State, StoreRefusal> {
    let Some(entry) = values.get(NAMESPACE, &state_key(connector, stream)).await? else { return Ok(State::default()) };
    let body = parse_with(&entry.value, JsonLimits::DEFAULT).map_err(|_| StoreRefusal::Corrupt)?;
    let generation = match body.get("generation") {
        Some(Json::Number(number)) => number.as_text().parse().ok(),
        _ => None,
    };
    Ok(State {
        version: Some(entry.version),
        generation: generation.ok_or(StoreRefusal::Corrupt)?,
        marked: body.get("marked") == Some(&Json::Bool(true)),
    })
}

async fn write(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    stream: &StreamName,
    state: State,
) -> Result<State, StoreRefusal> {
    let body = Json::from([("generation", Json::from(state.generation)), ("marked", state.marked.into())]);
    let key = state_key(connector, stream);
    let version = values.compare_and_swap(NAMESPACE, &key, state.version, to_compact(&body).as_bytes()).await?;
    Ok(State { version: Some(version), ..state })
}

/// Marks a stream before a batch that withdraws. A mark that is there already forgets what it stands for.
pub(super) async fn expect_withdrawals(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    stream: &StreamName,
) -> Result<(), StoreRefusal> {
    let state = read(values, connector, stream).await?;
    if state.marked {
        // The same batch is offered again, or another after a lost receipt; either way the mark stays.
        return Ok(());
    }
    write(values, connector, stream, State { marked: true, ..state }).await.map(|_| ())
}

pub(super) async fn lookup(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    stream: &StreamName,
    ids: &[RecordId],
) -> Result<Vec<Option<Digest256>>, StoreRefusal> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let state = read(values, connector, stream).await?;
    if state.marked {
        // Digests of records that may be withdrawn by now must not hide that they are back.
        let next = State { generation: state.generation + 1, marked: false, ..state };
        write(values, connector, stream, next).await?;
        return Ok(vec![None; ids.len()]);
    }
    let keys: Vec<Digest256> = ids.iter().map(|id| sha256(id.as_str().as_bytes())).collect();
    trie(connector, stream, state).get(values, &keys).await
}

pub(super) async fn accepted(
    values: &EngineKeyValues,
    connector: &ConnectorName,
    stream: &StreamName,
    digests: &[(RecordId, Digest256)],
    receipt: &SourceReceipt,
) -> Result<(), StoreRefusal> {
    let mut state = read(values, connector, stream).await?;
    // A receipt that was worked out from the stream's status does not know what was withdrawn.
    let complete = receipt.receipt_digest != Digest256::ZERO;
    if state.marked && !complete {
        state.generation += 1;
    }
    let noted =
        digests.iter().map(|(id, digest)| Change { key: sha256(id.as_str().as_bytes()), digest: Some(*digest) });
    let gone = receipt
        .tombstones
        .iter()
        .filter(|gone| gone.entity.stream == *stream)
        .map(|gone| Change { key: sha256(gone.entity.record_id.as_str().as_bytes()), digest: None });
    trie(connector, stream, state).apply(values, gone.chain(noted).collect()).await?;
    if state.marked || state.version.is_none() {
        write(values, connector, stream, State { marked: false, ..state }).await?;
    }
    Ok(())
}
