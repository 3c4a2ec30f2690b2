//! A graph of an `epistemic-graph` engine as a sink. Where it is and in whose name it is asked is said by the environment
//! (`EPISTEMIC_GRAPH_*`, `GRAPH_SERVICE_*`).

use std::collections::BTreeMap;
use std::sync::Arc;

use scion_domain::engine::EngineRefusal;
use scion_domain::id::ConnectorName;
use scion_domain::sink::StoreRefusal;
use scion_engine::{EngineClient, EngineGraph, EngineSettings};
use scion_local::{SystemClock, SystemEntropy, process_environment};
use scion_ports::async_trait;

use super::{Access, OpenSink, SinkFactory, SinkRequest};
use crate::http::Outbound;

/// Its name.
pub const ENGINE: &str = "engine";

/// In whose name the engine's own secret is resolved.
const OWNER: &str = "scion";

/// What a sink asks of an engine (`wire/engine-protocol.md` 2.2). An engine that grants less refuses what is missing by itself.
const SCOPES: [&str; 14] = [
    "source:ingest",
    "source:reconcile-empty",
    "blob:write",
    "kv:read",
    "kv:write",
    "kv:shared:write",
    "sparql:read",
    "registry:read",
    "registry:write",
    "agent:pack-read",
    "agent:pack-control",
    "connector:catalog-attest",
    "admin:connector-pack",
    "graph:admin",
];

/// Opens graphs of an engine.
#[derive(Clone, Debug)]
pub struct EngineSinks {
    environment: Arc<BTreeMap<String, String>>,
}

impl Default for EngineSinks {
    fn default() -> Self {
        Self::of(process_environment())
    }
}

impl EngineSinks {
    /// Sinks that another environment describes.
    pub fn of(environment: BTreeMap<String, String>) -> Self {
        Self { environment: Arc::new(environment) }
    }

    async fn client(&self, mut settings: EngineSettings) -> Result<EngineClient, StoreRefusal> {
        let outbound = Outbound::from_environment((*self.environment).clone())
            .map_err(|_| StoreRefusal::Setting { name: "SCION_OUTBOUND_CONFIG", what: "cannot be used" })?;
        let owner =
            ConnectorName::parse(OWNER).map_err(|_| StoreRefusal::Unavailable { what: "its own name is none" })?;
        settings.context.scopes = SCOPES.map(str::to_owned).to_vec();
        let (clock, entropy) = (Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
        let client = settings.client(&*outbound.credentials(), &owner, clock, entropy).await;
        client.map_err(|refusal| match refusal {
            EngineRefusal::Secret { name } => {
                StoreRefusal::Setting { name, what: "names a secret that cannot be resolved" }
            }
            EngineRefusal::Setting { name, what } => StoreRefusal::Setting { name, what },
            refusal => scion_engine::store_refusal(&refusal),
        })
    }
}

#[async_trait]
impl SinkFactory for EngineSinks {
    fn name(&self) -> &str {
        ENGINE
    }

    fn place(&self, _request: &SinkRequest) -> String {
        EngineSettings::from_environment(&self.environment)
            .map_or_else(|_| "an engine".to_owned(), |settings| format!("{} at {}", settings.graph, settings.endpoint))
    }

    async fn open(&self, request: &SinkRequest) -> Result<OpenSink, StoreRefusal> {
        let settings = EngineSettings::from_environment(&self.environment).map_err(|refusal| match refusal {
            EngineRefusal::Setting { name, what } => StoreRefusal::Setting { name, what },
            _ => StoreRefusal::Unavailable { what: "the engine's settings cannot be used" },
        })?;
        let name = settings.graph.clone();
        let graph = Arc::new(EngineGraph::new(self.client(settings).await?, name));
        if request.access == Access::Write {
            graph.create().await.map_err(|refusal| scion_engine::store_refusal(&refusal))?;
        }
        Ok(OpenSink {
            sink: graph.clone(),
            digests: graph.clone(),
            checkpoints: graph.clone(),
            query: Some(graph.clone()),
            catalog: Some(graph.clone()),
            key_values: Some(graph),
            keep: None,
        })
    }
}
