//! What the queue and its lanes have in common on the engine.

use scion_domain::engine::EngineRefusal;
use scion_domain::refusal::Refusal as _;
use scion_domain::work::WorkRefusal;
use scion_ports::KeyValueStore as _;

use crate::client::{Call, EngineClient, Identity, Repeats};
use crate::{Body, COMMONS, EngineKeyValues, RequestContext, Value, persistence_id};

/// Every method that queue and lanes use.
pub(crate) const METHODS: [&str; 13] = [
    "SubmitWorkItem",
    "ClaimWorkItem",
    "RenewWorkItemLease",
    "CommitWorkItemResult",
    "DeferWorkItem",
    "CancelWorkItem",
    "GetWorkItem",
    "ListWorkItems",
    "UpdateCapacityCell",
    "AcquireCapacity",
    "RenewCapacity",
    "ReleaseCapacity",
    "CapacityStatus",
];

/// Where the policies of lanes are kept.
const NAMESPACE: &str = "scion-work-lane";

/// Queued work in one graph of the engine, as a [`scion_ports::TaskQueue`] and a [`scion_ports::WorkAdmission`].
///
/// Work is a work item whose kind is also its queue; a lane is a capacity cell of the class `worker`, whose `policy_digest` names
/// the lane's times, which are kept beside it as a small value. All processes under one principal are one worker to the engine and
/// are told apart by their tokens.
#[derive(Clone, Debug)]
pub struct EngineWork {
    client: EngineClient,
    values: EngineKeyValues,
    graph: String,
}

impl EngineWork {
    /// Work in this graph.
    pub fn new(client: EngineClient, graph: impl Into<String>) -> Self {
        let graph = graph.into();
        Self { values: EngineKeyValues::new(client.clone(), graph.clone()), client, graph }
    }

    pub(crate) fn unique(&self) -> u64 {
        self.client.unique()
    }

    pub(crate) fn graph(&self) -> &str {
        &self.graph
    }

    /// The signed identity: the engine takes submissions only under the very context of the request.
    pub(crate) fn context(&self) -> Result<&RequestContext, WorkRefusal> {
        match self.client.identity() {
            Identity::Signed { context, .. } => Ok(context),
            Identity::Anonymous => Err(WorkRefusal::Invalid {
                what: "queued work needs an engine with authentication, and a secret to sign with",
            }),
        }
    }

    /// The tenant and the persisted name of the caller.
    pub(crate) fn caller(&self) -> Result<(String, String), WorkRefusal> {
        let context = self.context()?;
        Ok((context.tenant.clone(), persistence_id(&context.principal)))
    }

    pub(crate) async fn call(&self, body: Body, repeats: Repeats) -> Result<Value, EngineRefusal> {
        self.client.call(Call { graph: &self.graph, body, idempotency_key: None, repeats }).await
    }

    pub(crate) async fn ask(&self, body: Body, repeats: Repeats) -> Result<Value, WorkRefusal> {
        let method = body.method;
        self.call(body, repeats).await.map_err(|refusal| refuse(method, &refusal))
    }

    /// Whether the engine serves all of it.
    pub(crate) async fn served(&self) -> Result<(), WorkRefusal> {
        self.context()?;
        let call = Call { graph: COMMONS, body: Body::unit("Health"), idempotency_key: None, repeats: Repeats::Freely };
        let health = self.client.call(call).await.map_err(|refusal| refuse("Health", &refusal))?;
        let ops = health.get("ops").and_then(Value::as_list).ok_or(malformed("Health"))?;
        let serves = |method: &str| ops.iter().any(|op| op.as_text() == Some(method));
        match METHODS.iter().find(|method| !serves(method)) {
            Some(method) => Err(WorkRefusal::MethodNotServed { method }),
            None => Ok(()),
        }
    }

    /// The times of a lane, as they were set with this digest.
    pub(crate) async fn policy(&self, lane: &str, digest: &str) -> Result<Option<Vec<u8>>, WorkRefusal> {
        let entry = self.values.get(NAMESPACE, &format!("{lane}/{digest}")).await;
        Ok(entry.map_err(|refusal| WorkRefusal::Store { code: refusal.code() })?.map(|entry| entry.value))
    }

    pub(crate) async fn keep_policy(&self, lane: &str, digest: &str, policy: &str) -> Result<(), WorkRefusal> {
        use scion_domain::sink::StoreRefusal;
        match self.values.compare_and_swap(NAMESPACE, &format!("{lane}/{digest}"), None, policy.as_bytes()).await {
            // Its name is its digest: what is there is the same.
            Ok(_) | Err(StoreRefusal::Conflict { .. }) => Ok(()),
            Err(refusal) => Err(WorkRefusal::Store { code: refusal.code() }),
        }
    }
}

/// A reply that the protocol does not have.
pub(crate) const fn malformed(method: &'static str) -> WorkRefusal {
    let _ = method;
    WorkRefusal::Store { code: "engine_reply_malformed" }
}

/// What the engine's refusal means to a caller of the queue.
pub(crate) fn refuse(method: &'static str, refusal: &EngineRefusal) -> WorkRefusal {
    match refusal {
        EngineRefusal::Unreachable { .. } => WorkRefusal::Unreachable { what: "the engine" },
        EngineRefusal::MethodNotServed { .. } => WorkRefusal::MethodNotServed { method },
        EngineRefusal::Refused { code, .. }
            if code.as_str() == "CONFLICT" || code.as_str() == "IDEMPOTENCY_CONFLICT" =>
        {
            WorkRefusal::Conflict { what: "the work" }
        }
        EngineRefusal::Refused { code, .. } => WorkRefusal::Denied { method, code: code.as_str() },
        other => WorkRefusal::Store { code: other.code() },
    }
}

/// A time for the engine, which knows none before 1970.
pub(crate) fn time(ms: i64) -> Value {
    Value::Natural(u64::try_from(ms).unwrap_or(0))
}

pub(crate) fn natural(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_natural)
}

pub(crate) fn moment(value: &Value, name: &str) -> Option<i64> {
    natural(value, name).and_then(|ms| i64::try_from(ms).ok())
}
