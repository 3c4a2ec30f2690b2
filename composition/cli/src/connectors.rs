//! How a configured connector is reached.

use std::sync::Arc;

use scion::http::Outbound;
use scion::mcp_client::McpClient;
use scion::ports::{CredentialProvider, McpConnector};
use scion_domain::config::{ConnectorConfig, EndpointSpec, EndpointTarget};
use scion_domain::id::ConnectorName;
use scion_domain::outbound::OutboundSettingRefusal;

/// The way to every configured connector: the one dialer and the one resolver of the process.
#[derive(Clone)]
pub(crate) struct Connectors {
    outbound: Outbound,
}

impl Connectors {
    /// As the environment of the process says.
    pub(crate) fn of_process() -> Result<Self, OutboundSettingRefusal> {
        Outbound::of_process().map(|outbound| Self { outbound })
    }

    /// Resolves references, at each use.
    pub(crate) fn credentials(&self) -> Arc<dyn CredentialProvider> {
        self.outbound.credentials()
    }

    /// Everything else of the way out.
    pub(crate) fn outbound(&self) -> &Outbound {
        &self.outbound
    }

    /// Opens sessions on behalf of one connector. Its endpoint and its authorization server are dialled as the operator
    /// configured them, and no other host that is not public.
    pub(crate) fn client(&self, config: &ConnectorConfig) -> Arc<dyn McpConnector> {
        self.client_with(&config.connector, &config.endpoint, self.credentials())
    }

    /// The same with references resolved in another way.
    pub(crate) fn client_with(
        &self,
        name: &ConnectorName,
        endpoint: &EndpointSpec,
        credentials: Arc<dyn CredentialProvider>,
    ) -> Arc<dyn McpConnector> {
        let mut builder = McpClient::builder(name.clone()).credentials(credentials);
        if let EndpointTarget::Url { url, client_credentials, .. } = &endpoint.target {
            builder = builder.http(Arc::new(self.outbound.endpoint(name, url)));
            if let Some(client) = client_credentials {
                let authority = Arc::new(self.outbound.endpoint(name, client.authority()));
                builder = builder.oauth(self.outbound.auth(), authority);
            }
        }
        Arc::new(builder.build())
    }
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
