//! The settings of an engine, from the environment (SDK-CONNECTOR-CONTROL-R014.24).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use scion_domain::credential::{CredentialRequest, SecretRef};
use scion_domain::engine::EngineRefusal;
use scion_domain::id::ConnectorName;
use scion_ports::{Clock, CredentialProvider, Entropy};

use crate::client::{EngineClient, EngineOptions, Identity};
use crate::endpoint::Endpoint;
use crate::envelope::RequestContext;
use crate::frame::FRAME_CEILING;
use crate::tls::EngineTlsSettings;

/// The scopes a connector signs with.
const SCOPES: [&str; 2] = ["source:ingest", "blob:write"];
const ROLE: &str = "connector";

/// Where an engine is and in whose name it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// `EPISTEMIC_GRAPH_ENDPOINT`, else the socket `GRAPH_SERVICE_SOCKET`, else `epistemic-graph.sock` in `XDG_RUNTIME_DIR`.
    pub endpoint: Endpoint,
    /// How a `tls://` endpoint is verified, and what is shown to it: `GRAPH_SERVICE_TLS_CA` (the platform's roots without it),
    /// `GRAPH_SERVICE_TLS_CLIENT_CERT` and `_CLIENT_KEY` (absolute paths or secret references) and `GRAPH_SERVICE_TLS_SERVER_NAME`.
    pub tls: EngineTlsSettings,
    /// `EPISTEMIC_GRAPH_AUTH_SECRET_REF`: where the shared secret is; `None` for an engine without authentication.
    pub secret: Option<SecretRef>,
    /// `EPISTEMIC_GRAPH_GRAPH`: the graph that records go to.
    pub graph: String,
    /// What is signed: `EPISTEMIC_GRAPH_PRINCIPAL` (`service:connector`), `_TENANT`, `_AUDIENCE` (`epistemic-graph`) and
    /// `_POLICY_VERSION` (`policy:current`), the role `connector` and the scopes of a connector.
    pub context: RequestContext,
    /// `GRAPH_SERVICE_CONNECT_TIMEOUT` (10) and `GRAPH_SERVICE_RPC_TIMEOUT` (60) in seconds, and
    /// `EPISTEMIC_GRAPH_MAX_RESPONSE_BYTES` (64 MiB).
    pub options: EngineOptions,
}

impl EngineSettings {
    /// Reads the settings. An empty variable counts as absent; a secret is named by reference only.
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Result<Self, EngineRefusal> {
        let get = |name: &str| environment.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
        let text = |name: &'static str, default: &str| {
            let value = get(name).unwrap_or(default);
            if value.is_empty() {
                return Err(EngineRefusal::Setting { name, what: "is not set" });
            }
            if value.len() > 1024 || value.chars().any(char::is_control) {
                return Err(EngineRefusal::Setting {
                    name,
                    what: "must have at most 1024 characters, none of them control characters",
                });
            }
            Ok(value.to_owned())
        };
        let number = |name: &'static str, default: u64, range: std::ops::RangeInclusive<u64>, what: &'static str| {
            let Some(value) = get(name) else { return Ok(default) };
            value.parse().ok().filter(|number| range.contains(number)).ok_or(EngineRefusal::Setting { name, what })
        };
        let seconds = |name, default| {
            number(name, default, 1..=3600, "must be a whole number of seconds from 1 to 3600").map(Duration::from_secs)
        };
        let endpoint = match get("EPISTEMIC_GRAPH_ENDPOINT") {
            Some(text) => Endpoint::parse(text)?,
            None => Endpoint::Unix(socket(get("GRAPH_SERVICE_SOCKET"), get("XDG_RUNTIME_DIR"))),
        };
        let tls = EngineTlsSettings::read(get)?;
        let secret = get("EPISTEMIC_GRAPH_AUTH_SECRET_REF").map(|text| {
            let what = "must be a reference such as env://NAME, never the secret itself";
            SecretRef::parse(text).map_err(|_| EngineRefusal::Setting { name: "EPISTEMIC_GRAPH_AUTH_SECRET_REF", what })
        });
        let principal = text("EPISTEMIC_GRAPH_PRINCIPAL", "service:connector")?;
        let ceiling = FRAME_CEILING as u64;
        let frame = number(
            "EPISTEMIC_GRAPH_MAX_RESPONSE_BYTES",
            64 << 20,
            1024..=ceiling,
            "must be a whole number of bytes from 1024 to 402653184",
        )?;
        Ok(Self {
            endpoint,
            tls,
            secret: secret.transpose()?,
            graph: text("EPISTEMIC_GRAPH_GRAPH", crate::COMMONS)?,
            context: RequestContext {
                agent: principal.clone(),
                principal,
                tenant: text("EPISTEMIC_GRAPH_TENANT", "local")?,
                audience: text("EPISTEMIC_GRAPH_AUDIENCE", "epistemic-graph")?,
                roles: vec![ROLE.to_owned()],
                scopes: SCOPES.map(str::to_owned).to_vec(),
                policy_version: text("EPISTEMIC_GRAPH_POLICY_VERSION", "policy:current")?,
                delegation: Vec::new(),
            },
            options: EngineOptions {
                connect_timeout: seconds("GRAPH_SERVICE_CONNECT_TIMEOUT", 10)?,
                request_timeout: seconds("GRAPH_SERVICE_RPC_TIMEOUT", 60)?,
                frame_limit: usize::try_from(frame).unwrap_or(FRAME_CEILING),
                ..EngineOptions::default()
            },
        })
    }
}

