//! Committing batches (`wire/engine-protocol.md` 7).

use std::collections::BTreeMap;

use scion_domain::digest::{self, NumberForm};
use scion_domain::engine::EngineRefusal;
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::json::Json;
use scion_domain::model::{BatchRefusal, SourceBatch, SourceCheckpoint, SourceReceipt, StreamStatus};
use scion_domain::sink::SinkRefusal;

use super::accepted::Accepted;
use super::{CAPABILITIES, Inner, receipt, refused};
use crate::client::{Call, Repeats};
use crate::{Body, Value};

/// Record fields that strict schema does not ask the mapping for.
const EXEMPT: [&str; 3] = ["id", "node_type", "externalToolId"];
const INGEST: &str = "SourceIngest";
const STATUS: &str = "SourceIngestStatus";

impl Inner {
    pub(super) async fn commit(&self, batch: &SourceBatch) -> Result<SourceReceipt, SinkRefusal> {
        batch.check(false).map_err(|refusal| match refusal {
            BatchRefusal::ScopeMismatch { what: "a relationship" } => {
                SinkRefusal::Capability { what: "relations between streams" }
            }
            refusal => refusal.into(),
        })?;
        bounds(batch)?;
        let contract = self.contract(&batch.connector).await?;
        admit(batch, &contract)?;
        let numbers = |_| SinkRefusal::Capability { what: "numbers beyond 64 bits" };
        let digests = digest::batch_with(batch, NumberForm::EngineOnly).map_err(numbers)?;
        let request = digest::encode_batch(batch, NumberForm::EngineOnly).map_err(numbers)?;
        let key = format!("source-ingest:{}:{}", batch.connector, digests.batch.to_hex());
        let _one = self.writing.lock().await;
        self.begin(batch, &digests).await?;
        let body = Body::with(INGEST, [("request", Value::Encoded(request))]);
        let call = Call { graph: &self.graph, body, idempotency_key: Some(&key), repeats: Repeats::Never };
        match self.client.call(call).await {
            Ok(answer) => receipt::read(&answer, batch, &digests, &contract)
                .ok_or_else(|| refused::store(&EngineRefusal::Malformed { method: INGEST }).into()),
            Err(refusal) if refusal.is_unsettled() => Err(self.settle(batch, digests.batch, &refusal).await),
            Err(refusal) => Err(refused::commit(&refusal, batch)),
        }
    }

    /// The engine hides a stale checkpoint behind the code that also stands for everything it cannot explain. Its state tells which
    /// it was: an answered batch that moved nothing was refused, while one whose answer is missing may still be under way.
    async fn settle(&self, batch: &SourceBatch, digest: Digest256, refusal: &EngineRefusal) -> SinkRefusal {
        let stream = &batch.provider_checkpoint.stream;
        match self.stream_status(&batch.connector, stream).await {
            Ok(status) => judge(&status, batch, digest, refusal),
            Err(_) => SinkRefusal::OutcomeUnknown,
        }
    }

    pub(super) async fn stream_status(
        &self,
        connector: &ConnectorName,
        stream: &StreamName,
    ) -> Result<StreamStatus, SinkRefusal> {
        let asked = [("connector", connector.as_str().into()), ("stream", stream.as_str().into())];
        let answer = self.read(Body::with(STATUS, asked)).await.map_err(|no| refused::store(&no))?;
        read_status(&answer).ok_or_else(|| refused::store(&EngineRefusal::Malformed { method: STATUS }).into())
    }

    /// What the engine has accepted of a connector, as it was noted.
    async fn contract(&self, connector: &ConnectorName) -> Result<std::sync::Arc<Accepted>, SinkRefusal> {
        if let Some(known) = self.known(connector) {
            return Ok(known);
        }
        self.pack_status(connector).await?;
        let unknown = || SinkRefusal::UnknownMapping { reference: format!("connector:{connector}#mappings") };
        self.known(connector).ok_or_else(unknown)
    }
}

/// What became of a batch whose answer does not say it, by where its stream stands now.
fn judge(status: &StreamStatus, batch: &SourceBatch, digest: Digest256, refusal: &EngineRefusal) -> SinkRefusal {
    if status.last_batch_digest == Some(digest) {
        SinkRefusal::OutcomeUnknown
    } else if status.accepted_checkpoint != batch.expected_previous_checkpoint {
        SinkRefusal::Conflict { stream: batch.provider_checkpoint.stream.to_string() }
    } else if matches!(refusal, EngineRefusal::Opaque { .. }) {
        SinkRefusal::Refused { code: "INTERNAL" }
    } else {
        SinkRefusal::OutcomeUnknown
    }
}

fn bounds(batch: &SourceBatch) -> Result<(), SinkRefusal> {
    let live = batch.authoritative_live_ids.as_ref().map_or(0, Vec::len);
    for (what, count, limit) in [
        ("records", batch.records.len(), CAPABILITIES.max_records),
        ("withdrawals", batch.withdrawals.len(), CAPABILITIES.max_records),
        ("relationships", batch.relationships.len(), CAPABILITIES.max_relationships),
        ("live ids", live, CAPABILITIES.max_live_ids),
    ] {
        if count > limit {
            return Err(BatchRefusal::TooMany { what, count, limit }.into());
        }
    }
    Ok(())
}

