//! Whether every reference of a connector resolves. Values are dropped at once.

use scion_domain::config::{ConnectorConfig, EndpointTarget};
use scion_domain::credential::{CredentialRequest, SecretRef};
use scion_ports::CredentialProvider;

/// Resolves every reference of the endpoint; the error names the setting and the reason.
pub(super) async fn check(provider: &dyn CredentialProvider, config: &ConnectorConfig) -> Result<(), String> {
    for (setting, text) in references(config) {
        let reference = SecretRef::parse(text).map_err(|refusal| format!("{setting}: {refusal}"))?;
        let request = CredentialRequest { connector: config.connector.clone(), reference };
        provider.resolve(&request).await.map_err(|refusal| format!("{setting}: {refusal}"))?;
    }
    Ok(())
}

fn references(config: &ConnectorConfig) -> Vec<(String, &str)> {
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
