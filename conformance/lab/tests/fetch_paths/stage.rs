//! What every fetch path gets: one dialer with a strict policy, a hostile server that may be dialled, and places that may not.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{ExchangeLimits, HttpProfile, HttpRefusal, Url};
use scion_domain::proxy::{ProxyProfile, ProxyProfiles};
use scion_domain::secret::Secret;
use scion_domain::tls::{Material, TlsProfile, TlsProfiles, Trust};
use scion_http::Dialer;
use scion_lab::{
    Answer, Behaviour, ConnectProxy, Lab, LabBuilder, ProxyPlan, Received, ScriptedResolver, TestCa, TlsSetup,
};
use scion_ports::{CredentialProvider, HttpDialer, HttpExchange, async_trait};

use crate::paths::{FetchPath, SMALL};

/// The credential every fetch path sends.
pub(crate) const SECRET: &str = "lab-secret-5f1c93";

/// The servers and the dialer of one test.
pub(crate) struct World {
    /// A server nobody may reach.
    pub(crate) inside: Lab,
    /// A server that may be reached and may see no credential; https.
    pub(crate) elsewhere: Lab,
    plain: Lab,
    /// What every client trusts.
    pub(crate) ca: TestCa,
    dialer: Arc<dyn HttpDialer>,
    tunnel: ConnectProxy,
    /// Held by a case that may hold much.
    pub(crate) alone: tokio::sync::Mutex<()>,
    _trust: tempfile::NamedTempFile,
}

/// What one run of a fetch path gets.
#[derive(Clone)]
pub(crate) struct Stage {
    /// Opens clients.
    pub(crate) dialer: Arc<dyn HttpDialer>,
    /// Trusts the test's authority and may dial `lab.test` and `elsewhere.test`, nothing else on this machine.
    pub(crate) profile: HttpProfile,
    /// The root of the hostile server.
    pub(crate) base: Url,
}

impl World {
    pub(crate) async fn new() -> Self {
        let ca = TestCa::new("lab root");
        let trust = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(trust.path(), ca.pem()).unwrap();
        let bundle = Material::File(trust.path().to_owned());
        let profile = TlsProfile { trust: Trust::Private(bundle), ..TlsProfile::default() };
        let resolver = ["lab.test", "elsewhere.test", "inside.test", "localhost", "metadata.google.internal"]
            .into_iter()
            .fold(ScriptedResolver::new(), |resolver, name| resolver.name(name, &["127.0.0.1"]));
        let tunnel = ConnectProxy::start(ProxyPlan::default()).await;
        let dialer = Dialer::builder()
            .tls_profiles(TlsProfiles::new().with("lab", profile).unwrap())
            .proxies(ProxyProfiles::new().with("lab", ProxyProfile::parse(&tunnel.url()).unwrap()).unwrap())
            .resolver(Arc::new(resolver))
            .build();
        let elsewhere =
            Answer::json(&serde_json::json!({"items": [], "access_token": "elsewhere", "token_type": "Bearer"}));
        Self {
            inside: Lab::always(Answer::ok("inside")).await,
            elsewhere: Lab::builder()
                .tls(TlsSetup::new(ca.server(&["elsewhere.test"])))
                .always(elsewhere.clone())
                .await,
            plain: Lab::always(elsewhere).await,
            ca,
            dialer: Arc::new(dialer),
            tunnel,
            alone: tokio::sync::Mutex::default(),
            _trust: trust,
        }
    }

    /// A server for one run of a path, and the stage that leads to it.
    pub(crate) async fn serve(
        &self,
        path: &'static FetchPath,
        script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static,
    ) -> (Lab, Stage) {
        let tls = path.tls.then(|| TlsSetup::new(self.ca.server(&["lab.test"])).http2());
        self.serve_with(path, tls, script).await
    }

    /// The same with another TLS.
    pub(crate) async fn serve_with(
        &self,
        path: &'static FetchPath,
        tls: Option<TlsSetup>,
        script: impl Fn(&Received) -> Behaviour + Send + Sync + 'static,
    ) -> (Lab, Stage) {
        self.start(path, tls, move |received, _| script(received)).await
    }

