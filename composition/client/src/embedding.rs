//! The one client for vectors of texts (SDK-CONNECTOR-CONTROL-R014.22), for connectors that keep vectors in a store of their own.

use std::fmt;
use std::sync::{Arc, OnceLock};

use scion_domain::auth::Bearer;
use scion_domain::embedding::{self, EmbeddingRefusal};
use scion_domain::http::{ExchangeLimits, Url};
use scion_domain::refusal::Refusal;
use scion_domain::settings::EmbeddingSettings;
use tokio::sync::Mutex;

use crate::refusal::answers_as_inner;
use crate::{ClientPorts, ClientRefusal, GovernedClient};

/// How many different settings are kept open.
const MAX_MODELS: usize = 64;
/// The largest answer to one batch, in bytes.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;

/// Why texts have no vectors. None of it holds a text, a vector, the key or words of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmbeddingFailure {
    /// The call.
    Client(ClientRefusal),
    /// The texts, or the answer.
    Embedding(EmbeddingRefusal),
}

impl EmbeddingFailure {
    fn inner(&self) -> &dyn Refusal {
        match self {
            Self::Client(refusal) => refusal,
            Self::Embedding(refusal) => refusal,
        }
    }
}

answers_as_inner!(EmbeddingFailure: ClientRefusal => Client, EmbeddingRefusal => Embedding);

/// Hands out models; the same settings get the same one, with its connections and its known dimension.
pub struct EmbeddingModels {
    connector: String,
    ports: ClientPorts,
    open: Mutex<Vec<Arc<EmbeddingModel>>>,
}

impl fmt::Debug for EmbeddingModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingModels").field("connector", &self.connector).finish_non_exhaustive()
    }
}

impl EmbeddingModels {
    /// For a connector, which the key's reference is scoped to.
    pub fn new(connector: &str, ports: ClientPorts) -> Self {
        Self { connector: connector.to_owned(), ports, open: Mutex::new(Vec::new()) }
    }

    /// The model of some settings. It opens no connection yet.
    pub async fn model(&self, settings: &EmbeddingSettings) -> Result<Arc<EmbeddingModel>, EmbeddingFailure> {
        let mut open = self.open.lock().await;
        if let Some(model) = open.iter().find(|model| model.settings == *settings) {
            return Ok(model.clone());
        }
        let model = Arc::new(EmbeddingModel::open(&self.connector, settings, &self.ports).await?);
        if open.len() == MAX_MODELS {
            open.remove(0);
        }
        open.push(model.clone());
        Ok(model)
    }
}

/// A model that makes vectors of texts.
#[derive(Debug)]
pub struct EmbeddingModel {
    settings: EmbeddingSettings,
    client: GovernedClient,
    path: &'static str,
    dimension: OnceLock<usize>,
}

impl EmbeddingModel {
    async fn open(
        connector: &str,
        settings: &EmbeddingSettings,
        ports: &ClientPorts,
    ) -> Result<Self, EmbeddingFailure> {
        let limits = ExchangeLimits { body_bytes: MAX_ANSWER, total: settings.timeout, ..ExchangeLimits::default() };
        // Every address is checked and pinned, and a redirect is an answer: both are the client's own rules.
        let mut builder = GovernedClient::builder(connector).base_url(&settings.base_url)?.limits(limits);
        for host in &settings.private_hosts {
            builder = builder.allow_private_host(host);
        }
        if settings.is_local() {
            builder = builder.allow_loopback();
        }
        if let Some(key) = &settings.key {
            builder = builder.auth(Bearer::reference(&key.to_string()));
        }
        let base = Url::parse(&settings.base_url);
        let path = embedding::endpoint(settings.provider, base.as_ref().map_or("", Url::path));
        let dimension = OnceLock::new();
        if let Some(known) = settings.dimension {
            dimension.get_or_init(|| known);
        }
        Ok(Self { settings: settings.clone(), client: builder.build_with(ports).await?, path, dimension })
    }

    /// The length of its vectors, once it is known.
    pub fn dimension(&self) -> Option<usize> {
        self.dimension.get().copied()
    }

    /// One vector for each text, in their order. Texts are sent in batches; when one fails, nothing is answered.
    pub async fn embed<T: AsRef<str> + Sync>(&self, texts: &[T]) -> Result<Vec<Vec<f32>>, EmbeddingFailure> {
        embedding::check_texts(texts)?;
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.settings.batch.max(1)) {
            let body = embedding::request(&self.settings.model, batch);
            // The same texts give the same vectors, so a failed call may be made again.
            let answer = self.client.post(self.path).json_value(&body).safe().bytes().await?;
            let found = embedding::read(self.settings.provider, &answer, batch.len(), self.dimension())?;
            if let Some(first) = found.first() {
                let known = *self.dimension.get_or_init(|| first.len());
                if known != first.len() {
                    return Err(EmbeddingRefusal::Dimension { expected: known, found: first.len() }.into());
                }
            }
            vectors.extend(found);
        }
        Ok(vectors)
    }
}
