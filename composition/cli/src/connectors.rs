//! How a configured connector is reached.

use std::sync::Arc;

use scion::local::EnvCredentials;
use scion::mcp_client::McpClient;
use scion::ports::{CredentialProvider, McpConnector};
use scion_domain::config::{ConnectorConfig, EndpointTarget};

/// Resolves `env://` references, at each use.
pub(crate) fn credentials() -> Arc<dyn CredentialProvider> {
    Arc::new(EnvCredentials::of_process())
}

/// Opens sessions on behalf of one connector.
pub(crate) fn client(config: &ConnectorConfig) -> Arc<dyn McpConnector> {
    Arc::new(McpClient::builder(config.connector.clone()).credentials(credentials()).build())
}

/// Every reference of an endpoint with the setting it stands in.
pub(crate) fn references(config: &ConnectorConfig) -> Vec<(String, &str)> {
    match &config.endpoint.target {
        EndpointTarget::Url { bearer_token, client_credentials, .. } => {
            let secret = client_credentials.as_ref().map(|client| client.client_secret_ref.as_str());
            let settings = [
                ("endpoint.bearer_token", Some(bearer_token.as_str())),
                ("endpoint.client_credentials.client_secret_ref", secret),
            ];
            let set = settings.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
            set.filter(|(_, text)| !text.is_empty()).collect()
        }
        EndpointTarget::Command { env, .. } => {
            env.iter().map(|(name, text)| (format!("endpoint.env.{name}"), text.as_str())).collect()
        }
    }
}
