//! What is remembered of a stream beside the engine's own status, in its key-value store: which batch is under way, and how many there
//! were.

use scion_domain::digest::sha256;
use scion_domain::id::{ConnectorName, Digest256, RecordId, StreamName};
use scion_domain::json::{Json, JsonLimits, JsonNumber, parse_with, to_compact};
use scion_domain::model::{IngestMode, SourceBatch, StreamOverview};
use scion_domain::sink::StoreRefusal;
use scion_ports::{KeyValueEntry, KeyValueStore as _};

use super::sparql::BASE;
use super::{Inner, NAMESPACE};
use crate::body::hex;
use crate::{Body, EngineKeyValues, Value};

const PREFIX: &str = "stream/";
/// Notes of one page: the longest has half a mebibyte.
const PAGE: usize = 64;
const LIMITS: JsonLimits = JsonLimits { max_bytes: 1 << 20, max_depth: 8, max_number_chars: 32 };
/// Bytes that tell the records of a live set apart.
const SHORT: usize = 16;

/// What is known of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamNote {
    connector: ConnectorName,
    stream: StreamName,
    /// The version of the note; `None` when it is not written yet.
    pub(super) version: Option<u64>,
    /// The trie of digests in use. Forgetting all is taking the next one.
    pub(super) generation: u64,
    /// Batches accepted so far.
    pub(super) batches: u64,
    /// When the last one was, in milliseconds since the Unix epoch.
    pub(super) last_commit: Option<i64>,
    /// The batch that was sent and whose digests are not noted yet.
    pub(super) pending: Option<Pending>,
}

/// A batch under way. Until its digests are noted, what it touches counts as unknown: whatever becomes of it, no change is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) batch: Digest256,
    /// Digest of the checkpoint it moves from.
    pub(super) from: Option<Digest256>,
    /// Hashes of the ids it carries or withdraws, sorted.
    pub(super) touched: Vec<[u8; 32]>,
    /// In a reconciliation, what stands for all that stay, sorted; whatever else there is goes.
    pub(super) live: Option<Vec<[u8; SHORT]>>,
}

/// What stands for a record.
pub(super) fn record_key(id: &RecordId) -> Digest256 {
    sha256(id.as_str().as_bytes())
}

fn short(key: &[u8; 32]) -> [u8; SHORT] {
    let mut short = [0; SHORT];
    short.copy_from_slice(&key[..SHORT]);
    short
}

impl Pending {
    pub(super) fn of(batch: &SourceBatch, digest: Digest256) -> Self {
        let records = batch.records.iter().map(|record| &record.entity.record_id);
        let gone = batch.withdrawals.iter().map(|gone| &gone.entity.record_id);
        let mut touched: Vec<[u8; 32]> = records.chain(gone).map(|id| *record_key(id).as_bytes()).collect();
        touched.sort_unstable();
        let live = batch.authoritative_live_ids.as_ref().filter(|_| batch.mode == IngestMode::Reconcile);
        let live = live.map(|live| {
            let mut live: Vec<_> = live.iter().map(|one| short(record_key(&one.record_id).as_bytes())).collect();
            live.sort_unstable();
            live
        });
        let from = batch.expected_previous_checkpoint.as_ref().map(scion_domain::digest::checkpoint);
        Self { batch: digest, from, touched, live }
    }

    /// Whether the batch may have changed this record.
    pub(super) fn touches(&self, key: &Digest256) -> bool {
        self.touched.binary_search(key.as_bytes()).is_ok()
            || self.live.as_ref().is_some_and(|live| live.binary_search(&short(key.as_bytes())).is_err())
    }

    fn to_json(&self) -> Json {
        let touched: String = self.touched.iter().map(|key| hex(key)).collect();
        let live = self.live.as_ref().map(|live| live.iter().map(|key| hex(key)).collect::<String>());
        Json::from([
            ("batch", self.batch.to_hex().into()),
            ("from", Json::from(self.from.map(Digest256::to_hex))),
            ("touched", touched.into()),
            ("live", Json::from(live)),
        ])
    }

    fn from_json(value: &Json) -> Option<Self> {
        let digest = |value: &Json| Digest256::parse_hex(value.as_str()?).ok();
        Some(Self {
            batch: digest(value.get("batch")?)?,
            from: match value.get("from")? {
                Json::Null => None,
                from => Some(digest(from)?),
            },
            touched: unhex(value.get("touched")?.as_str()?)?,
            live: match value.get("live")? {
                Json::Null => None,
                live => Some(unhex(live.as_str()?)?),
            },
        })
    }
}

impl StreamNote {
    /// What stands for a stream in keys: its name may be as long as a key.
    pub(super) fn id(connector: &ConnectorName, stream: &StreamName) -> String {
        sha256(format!("{connector}/{stream}").as_bytes()).to_hex()
    }

    fn key(&self) -> String {
        format!("{PREFIX}{}", Self::id(&self.connector, &self.stream))
    }

    fn new(connector: &ConnectorName, stream: &StreamName) -> Self {
        Self {
            connector: connector.clone(),
            stream: stream.clone(),
            version: None,
            generation: 0,
            batches: 0,
            last_commit: None,
            pending: None,
        }
    }

    /// Reads the note of a stream, or makes an empty one.
    pub(super) async fn load(
        values: &EngineKeyValues,
        connector: &ConnectorName,
        stream: &StreamName,
    ) -> Result<Self, StoreRefusal> {
        let empty = Self::new(connector, stream);
        match values.get(NAMESPACE, &empty.key()).await? {
            None => Ok(empty),
            Some(entry) => Self::read(&entry).ok_or(StoreRefusal::Corrupt),
        }
    }

