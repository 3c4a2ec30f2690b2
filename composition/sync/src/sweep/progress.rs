//! The progress document of a source (R004.21): what the runner must remember beside the accepted checkpoint.

use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::json::{Json, to_compact};
use scion_domain::model::{IngestMode, StreamHold};
use scion_domain::source::SourceContract;
use scion_domain::sync::SyncRefusal;
use scion_ports::CheckpointStore;

const SCHEMA_VERSION: u64 = 1;

/// The document, with the version to name in the next compare-and-swap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// `None` while nothing is stored.
    pub version: Option<u64>,
    /// Batches accepted so far.
    pub sequence: u64,
    /// The tool contract batches were accepted under.
    pub accepted_contract: Option<SourceContract>,
    /// Why the stream does not move.
    pub hold: Option<StreamHold>,
    /// The contract a held stream waits with; a release accepts it.
    pub held_contract: Option<SourceContract>,
    /// The quarantine a repair was proposed for.
    pub quarantine: Option<StreamHold>,
    /// The last receipt.
    pub last_receipt: Option<String>,
    /// How the last cycle ended.
    pub last_state: Option<String>,
    /// The mode of the last sweep.
    pub mode: Option<IngestMode>,
    /// The shape under which the last complete full sweep was read.
    pub shape: Option<Digest256>,
    /// The shape under which the very first sweep was begun, until it is complete.
    pub first_shape: Option<Digest256>,
    /// Digest of the last live set that was reconciled and of the checkpoint it was accepted at.
    pub live_set: Option<Digest256>,
}

impl Progress {
    /// Reads the document of a source; a source never seen has an empty one.
    pub async fn load(
        store: &dyn CheckpointStore,
        connector: &ConnectorName,
        stream: &StreamName,
    ) -> Result<Self, SyncRefusal> {
        let Some(document) = store.load(connector, stream).await? else { return Ok(Self::default()) };
        let mut progress =
            Self::read(&document.body).ok_or_else(|| SyncRefusal::ProgressUnreadable { stream: stream.to_string() })?;
        progress.version = Some(document.version);
        Ok(progress)
    }

    /// Writes the document over the version it was read as.
    pub async fn save(
        &mut self,
        store: &dyn CheckpointStore,
        connector: &ConnectorName,
        stream: &StreamName,
    ) -> Result<(), SyncRefusal> {
        let version = store.advance(connector, stream, self.version, &self.write()).await?;
        self.version = Some(version);
        Ok(())
    }

    /// The document as JSON.
    pub fn write(&self) -> Json {
        let digest = |value: Option<Digest256>| Json::from(value.map(Digest256::to_hex));
        Json::from([
            ("schema_version", Json::from(SCHEMA_VERSION)),
            ("sequence", Json::from(self.sequence)),
            ("accepted_contract", Json::from(self.accepted_contract.as_ref().map(write_contract))),
            ("hold", Json::from(self.hold.as_ref().map(write_hold))),
            ("held_contract", Json::from(self.held_contract.as_ref().map(write_contract))),
            ("quarantine", Json::from(self.quarantine.as_ref().map(write_hold))),
            ("last_receipt", Json::from(self.last_receipt.clone())),
            ("last_state", Json::from(self.last_state.clone())),
            ("mode", Json::from(self.mode.map(IngestMode::as_str))),
            ("shape", digest(self.shape)),
            ("first_shape", digest(self.first_shape)),
            ("live_set", digest(self.live_set)),
        ])
    }

    /// Reads a document; `None` when it is not one of this release.
    pub fn read(body: &Json) -> Option<Self> {
        let member = |name: &str| body.get(name).filter(|value| !value.is_null());
        let number = |name: &str| member(name)?.as_number()?.as_u64();
        let text = |name: &str| member(name).and_then(Json::as_str).map(str::to_owned);
        if number("schema_version") != Some(SCHEMA_VERSION) {
            return None;
        }
        let contract = |name: &str| member(name).map_or(Some(None), |value| read_contract(value).map(Some));
        let hold = |name: &str| member(name).map_or(Some(None), |value| read_hold(value).map(Some));
        let digest =
            |name: &str| member(name).map_or(Some(None), |value| Digest256::parse_hex(value.as_str()?).ok().map(Some));
        Some(Self {
            version: None,
            sequence: number("sequence")?,
            accepted_contract: contract("accepted_contract")?,
            hold: hold("hold")?,
            held_contract: contract("held_contract")?,
            quarantine: hold("quarantine")?,
            last_receipt: text("last_receipt"),
            last_state: text("last_state"),
            mode: match text("mode").as_deref() {
                None => None,
                Some("full") => Some(IngestMode::Full),
                Some("delta") => Some(IngestMode::Delta),
                Some("reconcile") => Some(IngestMode::Reconcile),
                Some(_) => return None,
            },
            shape: digest("shape")?,
            first_shape: digest("first_shape")?,
            live_set: digest("live_set")?,
        })
    }
}

