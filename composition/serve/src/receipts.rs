//! Receipts of destructive calls in a key-value store.

use std::fmt;
use std::sync::Arc;

use scion_domain::digest::framed;
use scion_domain::id::Digest256;
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with, to_compact};
use scion_domain::mcp::ToolResult;
use scion_domain::sink::StoreRefusal;
use scion_domain::tool_context::{
    EffectIntent, EffectOutcome, ReceiptReference, RecoveredResult, RecoveryRequest, ToolExecutionContext,
};
use scion_domain::work::WorkRefusal;
use scion_domain::writeback::EffectStatus;
use scion_ports::{Clock, EffectReceipts, KeyValueEntry, KeyValueStore, async_trait};

use crate::context_runtime::random;

const NAMESPACE: &str = "tool_receipts";
/// Receipts by their reference, and the last reference of a request.
const RECEIPT: &str = "receipt/";
const REQUEST: &str = "request/";
/// The largest answer that is kept, in bytes; a larger one is settled without it and cannot be recovered.
const MAX_ANSWER: usize = 512 * 1024;

/// Receipts in a key-value store, the embedded graph's for example. It keeps the ids of a call, the digest of its arguments, and
/// its answer.
pub struct StoredReceipts {
    store: Arc<dyn KeyValueStore>,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for StoredReceipts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredReceipts")
    }
}

/// A receipt whose effect nobody saw the end of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenReceipt {
    /// What it is found by.
    pub receipt: ReceiptReference,
    /// Its tenant, actor, connector, operation, session and request ids, the digests of arguments and approval, the time it was
    /// opened at and its status, as kept.
    pub facts: JsonObject,
}

impl StoredReceipts {
    /// Receipts in a store.
    pub fn new(store: Arc<dyn KeyValueStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// The receipts to reconcile: opened and never settled, or settled as uncertain. At most `limit` receipts are looked at, in
    /// the order of their references, after `after`; the second part is where to go on, `None` at the end.
    pub async fn unsettled(
        &self,
        after: Option<&ReceiptReference>,
        limit: usize,
    ) -> Result<(Vec<OpenReceipt>, Option<ReceiptReference>), WorkRefusal> {
        let after = after.map(|after| format!("{RECEIPT}{}", after.as_str()));
        let found = self.store.scan(NAMESPACE, RECEIPT, after.as_deref(), limit).await.map_err(unreachable)?;
        let reference = |key: &str| {
            let text = key.strip_prefix(RECEIPT).unwrap_or(key);
            ReceiptReference::parse(text).map_err(|_| broken())
        };
        let next = if found.len() < limit { None } else { found.last().map(|(key, _)| reference(key)).transpose()? };
        let mut open = Vec::new();
        for (key, entry) in &found {
            let mut facts = read(entry)?;
            facts.remove("answer");
            if matches!(text(&facts, "status"), "open" | "uncertain") {
                open.push(OpenReceipt { receipt: reference(key)?, facts });
            }
        }
        Ok((open, next))
    }

    async fn get(&self, key: &str) -> Result<Option<KeyValueEntry>, WorkRefusal> {
        self.store.get(NAMESPACE, key).await.map_err(unreachable)
    }
}

#[async_trait]
impl EffectReceipts for StoredReceipts {
    async fn open(&self, intent: &EffectIntent) -> Result<ReceiptReference, WorkRefusal> {
        let context = &intent.context;
        let bytes: [u8; 16] = random().ok_or(WorkRefusal::Unreachable { what: "randomness" })?;
        let reference = format!("{:032x}", u128::from_be_bytes(bytes));
        let facts = Json::from([
            ("tenant", context.tenant.as_str().into()),
            ("actor", context.actor.as_str().into()),
            ("connector", context.connector.as_str().into()),
            ("operation", context.operation.as_ref().into()),
            ("session", context.session.as_ref().into()),
            ("request", context.request.as_ref().into()),
            ("arguments", intent.arguments_digest.to_hex().into()),
            ("approval", intent.approval.map(Digest256::to_hex).into()),
            ("opened_at_ms", self.clock.unix_millis().into()),
            ("status", "open".into()),
        ]);
        let key = format!("{RECEIPT}{reference}");
        let value = to_compact(&facts);
        self.store.compare_and_swap(NAMESPACE, &key, None, value.as_bytes()).await.map_err(unreachable)?;
        let request = request_key(context, &context.session, &context.request, intent.arguments_digest);
        loop {
            let known = self.get(&request).await?.map(|entry| entry.version);
            match self.store.compare_and_swap(NAMESPACE, &request, known, reference.as_bytes()).await {
                Ok(_) => return ReceiptReference::parse(&reference).map_err(|_| broken()),
                // Another call of the same ids was faster: this one is the last.
                Err(StoreRefusal::Conflict { .. }) => {}
                Err(refusal) => return Err(unreachable(refusal)),
            }
        }
    }

