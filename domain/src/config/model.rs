//! The shapes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::auth::{self, AuthDeclaration, SecretSlot};
use crate::id::{ConnectorName, StreamName};

/// A whole configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerConfig {
    /// Settings of the process.
    pub settings: RunnerSettings,
    /// The connectors, names unique.
    pub connectors: Vec<ConnectorConfig>,
}

/// Settings of the process.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerSettings {
    /// Connectors that sync at once: 1 to 256; 4 when silent.
    pub max_concurrency: usize,
    /// The first delay after a failure; 5 s when silent.
    pub backoff_initial: Duration,
    /// The longest delay after failures; 600 s when silent; not below the first.
    pub backoff_max: Duration,
    /// How often the configuration is read again; 60 s when silent.
    pub registry_refresh: Duration,
}

/// One connector.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorConfig {
    /// Its fleet name.
    pub connector: ConnectorName,
    /// Where its server is.
    pub endpoint: EndpointSpec,
    /// The presets to sync; empty means all declared ones.
    pub presets: Vec<StreamName>,
    /// Import the declaration before syncing; true when silent.
    pub provision: bool,
    /// The time between cycles; 900 s when silent.
    pub interval: Duration,
    /// Resource URI to the presets an update of it triggers.
    pub data_resources: BTreeMap<String, Vec<StreamName>>,
    /// The mapping of records without their own type; empty means `connector:<name>`.
    pub mapping_reference: String,
    /// The operator's words that an empty authoritative snapshot is meant.
    pub empty_authoritative_approval: String,
    /// Pages of one cycle: 1 to 1,000,000; 1,000 when silent.
    pub max_pages_per_cycle: u32,
    /// Leave out the edges to other sources where the graph has none between streams; false when silent, which refuses such a
    /// source.
    pub leave_out_foreign_edges: bool,
}

/// How to reach a server.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointSpec {
    /// A URL or a command.
    pub target: EndpointTarget,
    /// The longest a single operation may take; 60 s when silent.
    pub timeout: Duration,
}

/// A URL or a command.
#[derive(Clone, Debug, PartialEq)]
pub enum EndpointTarget {
    /// Streamable HTTP.
    Url {
        /// The endpoint.
        url: String,
        /// A reference to a bearer token; empty for none. Never a value.
        bearer_token: String,
        /// An OAuth client, instead of a bearer token.
        client_credentials: Option<ClientCredentials>,
    },
    /// stdio.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Environment name to a reference. Never a value.
        env: BTreeMap<String, String>,
    },
}

/// An OAuth client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCredentials {
    /// The issuer to discover the token endpoint from; exclusive with `token_url`.
    pub issuer: String,
    /// The token endpoint.
    pub token_url: String,
    /// The client id.
    pub client_id: String,
    /// A reference to the secret.
    pub client_secret_ref: String,
    /// The audience.
    pub audience: String,
    /// The scope.
    pub scope: String,
}

impl ClientCredentials {
    /// The declaration that authenticates with it. A secret that is no reference stays behind as an empty slot, which the
    /// declaration's own check refuses by name.
    pub fn declaration(&self) -> AuthDeclaration {
        auth::ClientCredentials {
            issuer: self.issuer.clone(),
            token_url: self.token_url.clone(),
            client_id: self.client_id.clone(),
            client_secret_ref: SecretSlot::reference(&self.client_secret_ref),
            audience: self.audience.clone(),
            scope: self.scope.clone(),
            ..auth::ClientCredentials::default()
        }
        .into()
    }

    /// Where the authorization server is: the issuer or the token endpoint.
    pub fn authority(&self) -> &str {
        if self.issuer.is_empty() { &self.token_url } else { &self.issuer }
    }
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            max_concurrency: 4,
            backoff_initial: Duration::from_secs(5),
            backoff_max: Duration::from_mins(10),
            registry_refresh: Duration::from_mins(1),
        }
    }
}

impl ConnectorConfig {
    /// The time between cycles of a silent configuration.
    pub const DEFAULT_INTERVAL: Duration = Duration::from_mins(15);
    /// The page budget of a silent configuration.
    pub const DEFAULT_MAX_PAGES: u32 = 1000;
}

impl EndpointSpec {
    /// The timeout of a silent configuration.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
}