/// What the engine would refuse without naming it.
fn admit(batch: &SourceBatch, contract: &Accepted) -> Result<(), SinkRefusal> {
    let none = BTreeMap::new();
    for (index, record) in batch.records.iter().enumerate() {
        let Some(record_type) = record.mapping_reference.record_type(&batch.connector) else {
            return Err(SinkRefusal::UnknownMapping { reference: record.mapping_reference.to_string() });
        };
        let Some(fields) = contract.fields.get(record_type) else {
            return Err(SinkRefusal::UnknownMapping { reference: record.mapping_reference.to_string() });
        };
        let checks = contract.checks.get(record_type).unwrap_or(&none);
        for (name, value) in &record.payload {
            if name == "node_type" && value.as_str() != Some(record_type) {
                return Err(SinkRefusal::Selector { index });
            }
            if let Some(expected) = checks.get(name).filter(|expected| !admits(expected, value)) {
                return Err(SinkRefusal::FieldType { index, field: name.clone(), expected: expected.clone() });
            }
            if batch.strict_schema && !fields.contains(name) && !EXEMPT.contains(&name.as_str()) {
                return Err(SinkRefusal::FieldUnknown { index, field: name.clone() });
            }
        }
    }
    Ok(())
}

/// The engine's own reading of a datatype; one it does not check admits everything.
fn admits(datatype: &str, value: &Json) -> bool {
    match (datatype.strip_prefix("xsd:").unwrap_or(datatype), value) {
        ("string" | "date" | "dateTime" | "anyURI", value) => matches!(value, Json::String(_)),
        ("boolean", value) => matches!(value, Json::Bool(_)),
        ("integer" | "int" | "long", value) => matches!(value, Json::Number(number) if number.is_integer()),
        ("nonNegativeInteger", value) => {
            matches!(value, Json::Number(number) if number.is_integer() && !number.as_text().starts_with('-'))
        }
        ("decimal" | "double" | "float", value) => matches!(value, Json::Number(_)),
        _ => true,
    }
}

fn read_status(answer: &Value) -> Option<StreamStatus> {
    let digest = |name: &str| match answer.get(name) {
        None => Some(None),
        Some(value) => Digest256::parse_hex(value.as_text()?).ok().map(Some),
    };
    Some(StreamStatus {
        accepted_checkpoint: match answer.get("accepted_checkpoint") {
            None => None,
            Some(value) => Some(read_checkpoint(value)?),
        },
        accepted_checkpoint_digest: digest("accepted_checkpoint_digest")?,
        last_batch_digest: digest("last_batch_digest")?,
        last_receipt_id: answer.get("last_receipt_id").and_then(Value::as_text).map(str::to_owned),
        committed_graph_version: answer.get("committed_graph_version").and_then(Value::as_natural),
    })
}

pub(super) fn read_checkpoint(value: &Value) -> Option<SourceCheckpoint> {
    let text = |name: &str| value.get(name).and_then(Value::as_text);
    Some(SourceCheckpoint {
        stream: StreamName::parse(text("stream")?).ok()?,
        position: value.get("position").map_or(Some(Json::Null), Value::to_json)?,
        content_hash: text("content_hash").map(Digest256::parse_hex).transpose().ok()?,
        watermark: text("watermark").map(str::to_owned),
        pending_watermark: text("pending_watermark").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use scion_conformance::fixtures::{batch, ticket};
    use scion_domain::model::IngestMode;

    use super::*;

    #[test]
    fn an_answer_that_says_nothing_is_judged_by_where_the_stream_stands() {
        let offered = batch(IngestMode::Full, vec![ticket("a", "one")], None, 1);
        let (own, other) = (Digest256::from_bytes([1; 32]), Digest256::from_bytes([2; 32]));
        let opaque = EngineRefusal::Opaque { method: INGEST };
        let closed = EngineRefusal::Closed { method: INGEST };
        let committed = StreamStatus { last_batch_digest: Some(own), ..StreamStatus::default() };
        let moved = StreamStatus {
            last_batch_digest: Some(other),
            accepted_checkpoint: Some(offered.provider_checkpoint.clone()),
            ..StreamStatus::default()
        };
        let unmoved = StreamStatus::default();
        let code = |status: &StreamStatus, refusal| {
            use scion_domain::refusal::Refusal as _;
            judge(status, &offered, own, refusal).code()
        };
        assert_eq!(code(&committed, &opaque), "outcome_unknown", "the caller reads it back");
        assert_eq!(code(&moved, &opaque), "conflict");
        assert_eq!(code(&unmoved, &opaque), "sink_refused", "an answer came, and nothing was written");
        assert_eq!(code(&unmoved, &closed), "outcome_unknown", "it may still be under way");
    }
}