    async fn settle(&self, receipt: &ReceiptReference, outcome: EffectOutcome<'_>) -> Result<(), WorkRefusal> {
        const WHAT: &str = "the receipt";
        let key = format!("{RECEIPT}{}", receipt.as_str());
        let entry = self.get(&key).await?.ok_or(WorkRefusal::Unknown { what: WHAT })?;
        let mut facts = read(&entry)?;
        if text(&facts, "status") != "open" {
            return Err(WorkRefusal::Settled { what: WHAT });
        }
        facts.insert("status".to_owned(), word(outcome.status).into());
        facts.insert("settled_at_ms".to_owned(), self.clock.unix_millis().into());
        if let Some(answer) = kept(outcome.result) {
            facts.insert("answer".to_owned(), answer);
        }
        let value = to_compact(&Json::Object(facts));
        match self.store.compare_and_swap(NAMESPACE, &key, Some(entry.version), value.as_bytes()).await {
            Ok(_) => Ok(()),
            Err(StoreRefusal::Conflict { .. }) => Err(WorkRefusal::Settled { what: WHAT }),
            Err(refusal) => Err(unreachable(refusal)),
        }
    }

    async fn recover(
        &self,
        context: &ToolExecutionContext,
        request: &RecoveryRequest,
        arguments_digest: Digest256,
    ) -> Result<Option<RecoveredResult>, WorkRefusal> {
        let session = request.session.as_ref().unwrap_or(&context.session);
        let key = request_key(context, session, &request.request, arguments_digest);
        let Some(entry) = self.get(&key).await? else { return Ok(None) };
        let reference = std::str::from_utf8(&entry.value).map_err(|_| broken())?;
        let Some(entry) = self.get(&format!("{RECEIPT}{reference}")).await? else { return Ok(None) };
        let facts = read(&entry)?;
        let status = match text(&facts, "status") {
            "no_effect" => EffectStatus::NoEffect,
            "applied" => EffectStatus::Applied,
            "uncertain" => EffectStatus::Uncertain,
            _ => return Ok(None),
        };
        let Some(result) = facts.get("answer").map(answer) else { return Ok(None) };
        let receipt = ReceiptReference::parse(reference).map_err(|_| broken())?;
        Ok(Some(RecoveredResult { result, receipt, status }))
    }
}

/// Where the last receipt of a request is found; only its own caller can name it.
fn request_key(context: &ToolExecutionContext, session: &str, request: &str, arguments: Digest256) -> String {
    let arguments = arguments.to_hex();
    let fields = [
        context.tenant.as_str(),
        &context.actor,
        context.connector.as_str(),
        &context.operation,
        session,
        request,
        &arguments,
    ];
    format!("{REQUEST}{}", framed("scion/tool-receipt/v1", &fields.map(str::as_bytes)))
}

fn kept(result: &ToolResult) -> Option<Json> {
    if !result.attachments.is_empty() {
        return None;
    }
    let texts: Vec<Json> = result.texts.iter().map(|text| Json::from(text.as_str())).collect();
    let answer = Json::from([
        ("texts", texts.into()),
        ("structured", result.structured.clone().into()),
        ("structured_is_there", result.structured.is_some().into()),
        ("wrapped", result.wrapped.into()),
        ("is_error", result.is_error.into()),
    ]);
    (to_compact(&answer).len() <= MAX_ANSWER).then_some(answer)
}

fn answer(kept: &Json) -> ToolResult {
    let flag = |name: &str| kept.get(name).and_then(Json::as_bool).unwrap_or(false);
    let texts = kept.get("texts").and_then(Json::as_array).unwrap_or_default();
    ToolResult {
        texts: texts.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        structured: kept.get("structured").filter(|_| flag("structured_is_there")).cloned(),
        wrapped: flag("wrapped"),
        is_error: flag("is_error"),
        ..ToolResult::default()
    }
}

const fn word(status: EffectStatus) -> &'static str {
    match status {
        EffectStatus::NoEffect => "no_effect",
        EffectStatus::Applied => "applied",
        EffectStatus::Uncertain => "uncertain",
    }
}

fn read(entry: &KeyValueEntry) -> Result<JsonObject, WorkRefusal> {
    match parse_with(&entry.value, JsonLimits::DEFAULT) {
        Ok(Json::Object(facts)) => Ok(facts),
        _ => Err(broken()),
    }
}

fn text<'f>(facts: &'f JsonObject, name: &str) -> &'f str {
    facts.get(name).and_then(Json::as_str).unwrap_or_default()
}

const fn broken() -> WorkRefusal {
    WorkRefusal::Invalid { what: "a stored receipt is not what was written" }
}

fn unreachable(_refusal: StoreRefusal) -> WorkRefusal {
    WorkRefusal::Unreachable { what: "the store of receipts" }
}