fn contract_digest(schema: &Json, identifier_fields: &[String]) -> Digest256 {
    digest::framed(
        "scion/accepted-contract/v1",
        &[to_compact(schema).as_bytes(), identifier_fields.join("\0").as_bytes()],
    )
}

fn write_contract(contract: &SourceContract) -> Json {
    let fields = &contract.identifier_fields;
    Json::from([
        ("schema", contract.schema.clone()),
        ("identifier_fields", texts(fields)),
        ("fingerprint", Json::from(contract.fingerprint.to_hex())),
        ("digest", Json::from(contract_digest(&contract.schema, fields).to_hex())),
    ])
}

fn read_contract(value: &Json) -> Option<SourceContract> {
    let schema = value.get("schema")?.clone();
    let identifier_fields = read_texts(value.get("identifier_fields")?)?;
    let fingerprint = Digest256::parse_hex(value.get("fingerprint")?.as_str()?).ok()?;
    let stored = Digest256::parse_hex(value.get("digest")?.as_str()?).ok()?;
    (stored == contract_digest(&schema, &identifier_fields)).then_some(SourceContract {
        schema,
        identifier_fields,
        fingerprint,
    })
}

/// A hold in its serialised form, as the progress document and `scion status` show it.
pub fn write_hold(hold: &StreamHold) -> Json {
    match hold {
        StreamHold::Quarantined { classification, reason_codes, affected_fields } => Json::from([
            ("state", Json::from("quarantined")),
            ("classification", Json::from(classification.as_str())),
            ("reason_codes", texts(reason_codes)),
            ("affected_fields", texts(affected_fields)),
        ]),
        StreamHold::RepairPending { proposal_digest } => Json::from([
            ("state", Json::from("repair_pending")),
            ("proposal_digest", Json::from(proposal_digest.as_str())),
        ]),
    }
}

fn read_hold(value: &Json) -> Option<StreamHold> {
    let text = |name: &str| value.get(name).and_then(Json::as_str).map(str::to_owned);
    match value.get("state")?.as_str()? {
        "quarantined" => Some(StreamHold::Quarantined {
            classification: text("classification")?,
            reason_codes: read_texts(value.get("reason_codes")?)?,
            affected_fields: read_texts(value.get("affected_fields")?)?,
        }),
        "repair_pending" => Some(StreamHold::RepairPending { proposal_digest: text("proposal_digest")? }),
        _ => None,
    }
}

fn texts(items: &[String]) -> Json {
    Json::Array(items.iter().map(|item| Json::from(item.as_str())).collect())
}

fn read_texts(value: &Json) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use scion_domain::json::JsonObject;

    use super::*;

    #[test]
    fn a_document_reads_what_it_writes() {
        let contract = SourceContract {
            schema: Json::Object(JsonObject::new()),
            identifier_fields: vec!["id".into()],
            fingerprint: Digest256::from_bytes([7; 32]),
        };
        let progress = Progress {
            version: None,
            sequence: 3,
            accepted_contract: Some(contract.clone()),
            hold: Some(StreamHold::RepairPending { proposal_digest: "p".into() }),
            held_contract: Some(contract),
            quarantine: Some(StreamHold::Quarantined {
                classification: "BREAKING".into(),
                reason_codes: vec!["TYPE_CHANGED".into()],
                affected_fields: vec!["/a".into()],
            }),
            last_receipt: Some("r".into()),
            last_state: Some("complete".into()),
            mode: Some(IngestMode::Delta),
            shape: Some(Digest256::from_bytes([1; 32])),
            first_shape: Some(Digest256::from_bytes([2; 32])),
            live_set: Some(Digest256::ZERO),
        };
        assert_eq!(Progress::read(&progress.write()), Some(progress));
        assert_eq!(Progress::read(&Progress::default().write()), Some(Progress::default()));
    }

    #[test]
    fn a_document_of_another_release_or_a_changed_contract_is_not_read() {
        assert_eq!(Progress::read(&Json::Null), None);
        assert_eq!(Progress::read(&Json::from([("schema_version", Json::from(2u64))])), None);
        let contract = SourceContract { schema: Json::Null, identifier_fields: vec![], fingerprint: Digest256::ZERO };
        let progress = Progress { accepted_contract: Some(contract), ..Progress::default() };
        let text = to_compact(&progress.write()).replace("\"schema\":null", "\"schema\":true");
        assert_eq!(Progress::read(&scion_domain::json::parse(&text).unwrap()), None);
    }
}
