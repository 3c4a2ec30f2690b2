//! TLS and mutual TLS to a real engine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::engine::EngineRefusal;
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_engine::{EngineClient, EngineSettings};
use scion_lab::{Identity, TestCa};
use scion_local::{SystemClock, SystemEntropy};
use scion_ports::{CredentialProvider, async_trait};
use support::{Engine, Mode};

/// The references of the test.
struct Held(BTreeMap<&'static str, String>);

#[async_trait]
impl CredentialProvider for Held {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let held = self.0.iter().find(|(name, _)| request.reference.to_string() == **name);
        let missing = || CredentialRefusal::Missing { reference: request.reference.to_string() };
        held.map(|(_, value)| Secret::new(value.clone())).ok_or_else(missing)
    }
}

struct Setup {
    folder: tempfile::TempDir,
    ca: TestCa,
    server: Identity,
    client: Identity,
    port: u16,
}

impl Setup {
    fn new() -> Self {
        let ca = TestCa::new("engine authority");
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let (server, client) = (ca.server(&["engine.test"]), ca.client("service:connector"));
        let setup = Self { folder: tempfile::tempdir().unwrap(), ca, server, client, port };
        setup.write("ca.pem", &setup.ca.pem());
        setup.write("server.pem", &setup.server.certificate_pem);
        setup.write("server.key", &setup.server.key_pem);
        setup
    }

    fn write(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;

        std::fs::write(self.path(name), text).unwrap();
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn path(&self, name: &str) -> String {
        Path::new(self.folder.path()).join(name).display().to_string()
    }

    async fn engine(&self, mutual: bool) -> Option<Engine> {
        let mut arguments = vec!["--tcp-addr".to_owned(), format!("127.0.0.1:{}", self.port)];
        arguments.extend(["--tcp-tls-cert".to_owned(), self.path("server.pem")]);
        arguments.extend(["--tcp-tls-key".to_owned(), self.path("server.key")]);
        if mutual {
            arguments.extend(["--tcp-tls-client-ca".to_owned(), self.path("ca.pem")]);
        }
        Engine::start_with(Mode::Signed, &arguments).await
    }

    /// A client from an environment; the secrets come from references.
    async fn client(&self, more: &[(&str, &str)]) -> Result<EngineClient, EngineRefusal> {
        let mut environment = BTreeMap::from([
            ("EPISTEMIC_GRAPH_ENDPOINT".to_owned(), format!("tls://127.0.0.1:{}", self.port)),
            ("EPISTEMIC_GRAPH_AUTH_SECRET_REF".to_owned(), "env://ENGINE_SECRET".to_owned()),
            ("EPISTEMIC_GRAPH_TENANT".to_owned(), "tenant:acme".to_owned()),
            ("EPISTEMIC_GRAPH_PRINCIPAL".to_owned(), "service:root".to_owned()),
            ("GRAPH_SERVICE_RPC_TIMEOUT".to_owned(), "10".to_owned()),
        ]);
        environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut settings = EngineSettings::from_environment(&environment)?;
        settings.context.scopes = vec!["*".to_owned()];
        settings.context.roles.clear();
        let held = Held(BTreeMap::from([
            ("env://ENGINE_SECRET", support::SECRET.to_owned()),
            ("env://ENGINE_CERT", self.client.certificate_pem.clone()),
            ("env://ENGINE_KEY", self.client.key_pem.clone()),
            ("env://ENGINE_CA", self.ca.pem()),
            ("env://NOT_PEM", "nonsense".to_owned()),
        ]));
        let connector = ConnectorName::parse("desk-mcp").unwrap();
        settings.client(&held, &connector, Arc::new(SystemClock::new()), Arc::new(SystemEntropy)).await
    }
}

const NAME: (&str, &str) = ("GRAPH_SERVICE_TLS_SERVER_NAME", "engine.test");
const CA: (&str, &str) = ("GRAPH_SERVICE_TLS_CA", "env://ENGINE_CA");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_is_verified_before_anything_is_sent() {
    let setup = Setup::new();
    let Some(_engine) = setup.engine(false).await else { return };
    let file = setup.path("ca.pem");
    for ca in [CA, ("GRAPH_SERVICE_TLS_CA", file.as_str())] {
        setup.client(&[ca, NAME]).await.unwrap().ping().await.unwrap();
    }
    // Another name, another authority, the platform's authorities: each is a refusal, not a warning.
    let other = TestCa::new("another authority");
    setup.write("other.pem", &other.pem());
    let elsewhere = setup.path("other.pem");
    for wrong in [vec![CA], vec![("GRAPH_SERVICE_TLS_CA", elsewhere.as_str()), NAME], vec![NAME]] {
        let refusal = setup.client(&wrong).await.unwrap().ping().await.unwrap_err();
        assert!(matches!(refusal, EngineRefusal::Tls { .. }), "{wrong:?}: {refusal}");
    }
    // What cannot be had or read is said before anything is dialled.
    let missing = setup.client(&[("GRAPH_SERVICE_TLS_CA", "env://NOWHERE")]).await.unwrap_err();
    assert!(matches!(missing, EngineRefusal::Secret { name: "GRAPH_SERVICE_TLS_CA" }), "{missing}");
    let unusable = setup.client(&[("GRAPH_SERVICE_TLS_CA", "env://NOT_PEM")]).await.unwrap_err();
    assert!(matches!(unusable, EngineRefusal::Setting { name: "GRAPH_SERVICE_TLS_CA", .. }), "{unusable}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_shows_its_certificate_where_the_engine_asks_for_one() {
    let setup = Setup::new();
    let Some(mut engine) = setup.engine(true).await else { return };
    let own =
        [("GRAPH_SERVICE_TLS_CLIENT_CERT", "env://ENGINE_CERT"), ("GRAPH_SERVICE_TLS_CLIENT_KEY", "env://ENGINE_KEY")];
    let client = setup.client(&[CA, NAME, own[0], own[1]]).await.unwrap();
    client.ping().await.unwrap();
    engine.crash_and_restart().await;
    client.ping().await.unwrap();
    // TLS 1.3 lets a client learn of its missing certificate only when it reads.
    let refusal = setup.client(&[CA, NAME]).await.unwrap().ping().await.unwrap_err();
    assert!(matches!(refusal, EngineRefusal::Closed { .. } | EngineRefusal::Tls { .. }), "{refusal}");
}
