//! The ledger of write-back in the engine (`wire/engine-protocol.md` 10).
//!
//! The engine refuses a violation of its rules without saying so, so they are held here first, over the receipts it has. It keeps a
//! digest of its own; ours names the change, and what the engine has no field for (the caller's id of the change, the actor as the
//! caller wrote it) stands beside it in the key-value store.

use std::collections::BTreeMap;

use scion_domain::digest::{framed, sha256};
use scion_domain::engine::EngineRefusal;
use scion_domain::id::{ConnectorName, Digest256, TenantId};
use scion_domain::json::{Json, JsonObject, parse, to_compact};
use scion_domain::sink::StoreRefusal;
use scion_domain::writeback::{
    AttemptKind, ChangeRequest, Effect, EffectStatus, LedgerEntry, LedgerState, WriteBackRefusal,
};
use scion_ports::{KeyValueStore as _, WriteBackLedger, async_trait};

use crate::client::{Call, EngineClient, Repeats};
use crate::{Body, EngineKeyValues, Value, encode};

const NAMESPACE: &str = "write-back";
/// What stands for a version nobody knows; the engine wants a text.
const UNKNOWN: &str = "version:unknown";
/// Receipts asked for at once.
const PAGE: u64 = 500;

/// A [`WriteBackLedger`] in one graph of the engine.
#[derive(Clone, Debug)]
pub struct EngineLedger {
    client: EngineClient,
    graph: String,
    beside: EngineKeyValues,
}

impl EngineLedger {
    /// A ledger in this graph.
    pub fn new(client: EngineClient, graph: impl Into<String>) -> Self {
        let graph = graph.into();
        Self { beside: EngineKeyValues::new(client.clone(), graph.clone()), client, graph }
    }

    /// The engine has one ledger for all graphs, so the graph is part of the change's name there.
    fn id(&self, digest: &Digest256) -> String {
        format!("{}:{}", self.graph, digest.to_hex())
    }

    /// The same holds for the key.
    fn key(&self, key: &str) -> String {
        format!("{}:{key}", self.graph)
    }

    async fn op(&self, op: Value, key: Option<&str>, repeats: Repeats) -> Result<Value, EngineRefusal> {
        let body = Body::with("WriteBack", [("op", op)]);
        self.client.call(Call { graph: &self.graph, body, idempotency_key: key, repeats }).await
    }

    async fn stored(&self, digest: &Digest256) -> Result<Option<Value>, WriteBackRefusal> {
        let op = Value::map([
            ("op", "get".into()),
            ("tenant_id", self.client.tenant().into()),
            ("change_set_id", self.id(digest).into()),
        ]);
        let found = self.op(op, None, Repeats::Freely).await.map_err(|no| refuse(&no))?;
        Ok((found != Value::Nil).then_some(found))
    }

    /// The change set, in the order of the engine's structure, with the engine's digest in it.
    fn change_set(&self, change: &ChangeRequest) -> Result<Value, WriteBackRefusal> {
        let ours = change.change_set_digest.to_hex();
        let invalid = |what| WriteBackRefusal::Invalid { what };
        let patch = Value::of_json(&Json::Object(change.desired_patch.clone()))
            .ok_or(invalid("a number of the patch has no form in the engine"))?;
        let provenance =
            change.field_provenance.iter().map(|(field, from)| (field.clone(), from.as_str().into())).collect();
        let expires = u64::try_from(change.expires_at_ms).map_err(|_| invalid("it expires before 1970"))?;
        let authorization = Value::map([
            // Who may do this is decided elsewhere and before; here stands which change it was decided for.
            ("mode", "manual_trigger".into()),
            ("authorization_ref", format!("change:{ours}").into()),
            ("decision_digest", ours.as_str().into()),
            ("input_digest", ours.as_str().into()),
            ("output_digest", ours.as_str().into()),
            ("authorized", true.into()),
        ]);
        let whole = |digest: String| {
            Value::map([
                ("schema_version", 1_u64.into()),
                ("change_set_id", self.id(&change.change_set_digest).into()),
                ("change_set_digest", digest.into()),
                ("tenant_id", change.tenant.as_str().into()),
                ("actor", self.client.persistence_id().into()),
                ("purpose", "write-back".into()),
                ("connector_id", change.connector.as_str().into()),
                ("source_instance_id", change.connector.as_str().into()),
                ("entity_id", change.entity_id.as_str().into()),
                ("field_scope", change.field_scope.clone().into()),
                ("base_source_version", change.base_source_version.as_str().into()),
                ("desired_patch", patch.clone()),
                ("source_of_truth_rule", "source".into()),
                ("field_provenance", Value::Map(provenance)),
                ("required_capability", format!("{}.write-back", change.connector).into()),
                ("policy_digest", sha256(self.client.policy_version().as_bytes()).to_hex().into()),
                ("authorization", authorization),
                ("idempotency_key", self.key(&change.idempotency_key).into()),
                ("expires_at_ms", expires.into()),
                ("reconciliation_procedure", "read-back".into()),
            ])
        };
        let Value::Map(mut members) = whole("0".repeat(64)) else { return Err(invalid("it has no members")) };
        let digest = framed("eg/source-change-set/v1", &[&encode(&Value::Map(members.clone()))]);
        if let Some((_, value)) = members.iter_mut().find(|(name, _)| name == "change_set_digest") {
            *value = digest.to_hex().into();
        }
        Ok(Value::Map(members))
    }