    /// A server whose answers depend on where it is.
    pub(crate) async fn serve_knowing(
        &self,
        path: &'static FetchPath,
        script: impl Fn(&Received, &Stage) -> Behaviour + Send + Sync + 'static,
    ) -> (Lab, Stage) {
        let tls = path.tls.then(|| TlsSetup::new(self.ca.server(&["lab.test"])).http2());
        self.start(path, tls, script).await
    }

    async fn start(
        &self,
        path: &'static FetchPath,
        tls: Option<TlsSetup>,
        script: impl Fn(&Received, &Stage) -> Behaviour + Send + Sync + 'static,
    ) -> (Lab, Stage) {
        let known: Arc<OnceLock<Stage>> = Arc::default();
        let told = Arc::clone(&known);
        let script = move |received: &Received| {
            // Nobody knows the address before it is told.
            let stage = told.get().unwrap();
            (path.prologue)(received, stage).map_or_else(|| script(received, stage), Behaviour::from)
        };
        let builder = tls.into_iter().fold(Lab::builder(), LabBuilder::tls);
        let lab = builder.scripted(script).await;
        let egress = EgressPolicy {
            allowed_private_hosts: vec!["lab.test".to_owned(), "elsewhere.test".to_owned()],
            ..EgressPolicy::default()
        };
        let stage = Stage {
            dialer: Arc::clone(&self.dialer),
            profile: HttpProfile { egress, tls: Some("lab".to_owned()), proxy: None },
            base: lab.url_as("lab.test", "/"),
        };
        assert!(known.set(stage.clone()).is_ok());
        (lab, stage)
    }

    /// A place for plain http that may be reached.
    pub(crate) fn plain_elsewhere(&self) -> String {
        self.plain.url_as("elsewhere.test", "/there").to_string()
    }

    pub(crate) fn assert_nobody_came_inside(&self) {
        assert_eq!(self.inside.connections(), 0, "somebody came inside: {:?}", self.inside.received());
        // A proxy that is asked for the inside would get there; it dials whatever it is asked for.
        let inside = format!(":{}", self.inside.port());
        assert!(self.tunnel.targets().iter().all(|target| !target.ends_with(&inside)), "{:?}", self.tunnel.targets());
    }

    pub(crate) fn assert_secret_stayed_home(&self) {
        for lab in [&self.elsewhere, &self.plain] {
            for received in lab.received() {
                assert!(!tells(&received), "the secret went elsewhere: {received:?}");
            }
        }
        assert!(!leaks(&format!("{:?}", self.tunnel.received())), "the proxy saw the secret");
    }
}

impl Stage {
    /// A client of the dialer.
    pub(crate) async fn exchange(&self) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        self.dialer.open(&self.profile).await
    }

    /// Bounds that every hostile answer exceeds soon, and no honest one on a busy machine.
    pub(crate) fn limits() -> ExchangeLimits {
        ExchangeLimits {
            body_bytes: SMALL,
            connect: Duration::from_secs(4),
            idle: Duration::from_millis(1200),
            total: Duration::from_secs(4),
            ..ExchangeLimits::default()
        }
    }
}

/// Resolves every reference to the secret.
pub(crate) struct OneSecret;

#[async_trait]
impl CredentialProvider for OneSecret {
    async fn resolve(&self, _: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        Ok(Secret::new(SECRET.to_owned()))
    }
}

/// Whether a text holds the secret, plain or inside base64.
pub(crate) fn leaks(text: &str) -> bool {
    [SECRET, "bGFiLXNlY3JldC01ZjFjOT", "hYi1zZWNyZXQtNWYxYzkz", "sYWItc2VjcmV0LTVmMWM5"]
        .iter()
        .any(|form| text.contains(form))
}

/// Whether a request holds the secret, its body included.
pub(crate) fn tells(received: &Received) -> bool {
    leaks(&format!("{received:?}")) || leaks(&received.text())
}
