//! Durable graphs by name.
//!
//! A command finds its sink in a [`SinkRegistry`] by the name an operator writes (`--sink`). [`SinkRegistry::builtin`] holds
//! what this build was compiled with; an embedder adds its own with [`SinkRegistry::with`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use scion_domain::extension::ExtensionKind;
use scion_domain::sink::StoreRefusal;
use scion_ports::{CheckpointStore, GraphQuery, KeyValueStore, RecordDigests, Sink, StreamCatalog, async_trait};

#[cfg(feature = "embedded")]
mod embedded;

#[cfg(feature = "embedded")]
pub use embedded::{EMBEDDED, EmbeddedSinks, STORE_FILE};

#[cfg(feature = "embedded")]
mod ephemeral;

#[cfg(feature = "embedded")]
pub use ephemeral::{EPHEMERAL, EphemeralSinks};

#[cfg(feature = "engine")]
mod engine;

#[cfg(feature = "engine")]
pub use engine::{ENGINE, EngineSinks};

/// The ports of one open graph.
#[derive(Clone)]
pub struct OpenSink {
    /// Accepts batches.
    pub sink: Arc<dyn Sink>,
    /// Knows which records are unchanged.
    pub digests: Arc<dyn RecordDigests>,
    /// Keeps the progress of streams.
    pub checkpoints: Arc<dyn CheckpointStore>,
    /// Answers SPARQL; `None` when another system answers it.
    pub query: Option<Arc<dyn GraphQuery>>,
    /// Lists streams; `None` when the graph cannot.
    pub catalog: Option<Arc<dyn StreamCatalog>>,
    /// Keeps small values; `None` when the graph does not.
    pub key_values: Option<Arc<dyn KeyValueStore>>,
    /// What must live as long as the graph is used, such as the folder of one that is not kept.
    pub keep: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

/// What to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkRequest {
    /// The directory for state. It exists when `access` is [`Access::Write`].
    pub state_dir: PathBuf,
    /// One file instead of the directory's own, for sinks that keep one.
    pub store_file: Option<PathBuf>,
    /// What for.
    pub access: Access,
}

/// What a sink is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading what is there, while others may write. Nothing is made.
    Read,
    /// Reading and writing. What is missing is made.
    Write,
}

/// Opens sinks of one kind.
#[async_trait]
pub trait SinkFactory: Send + Sync {
    /// The name operators write: lower-case letters, digits and `_`.
    fn name(&self) -> &str;

    /// Where the sink of a request keeps its data, for messages: a path or an address, never a credential.
    fn place(&self, request: &SinkRequest) -> String;

    /// Opens one.
    async fn open(&self, request: &SinkRequest) -> Result<OpenSink, StoreRefusal>;
}

/// Sinks by name.
#[derive(Clone, Default)]
pub struct SinkRegistry {
    factories: BTreeMap<String, Arc<dyn SinkFactory>>,
}

impl SinkRegistry {
    /// A registry without any sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sinks this build was compiled with.
    pub fn builtin() -> Self {
        let registry = Self::new();
        #[cfg(feature = "embedded")]
        let registry = registry.with(Arc::new(EmbeddedSinks)).with(Arc::new(EphemeralSinks));
        #[cfg(feature = "engine")]
        let registry = registry.with(Arc::new(EngineSinks::default()));
        registry
    }

    /// Adds a kind of sink; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, factory: Arc<dyn SinkFactory>) -> Self {
        self.factories.insert(factory.name().to_owned(), factory);
        self
    }

    /// The kind of that name, or of that key: `embedded` or `scion.sinks/embedded`.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn SinkFactory>> {
        self.factories.get(ExtensionKind::Sinks.name_in(name))
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.factories.keys().map(String::as_str)
    }
}

impl std::fmt::Debug for SinkRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