    /// Writes the note over the version it was read at.
    pub(super) async fn save(&self, values: &EngineKeyValues) -> Result<(), StoreRefusal> {
        let members = [
            ("connector", self.connector.as_str().into()),
            ("stream", self.stream.as_str().into()),
            ("generation", Json::from(self.generation)),
            ("batches", Json::from(self.batches)),
            ("last_commit", self.last_commit.map_or(Json::Null, Json::from)),
            ("pending", self.pending.as_ref().map_or(Json::Null, Pending::to_json)),
        ];
        let text = to_compact(&Json::from(members));
        values.compare_and_swap(NAMESPACE, &self.key(), self.version, text.as_bytes()).await.map(|_| ())
    }

    fn read(entry: &KeyValueEntry) -> Option<Self> {
        let value = parse_with(&entry.value, LIMITS).ok()?;
        let number = |name| value.get(name)?.as_number().and_then(JsonNumber::as_u64);
        Some(Self {
            connector: ConnectorName::parse(value.get("connector")?.as_str()?).ok()?,
            stream: StreamName::parse(value.get("stream")?.as_str()?).ok()?,
            version: Some(entry.version),
            generation: number("generation")?,
            batches: number("batches")?,
            last_commit: value.get("last_commit").and_then(Json::as_number).and_then(JsonNumber::as_i64),
            pending: match value.get("pending")? {
                Json::Null => None,
                pending => Some(Pending::from_json(pending)?),
            },
        })
    }
}

/// Runs of `N` bytes out of hexadecimal digits.
fn unhex<const N: usize>(text: &str) -> Option<Vec<[u8; N]>> {
    let digits = text.as_bytes().chunks_exact(N * 2);
    if !digits.remainder().is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let run = |run: &[u8]| {
        let mut bytes = [0; N];
        for (byte, pair) in bytes.iter_mut().zip(run.chunks_exact(2)) {
            *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
        }
        Some(bytes)
    };
    digits.map(run).collect()
}

impl Inner {
    /// Every stream this SDK has sent an accepted batch of, ordered by connector, then stream.
    pub(super) async fn streams(&self) -> Result<Vec<StreamOverview>, StoreRefusal> {
        let mut notes = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.values.scan(NAMESPACE, PREFIX, after.as_deref(), PAGE).await?;
            let full = page.len() == PAGE;
            for (key, entry) in page {
                notes.push(StreamNote::read(&entry).ok_or(StoreRefusal::Corrupt)?);
                after = Some(key);
            }
            if !full {
                break;
            }
        }
        notes.sort_by(|a, b| (&a.connector, &a.stream).cmp(&(&b.connector, &b.stream)));
        let mut streams = Vec::with_capacity(notes.len());
        for note in notes {
            let status = self.stream_status(&note.connector, &note.stream).await;
            let status = status.map_err(|_| StoreRefusal::Unavailable { what: "a stream's status cannot be read" })?;
            if status.last_batch_digest.is_none() {
                continue;
            }
            let (live, withdrawn, relationships) = self.counts(&note.connector, &note.stream).await?;
            // A batch whose digests are not noted yet is committed all the same.
            let under_way = note.pending.is_some_and(|pending| status.last_batch_digest == Some(pending.batch));
            streams.push(StreamOverview {
                connector: note.connector,
                stream: note.stream,
                checkpoint: status.accepted_checkpoint,
                last_receipt_id: status.last_receipt_id,
                last_commit_unix_ms: note.last_commit,
                batches: note.batches + u64::from(under_way),
                live_records: live,
                withdrawn_records: withdrawn,
                relationships,
            });
        }
        Ok(streams)
    }

    /// Live and withdrawn records of a stream, and edges that begin at one.
    async fn counts(&self, connector: &ConnectorName, stream: &StreamName) -> Result<(u64, u64, u64), StoreRefusal> {
        // Neither name can hold a quote or a backslash.
        let of = format!(
            "?s <{BASE}source_stream> \"{stream}\" ; <{BASE}source_mapping_reference> ?m . \
             FILTER(STRSTARTS(?m, \"connector:{connector}#\"))"
        );
        let count = async |more: String| {
            let params = [
                ("query", format!("SELECT (COUNT(?s) AS ?n) WHERE {{ {of} {more} }}").into()),
                ("base_iri", BASE.into()),
                ("type_convention", "raw".into()),
                ("explain", false.into()),
            ];
            let answer = self.read(Body::with("Sparql", params)).await;
            let answer = answer.map_err(|refusal| super::refused::store(&refusal))?;
            let rows = answer.get("rows").and_then(Value::as_list).ok_or(StoreRefusal::Corrupt)?;
            // The engine gives no row where it counts nothing.
            let Some(row) = rows.first() else { return Ok(0) };
            let cell = row.as_list().and_then(|cells| cells.first()?.as_text());
            cell.and_then(|cell| cell.parse::<u64>().ok()).ok_or(StoreRefusal::Corrupt)
        };
        let all = count(String::new()).await?;
        let withdrawn = count(format!("?s <{BASE}source_tombstoned> ?w .")).await?;
        let relationships = count(format!("?s ?p ?o . ?o <{BASE}source_record_id> ?i .")).await?;
        Ok((all.saturating_sub(withdrawn), withdrawn, relationships))
    }
}
