//! How a configured connector is reached.

use std::sync::{Arc, LazyLock};

use scion::EndpointExchange;
use scion::http::Dialer;
use scion::local::EnvCredentials;
use scion::mcp_client::McpClient;
use scion::ports::{CredentialProvider, HttpDialer, McpConnector};
use scion_domain::config::{ConnectorConfig, EndpointTarget};

/// Resolves `env://` references, at each use.
pub(crate) fn credentials() -> Arc<dyn CredentialProvider> {
    Arc::new(EnvCredentials::of_process())
}

/// The one dialer of the process.
fn dialer() -> Arc<dyn HttpDialer> {
    static DIALER: LazyLock<Arc<Dialer>> = LazyLock::new(|| Arc::new(Dialer::builder().build()));
    Arc::<Dialer>::clone(&DIALER)
}

/// Opens sessions on behalf of one connector. Its endpoint is dialled as the operator configured it, and no other host is.
pub(crate) fn client(config: &ConnectorConfig) -> Arc<dyn McpConnector> {
    let builder = McpClient::builder(config.connector.clone()).credentials(credentials());
    Arc::new(match &config.endpoint.target {
        EndpointTarget::Url { url, .. } => builder.http(Arc::new(EndpointExchange::new(dialer(), url))).build(),
        EndpointTarget::Command { .. } => builder.build(),
    })
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
