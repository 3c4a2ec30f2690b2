//! Change envelopes (`wire/engine-protocol.md` 9.3).
//!
//! The engine applies the drafts of one request together or not at all. A resend that it recognises must have the same key and the
//! same drafts in the same order, which a reader that lost its place cannot promise; so a batch that does not follow the cursor is
//! settled by reading the envelopes themselves.

use std::collections::HashMap;

use scion_domain::digest::sha256;
use scion_domain::engine::EngineRefusal;
use scion_domain::json::{Json, JsonObject};
use scion_domain::messaging::{
    BatchOutcome, ChangeBatch, ChangeDraft, MessageRefusal, NodeChange, NodeState, check_name,
};
use scion_ports::{ChangeEnvelopes, async_trait};

use crate::client::Repeats;
use crate::messages::{EngineMessages, refuse};
use crate::{Body, Value, encode};

/// What the engine's ledger says of the transformation; the mapping itself is the connector's.
const TRANSFORM: (&str, &str) = ("scion-stream-adapter", "1");
const WHAT: &str = "the batch of changes";

impl EngineMessages {
    /// The digest under which an envelope was taken.
    async fn taken(&self, envelope_id: &str) -> Result<Option<String>, MessageRefusal> {
        let params = [("envelope_id", envelope_id.into()), ("tenant", self.client.tenant().into())];
        let found = self.call(Body::with("GetChangeEnvelope", params), Repeats::Freely, None).await;
        let found = found.map_err(|no| refuse(&no, "the read"))?;
        let version = found.get("envelope").and_then(|envelope| envelope.get("content_version"));
        Ok(version.and_then(|version| version.get("digest")).and_then(Value::as_text).map(str::to_owned))
    }

    /// The digest of the node's newest version.
    async fn version(&self, node: &str) -> Result<Option<String>, MessageRefusal> {
        let params = [("object_id", node.into()), ("tenant", self.client.tenant().into())];
        let found = self.call(Body::with("GetContentVersion", params), Repeats::Freely, None).await;
        let found = found.map_err(|no| refuse(&no, "the read"))?;
        Ok(found.get("digest").and_then(Value::as_text).map(str::to_owned))
    }

    /// What a batch is that does not follow the cursor.
    async fn settle(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        let mut known = 0;
        for draft in batch.drafts() {
            match self.taken(&draft.envelope_id).await? {
                Some(digest) if digest == draft.content_digest.to_hex() => known += 1,
                Some(_) => return Err(MessageRefusal::Rejected { what: "a position was taken by another change" }),
                None => break,
            }
        }
        if known == batch.drafts().len() {
            return Ok(BatchOutcome::Replayed);
        }
        Err(MessageRefusal::Stale { source_name: batch.source().to_owned() })
    }

    async fn drafts(&self, batch: &ChangeBatch) -> Result<Value, MessageRefusal> {
        let mut versions: HashMap<&str, Option<String>> = HashMap::new();
        let (mut drafts, mut before) = (Vec::new(), batch.expected());
        for draft in batch.drafts() {
            let node = draft.event.node.as_str();
            let known = versions.get(node).cloned();
            let previous = if let Some(known) = known { known } else { self.version(node).await? };
            let digest = draft.content_digest.to_hex();
            drafts.push(self.draft(batch, draft, before, previous)?);
            versions.insert(node, Some(digest));
            before = Some(draft.position);
        }
        Ok(Value::List(drafts))
    }

    /// One draft, its fields in the order of the engine's structure.
    fn draft(
        &self,
        batch: &ChangeBatch,
        draft: &ChangeDraft,
        before: Option<u64>,
        previous: Option<String>,
    ) -> Result<Value, MessageRefusal> {
        let (id, node, digest) = (draft.envelope_id.as_str(), draft.event.node.as_str(), draft.content_digest.to_hex());
        let sequence = |value: u64| Value::map([("kind", "sequence".into()), ("value", value.into())]);
        let method = match &draft.event.change {
            NodeChange::Put { node_type, properties } => {
                let mut all = properties.clone();
                all.insert("type".to_owned(), node_type.as_str().into());
                let bytes = encode(
                    &Value::of_json(&Json::Object(all))
                        .ok_or(MessageRefusal::Rejected { what: "a number of the node has no form in the engine" })?,
                );
                let params = [("node_id", node.into()), ("properties_msgpack", Value::Bytes(bytes))];
                Value::map([("method", "AddNode".into()), ("params", Value::map(params))])
            }
            NodeChange::Remove => {
                let params = Value::map([("node_id", node.into())]);
                Value::map([("method", "RemoveNode".into()), ("params", params)])
            }
        };
        let operation = Value::map([
            ("ordinal", 0_u64.into()),
            ("surface", "graph".into()),
            ("domain", "graph_rows".into()),
            ("method", method),
        ]);
        let mutation = Value::map([
            ("batch_id", id.into()),
            ("placement_epoch", 0_u64.into()),
            ("operations", Value::List(vec![operation])),
            ("outbox", Value::List(Vec::new())),
        ]);
        let policy = self.client.policy_version();
        let privacy = Value::map([
            ("policy_version", policy.into()),
            ("sanitizer_version", TRANSFORM.1.into()),
            ("sanitized_payload_digest", digest.as_str().into()),
        ]);
        let mut version = vec![
            ("object_id".to_owned(), node.into()),
            ("digest_algorithm".to_owned(), "sha256".into()),
            ("digest".to_owned(), digest.as_str().into()),
        ];
        version.extend(previous.map(|previous| ("previous_digest".to_owned(), previous.into())));
        // Positions of different sources that write the same node have no common order.
        let place = format!("{}/{}/{}", batch.source(), batch.partition(), draft.position);
        let place = Value::map([("version_type", TRANSFORM.0.into()), ("value", place.into())]);
        let opaque = Value::map([("kind", "opaque".into()), ("value", place)]);
        version.push(("source_version".to_owned(), opaque));
        let mut cursor = vec![
            ("source".to_owned(), batch.source().into()),
            ("partition".to_owned(), batch.partition().into()),
            ("position".to_owned(), sequence(draft.position)),
        ];
        cursor.extend(before.map(|before| ("expected_previous".to_owned(), sequence(before))));
        let lineage = Value::map([
            ("lineage_id", format!("{id}:lineage").into()),
            ("operation", "upsert".into()),
            ("object_id", node.into()),
            ("source_artifact_digest", digest.as_str().into()),
            ("transform_name", TRANSFORM.0.into()),
            ("transform_version", TRANSFORM.1.into()),
            ("parent_content_digests", Value::List(Vec::new())),
        ]);
        let policies = Value::map([
            ("policy_id", format!("{id}:policy").into()),
            ("operation", "upsert".into()),
            ("object_id", node.into()),
            ("tenant", self.client.tenant().into()),
            ("classification", "internal".into()),
            ("policy_version", policy.into()),
            ("subject_set_digest", sha256(b"").to_hex().into()),
            ("retention_policy", "".into()),
            ("legal_hold", false.into()),
        ]);
        Ok(Value::map([
            ("schema_version", 1_u64.into()),
            ("envelope_id", id.into()),
            ("mutation", mutation),
            ("privacy", privacy),
            ("content_version", Value::Map(version)),
            ("cursor", Value::Map(cursor)),
            ("lineage", Value::List(vec![lineage])),
            ("policies", Value::List(vec![policies])),
            ("evidence", Value::List(Vec::new())),
            ("features", Value::List(Vec::new())),
            ("blobs", Value::List(Vec::new())),
        ]))
    }
}