    /// Every receipt of a change, as entries.
    async fn all(&self, digest: &Digest256, key: &str) -> Result<Vec<LedgerEntry>, WriteBackRefusal> {
        let malformed = || refuse(&EngineRefusal::Malformed { method: "WriteBack" });
        let mut found: Vec<LedgerEntry> = Vec::new();
        loop {
            let after = found.last().map_or(0, |entry| entry.sequence);
            let op = Value::map([
                ("op", "receipts".into()),
                ("tenant_id", self.client.tenant().into()),
                ("change_set_id", self.id(digest).into()),
                ("after_sequence", after.into()),
                ("limit", PAGE.into()),
            ]);
            let answer = self.op(op, None, Repeats::Freely).await.map_err(|no| refuse(&no))?;
            let page = answer.get("receipts").and_then(Value::as_list).ok_or_else(malformed)?;
            for receipt in page {
                found.push(entry(*digest, key, receipt).ok_or_else(malformed)?);
            }
            if (page.len() as u64) < PAGE {
                return Ok(found);
            }
        }
    }
}

fn entry(digest: Digest256, key: &str, record: &Value) -> Option<LedgerEntry> {
    let receipt = record.get("receipt")?;
    let text = |name: &str| receipt.get(name).and_then(Value::as_text);
    let version = |name: &str| text(name).map(|version| (version != UNKNOWN).then(|| version.to_owned()));
    let status = match text("effect_status")? {
        "no_effect" => EffectStatus::NoEffect,
        "applied" => EffectStatus::Applied,
        "outcome_uncertain" => EffectStatus::Uncertain,
        _ => return None,
    };
    let (kind, pre, post) = if record.get("receipt_kind")?.as_text()? == "attempt" {
        let kind = if text("kind")? == "dry_run" { AttemptKind::DryRun } else { AttemptKind::Apply };
        (kind, version("pre_source_version")?, version("post_source_version")?)
    } else {
        // An observation has one version; the one before stands in its evidence and is not kept.
        let (pre, post) = split(text("observed_source_version")?);
        (AttemptKind::Reconciliation, pre, post)
    };
    let observation_digest = Digest256::parse_hex(text("connector_observation_digest")?).ok()?;
    let effect = Effect { status, pre_source_version: pre, post_source_version: post, observation_digest };
    let sequence = receipt.get("sequence")?.as_natural()?;
    Some(LedgerEntry { change_set_digest: digest, idempotency_key: key.to_owned(), kind, effect, sequence })
}

/// Both versions of an observation in the one text the engine has for them.
fn joined(effect: &Effect) -> String {
    let pair = [&effect.pre_source_version, &effect.post_source_version]
        .map(|version| version.as_deref().map_or(Json::Null, Json::from));
    to_compact(&Json::Array(pair.to_vec()))
}

fn split(text: &str) -> (Option<String>, Option<String>) {
    let pair = parse(text).ok().and_then(|pair| pair.as_array().map(<[Json]>::to_vec)).unwrap_or_default();
    let version = |at: usize| pair.get(at).and_then(Json::as_str).map(str::to_owned);
    (version(0), version(1))
}