impl EngineSettings {
    /// A client as the settings say: the secret and what TLS needs are resolved here. Nothing is dialled yet.
    ///
    /// Refuses [`EngineRefusal::Secret`] and [`EngineRefusal::Setting`].
    pub async fn client(
        &self,
        credentials: &dyn CredentialProvider,
        connector: &ConnectorName,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<EngineClient, EngineRefusal> {
        const NAME: &str = "EPISTEMIC_GRAPH_AUTH_SECRET_REF";
        let identity = match &self.secret {
            None => Identity::Anonymous,
            Some(reference) => {
                let request = CredentialRequest { connector: connector.clone(), reference: reference.clone() };
                let secret = credentials.resolve(&request).await.map_err(|_| EngineRefusal::Secret { name: NAME })?;
                Identity::Signed { context: Arc::new(self.context.clone()), secret }
            }
        };
        if !matches!(self.endpoint, Endpoint::Tls { .. }) {
            return Ok(EngineClient::new(self.endpoint.clone(), identity, self.options, clock, entropy));
        }
        let tls = self.tls.resolve(credentials, connector).await?;
        Ok(EngineClient::with_tls((self.endpoint.clone(), tls), identity, self.options, clock, entropy))
    }
}

fn socket(named: Option<&str>, runtime: Option<&str>) -> PathBuf {
    named.map_or_else(
        || runtime.map_or_else(std::env::temp_dir, PathBuf::from).join("epistemic-graph.sock"),
        PathBuf::from,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<EngineSettings, EngineRefusal> {
        let environment = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        EngineSettings::from_environment(&environment)
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let settings = read(&[("XDG_RUNTIME_DIR", "/run/user/7"), ("EPISTEMIC_GRAPH_TENANT", "")]).unwrap();
        assert_eq!(settings.endpoint, Endpoint::Unix("/run/user/7/epistemic-graph.sock".into()));
        assert_eq!(settings.secret, None);
        let context = settings.context;
        assert_eq!((context.principal.as_str(), context.agent.as_str()), ("service:connector", "service:connector"));
        assert_eq!((context.tenant.as_str(), context.policy_version.as_str()), ("local", "policy:current"));
        assert_eq!(context.scopes, ["source:ingest", "blob:write"]);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.24
    #[test]
    fn the_audience_comes_from_the_environment_and_is_signed() {
        assert_eq!(read(&[]).unwrap().context.audience, "epistemic-graph");
        let settings = read(&[("EPISTEMIC_GRAPH_AUDIENCE", "agent-services")]).unwrap();
        assert_eq!(settings.context.audience, "agent-services");
        let stamp = crate::Stamp { id: 1, graph: "g", timestamp: 1, nonce: "n", idempotency_key: "k" };
        let secret = scion_domain::secret::Secret::new("s".repeat(32));
        let token = |context| crate::sign(&secret, context, &stamp, &crate::Body::unit("Ping"));
        let other = read(&[]).unwrap();
        assert_ne!(token(&settings.context).expose(), token(&other.context).expose());
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (name, value) in [
            ("EPISTEMIC_GRAPH_ENDPOINT", "tcp://10.0.0.1:1"),
            ("EPISTEMIC_GRAPH_AUTH_SECRET_REF", "hunter2 hunter2"),
            ("EPISTEMIC_GRAPH_AUDIENCE", "a\nb"),
            ("GRAPH_SERVICE_TLS_CA", "relative.pem"),
            ("GRAPH_SERVICE_TLS_CLIENT_KEY", "/keys/client.pem"),
            ("GRAPH_SERVICE_TLS_CLIENT_KEY_PASSWORD", "hunter3"),
            ("GRAPH_SERVICE_TLS_SERVER_NAME", "not a name"),
            ("GRAPH_SERVICE_RPC_TIMEOUT", "99999"),
            ("GRAPH_SERVICE_CONNECT_TIMEOUT", "soon"),
            ("EPISTEMIC_GRAPH_MAX_RESPONSE_BYTES", "402653189"),
        ] {
            let refusal = read(&[(name, value)]).unwrap_err();
            assert!(
                matches!(refusal, EngineRefusal::Setting { name: named, .. } if named == name),
                "{name}: {refusal}"
            );
            assert!(!refusal.to_string().contains(value), "{refusal}");
        }
    }
}
