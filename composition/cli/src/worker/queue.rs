//! Where the queue is: the engine, or the file of the state directory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use scion::local::{SystemClock, SystemEntropy};
use scion::ports::{CredentialProvider, TaskQueue, WorkAdmission};
use scion::sink::Access;
use scion_domain::id::ConnectorName;
use scion_engine::{EngineSettings, EngineWork};

use crate::output::Refused;
use crate::place;

/// Names the variable that says where the engine is.
const ENDPOINT: &str = "EPISTEMIC_GRAPH_ENDPOINT";
/// What a worker and an operator sign for.
const SCOPES: [&str; 11] = [
    "service:control",
    "work:submit",
    "work:claim",
    "work:read",
    "work:write",
    "capacity:read",
    "capacity:lease",
    "capacity:admin",
    "kv:read",
    "kv:write",
    "kv:shared:write",
];

/// Where the queue is.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueueArgs {
    /// The engine that keeps the queue: unix:///PATH or tcp://127.0.0.1:PORT.
    /// Its secret and names come from the EPISTEMIC_GRAPH_ variables.
    /// Default: $EPISTEMIC_GRAPH_ENDPOINT, else the queue is in the embedded
    /// store.
    #[arg(long, value_name = "URL", verbatim_doc_comment)]
    pub(crate) engine_endpoint: Option<String>,

    /// The state directory, with the queue in its embedded store. Default:
    /// $CONNECTOR_DATA_DIR, else $XDG_DATA_HOME/agent-connectors, else
    /// ~/.local/share/agent-connectors.
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(crate) state_dir: Option<PathBuf>,

    /// The lane of the queue. Default: ingest.
    #[arg(long, value_name = "NAME", default_value = "ingest", hide_default_value = true, verbatim_doc_comment)]
    pub(crate) lane: String,
}

/// An open queue.
pub(crate) struct OpenQueue {
    pub(crate) queue: Arc<dyn TaskQueue>,
    pub(crate) admission: Arc<dyn WorkAdmission>,
}

impl QueueArgs {
    /// Opens it; an engine is not asked yet.
    pub(crate) async fn open(
        &self,
        access: Access,
        credentials: impl FnOnce() -> Result<Arc<dyn CredentialProvider>, Refused>,
    ) -> Result<OpenQueue, Refused> {
        let mut environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        if let Some(endpoint) = &self.engine_endpoint {
            environment.insert(ENDPOINT.to_owned(), endpoint.clone());
        }
        if environment.get(ENDPOINT).is_some_and(|endpoint| !endpoint.trim().is_empty()) {
            return engine(&environment, credentials).await;
        }
        let state_dir = place::state_dir(self.state_dir.as_deref())?;
        if access == Access::Write {
            place::make(&state_dir)?;
        }
        let opened = scion::work::open_embedded(&state_dir, access).await?;
        Ok(OpenQueue { queue: opened.clone(), admission: opened })
    }
}

async fn engine(
    environment: &BTreeMap<String, String>,
    credentials: impl FnOnce() -> Result<Arc<dyn CredentialProvider>, Refused>,
) -> Result<OpenQueue, Refused> {
    let mut settings = EngineSettings::from_environment(environment)?;
    settings.context.scopes = SCOPES.map(str::to_owned).to_vec();
    let graph = settings.graph.clone();
    let connector = ConnectorName::parse("engine").expect("a plain word is a connector's name");
    let (clock, entropy) = (Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
    let client = settings.client(&*credentials()?, &connector, clock, entropy).await?;
    let work = Arc::new(EngineWork::new(client, graph));
    Ok(OpenQueue { queue: work.clone(), admission: work })
}