fn operation(
    change: &ChangeRequest,
    stored: &Value,
    tenant: &str,
    entry: &LedgerEntry,
    sequence: usize,
) -> Option<Value> {
    let ours = change.change_set_digest.to_hex();
    let version = |version: &Option<String>| Value::from(version.as_deref().unwrap_or(UNKNOWN));
    let status = match entry.effect.status {
        EffectStatus::NoEffect => "no_effect",
        EffectStatus::Applied => "applied",
        EffectStatus::Uncertain => "outcome_uncertain",
    };
    let observation = entry.effect.observation_digest.to_hex();
    // The engine takes two receipts with the same members for one. The place tells an entry from the one it repeats.
    let place = sha256(format!("{observation} {sequence}").as_bytes()).to_hex();
    let head = [
        ("tenant_id", tenant.into()),
        ("change_set_id", stored.get("change_set_id")?.clone()),
        ("change_set_digest", stored.get("change_set_digest")?.clone()),
        ("idempotency_key", stored.get("idempotency_key")?.clone()),
    ];
    let own = |members: Vec<(&str, Value)>| {
        let all = head.clone().into_iter().chain(members);
        Value::Map(all.map(|(name, value)| (name.to_owned(), value)).collect())
    };
    if entry.kind == AttemptKind::Reconciliation {
        let observation = own(vec![
            ("observed_source_version", joined(&entry.effect).into()),
            ("effect_status", status.into()),
            ("retry_allowed", (entry.effect.status == EffectStatus::NoEffect).into()),
            ("evidence_digest", observation.as_str().into()),
            ("connector_observation_digest", observation.as_str().into()),
            ("provenance_digest", place.as_str().into()),
        ]);
        return Some(Value::map([("op", "record_reconciliation".into()), ("observation", observation)]));
    }
    let dry = entry.kind == AttemptKind::DryRun;
    let outcome = match (dry, entry.effect.status) {
        (true, _) => "dry_run_ready",
        (_, EffectStatus::Applied) => "applied",
        (_, EffectStatus::NoEffect) => "rejected",
        (_, EffectStatus::Uncertain) => "outcome_uncertain",
    };
    let mut scope = change.field_scope.clone();
    scope.sort_unstable();
    let patch = Value::List(vec![scope.into(), Value::of_json(&Json::Object(change.desired_patch.clone()))?]);
    let applied = framed("eg/source-change-set-patch/v1", &[&encode(&patch)]);
    let attempt = own(vec![
        ("kind", if dry { "dry_run".into() } else { "apply".into() }),
        ("input_digest", ours.as_str().into()),
        ("output_digest", ours.as_str().into()),
        ("pre_source_version", version(&entry.effect.pre_source_version)),
        ("post_source_version", version(&entry.effect.post_source_version)),
        ("applied_field_digest", applied.to_hex().into()),
        ("outcome", outcome.into()),
        ("effect_status", status.into()),
        ("connector_observation_digest", observation.as_str().into()),
        ("provenance_digest", place.as_str().into()),
    ]);
    Some(Value::map([("op", "record_attempt".into()), ("attempt", attempt)]))
}

#[async_trait]
impl WriteBackLedger for EngineLedger {
    async fn create(&self, change: &ChangeRequest) -> Result<(), WriteBackRefusal> {
        if change.tenant.as_str() != self.client.tenant() {
            return Err(WriteBackRefusal::Invalid { what: "the change belongs to another tenant than the client" });
        }
        let ours = change.change_set_digest.to_hex();
        let change_set = self.change_set(change)?;
        let beside = JsonObject::from([
            ("change_set_id".to_owned(), change.change_set_id.as_str().into()),
            ("actor".to_owned(), change.actor.as_str().into()),
            ("idempotency_key".to_owned(), change.idempotency_key.as_str().into()),
        ]);
        let beside = to_compact(&Json::Object(beside));
        let id = format!("id/{}", sha256(change.change_set_id.as_bytes()).to_hex());
        self.once(&id, &ours, &change.change_set_id).await?;
        self.once(&format!("change/{ours}"), &beside, &change.change_set_id).await?;
        if self.stored(&change.change_set_digest).await?.is_some() {
            return Ok(());
        }
        let op = Value::map([("op", "create".into()), ("change_set", change_set)]);
        match self.op(op, Some(&self.key(&change.idempotency_key)), Repeats::ByKey).await {
            Ok(_) => Ok(()),
            Err(no) if no.is_unsettled() => match self.stored(&change.change_set_digest).await? {
                Some(_) => Ok(()),
                None if matches!(no, EngineRefusal::Opaque { .. }) => {
                    Err(WriteBackRefusal::Invalid { what: "the engine refuses the change without a reason" })
                }
                None => Err(WriteBackRefusal::LedgerUnknown),
            },
            Err(no) => Err(refuse(&no)),
        }
    }

    async fn get(&self, change_set_digest: &Digest256) -> Result<Option<ChangeRequest>, WriteBackRefusal> {
        let Some(stored) = self.stored(change_set_digest).await? else { return Ok(None) };
        let key = format!("change/{}", change_set_digest.to_hex());
        let beside = self.beside.get(NAMESPACE, &key).await.map_err(|_| unreachable())?;
        let beside = beside.and_then(|entry| parse(&String::from_utf8(entry.value).ok()?).ok());
        let change = beside.and_then(|beside| change(*change_set_digest, &stored, &beside));
        change.map(Some).ok_or_else(|| refuse(&EngineRefusal::Malformed { method: "WriteBack" }))
    }