/// The key of a batch: the same drafts after the same cursor have the same.
fn key(batch: &ChangeBatch) -> String {
    let mut text = format!("{:?}", batch.expected());
    for draft in batch.drafts() {
        text.push('\0');
        text.push_str(&draft.envelope_id);
        text.push_str(&draft.content_digest.to_hex());
    }
    format!("change-batch:sha256:{}", sha256(text.as_bytes()).to_hex())
}

#[async_trait]
impl ChangeEnvelopes for EngineMessages {
    async fn apply(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        if self.cursor(batch.source(), batch.partition()).await? != batch.expected() {
            return self.settle(batch).await;
        }
        let method = "ApplyChangeEnvelopeDrafts";
        let body = Body::with(method, [("drafts", self.drafts(batch).await?)]);
        let answer = match self.call(body, Repeats::ByKey, Some(&key(batch))).await {
            Ok(answer) => answer,
            Err(no) if no.is_unsettled() => return self.after_silence(batch, &no).await,
            Err(no) => return Err(refuse(&no, WHAT)),
        };
        let results = answer.get("results").and_then(Value::as_list).unwrap_or_default();
        let all = |status: &str| {
            results.len() == batch.drafts().len()
                && results.iter().all(|one| one.get("status").and_then(Value::as_text) == Some(status))
        };
        if all("applied") {
            return Ok(BatchOutcome::Applied);
        }
        if all("idempotent_skip") {
            return Ok(BatchOutcome::Replayed);
        }
        let mut errors = results.iter().filter_map(|one| one.get("error").and_then(Value::as_text));
        let lost = |error: &str| ["STALE_", "IDEMPOTENCY_CONFLICT"].iter().any(|code| error.starts_with(code));
        if errors.any(lost) {
            return self.settle(batch).await;
        }
        Err(MessageRefusal::Rejected { what: "the engine does not accept one of its drafts" })
    }

    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal> {
        let method = "GetChangeCursor";
        let params =
            [("source", source.into()), ("partition", partition.into()), ("tenant", self.client.tenant().into())];
        let found = self.call(Body::with(method, params), Repeats::Freely, None).await;
        let found = found.map_err(|no| refuse(&no, "the read"))?;
        if found == Value::Nil {
            return Ok(None);
        }
        let position = found.get("position").and_then(|position| position.get("value")).and_then(Value::as_natural);
        position.map(Some).ok_or_else(|| refuse(&EngineRefusal::Malformed { method }, "the read"))
    }

    async fn node(&self, node: &str) -> Result<Option<NodeState>, MessageRefusal> {
        check_name(node)?;
        let method = "GetNodeProperties";
        let found = self.call(Body::with(method, [("node_id", node.into())]), Repeats::Freely, None).await;
        let found = found.map_err(|no| refuse(&no, "the read"))?;
        if found == Value::Nil {
            return Ok(None);
        }
        let state = found.to_json().and_then(|found| state(found.as_object()?.clone()));
        state.map(Some).ok_or_else(|| refuse(&EngineRefusal::Malformed { method }, "the read"))
    }
}

impl EngineMessages {
    /// The cursor tells what became of a batch to which no settling answer came.
    async fn after_silence(&self, batch: &ChangeBatch, no: &EngineRefusal) -> Result<BatchOutcome, MessageRefusal> {
        if self.cursor(batch.source(), batch.partition()).await? != batch.expected() {
            return self.settle(batch).await;
        }
        match no {
            EngineRefusal::Opaque { .. } => {
                Err(MessageRefusal::Rejected { what: "the engine refuses it without a reason" })
            }
            no => Err(refuse(no, WHAT)),
        }
    }
}

fn state(mut properties: JsonObject) -> Option<NodeState> {
    let node_type = properties.remove("type")?.as_str()?.to_owned();
    Some(NodeState { node_type, properties })
}