    async fn record(&self, entry: &LedgerEntry) -> Result<u64, WriteBackRefusal> {
        let digest = &entry.change_set_digest;
        let change = self.get(digest).await?.ok_or(WriteBackRefusal::UnknownChange)?;
        if change.idempotency_key != entry.idempotency_key {
            return Err(WriteBackRefusal::KeyReused { key: entry.idempotency_key.clone() });
        }
        let before = self.all(digest, &entry.idempotency_key).await?;
        before.iter().chain([entry]).try_fold(LedgerState::default(), |state, entry| {
            state.after(entry.kind, entry.effect.status, &change.entity_id)
        })?;
        let stored = self.stored(digest).await?.ok_or(WriteBackRefusal::UnknownChange)?;
        let operation = operation(&change, &stored, self.client.tenant(), entry, before.len() + 1)
            .ok_or(WriteBackRefusal::Invalid { what: "the entry has no form in the engine" })?;
        match self.op(operation, Some(&self.key(&entry.idempotency_key)), Repeats::ByKey).await {
            Ok(receipt) => receipt
                .get("sequence")
                .and_then(Value::as_natural)
                .ok_or_else(|| refuse(&EngineRefusal::Malformed { method: "WriteBack" })),
            Err(no) if no.is_unsettled() => {
                let after = self.all(digest, &entry.idempotency_key).await?;
                let same = |found: &&LedgerEntry| found.kind == entry.kind && found.effect == entry.effect;
                match after.get(before.len()).filter(same) {
                    Some(found) => Ok(found.sequence),
                    // Somebody else's entry came first, or the engine has a rule beyond ours.
                    None if after.len() > before.len() || matches!(no, EngineRefusal::Opaque { .. }) => {
                        Err(WriteBackRefusal::Invalid { what: "the ledger does not accept the entry as it stands" })
                    }
                    None => Err(WriteBackRefusal::LedgerUnknown),
                }
            }
            Err(no) => Err(refuse(&no)),
        }
    }

    async fn entries(
        &self,
        change_set_digest: &Digest256,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, WriteBackRefusal> {
        let Some(change) = self.get(change_set_digest).await? else { return Ok(Vec::new()) };
        let all = self.all(change_set_digest, &change.idempotency_key).await?;
        Ok(all.into_iter().filter(|entry| entry.sequence > after).take(limit).collect())
    }
}

impl EngineLedger {
    /// Writes a value that never changes, or finds it there.
    async fn once(&self, key: &str, value: &str, id: &str) -> Result<(), WriteBackRefusal> {
        match self.beside.compare_and_swap(NAMESPACE, key, None, value.as_bytes()).await {
            Ok(_) => Ok(()),
            Err(StoreRefusal::Conflict { .. }) => {
                let found = self.beside.get(NAMESPACE, key).await.map_err(|_| unreachable())?;
                if found.is_some_and(|entry| entry.value == value.as_bytes()) {
                    return Ok(());
                }
                Err(WriteBackRefusal::KeyReused { key: id.to_owned() })
            }
            Err(_) => Err(unreachable()),
        }
    }
}

fn change(digest: Digest256, stored: &Value, beside: &Json) -> Option<ChangeRequest> {
    let text = |name: &str| stored.get(name)?.as_text().map(str::to_owned);
    let kept = |name: &str| beside.get(name)?.as_str().map(str::to_owned);
    let scope = stored.get("field_scope")?.as_list()?.iter().map(|field| field.as_text().map(str::to_owned));
    let Value::Map(provenance) = stored.get("field_provenance")? else { return None };
    let pair = |(field, from): &(String, Value)| Some((field.clone(), from.as_text()?.to_owned()));
    Some(ChangeRequest {
        change_set_id: kept("change_set_id")?,
        change_set_digest: digest,
        tenant: TenantId::parse(&text("tenant_id")?).ok()?,
        actor: kept("actor")?,
        connector: ConnectorName::parse(&text("connector_id")?).ok()?,
        entity_id: text("entity_id")?,
        field_scope: scope.collect::<Option<_>>()?,
        base_source_version: text("base_source_version")?,
        desired_patch: stored.get("desired_patch")?.to_json()?.as_object()?.clone(),
        field_provenance: provenance.iter().map(pair).collect::<Option<BTreeMap<_, _>>>()?,
        idempotency_key: kept("idempotency_key")?,
        expires_at_ms: i64::try_from(stored.get("expires_at_ms")?.as_natural()?).ok()?,
    })
}

const fn unreachable() -> WriteBackRefusal {
    WriteBackRefusal::Unreachable { what: "the engine" }
}

fn refuse(refusal: &EngineRefusal) -> WriteBackRefusal {
    match refusal {
        EngineRefusal::MethodNotServed { .. } => WriteBackRefusal::Invalid { what: "this engine has no ledger" },
        EngineRefusal::Refused { .. } => WriteBackRefusal::Invalid { what: "the engine refuses the request" },
        _ => unreachable(),
    }
}
