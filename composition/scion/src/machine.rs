//! The way out of this machine, as its operator set it up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scion_auth::OutboundAuth;
use scion_client::ClientPorts;
use scion_credentials::{ResolverChain, default_resolver};
use scion_domain::config::ConfigProblems;
use scion_domain::credential::{OPENBAO_TOKEN_REF, StoreSettingRefusal, StoreSettings};
use scion_domain::id::ConnectorName;
use scion_domain::outbound::{
    CONNECTOR_SECRET_DIRS, OUTBOUND_CONFIG, OutboundSettingRefusal, OutboundSettings, SECRET_DIRS, secret_dirs,
};
use scion_domain::paths::StatePaths;
use scion_domain::tls::TlsProfiles;
use scion_http::Dialer;
use scion_jwt::Jwt;
use scion_local::{
    EnvCredentials, FileCredentials, FileMode, FileRoot, FileTokenStore, SystemClock, SystemEntropy,
    process_environment,
};
use scion_openbao::OpenBao;
use scion_ports::{AuthFactory, Clock, CredentialProvider, Entropy, HttpDialer};

use crate::EndpointExchange;

/// In whose name the references of profiles and of the store's own login are resolved. In a secret store they stand below this
/// name, as those of a connector stand below the connector's.
const OWNER: &str = "scion";

/// Everything a program reaches the outside with: one dialer with its TLS and proxy profiles, the resolver of references, and
/// the factory that authenticates requests.
///
/// The environment says what there is: `SCION_OUTBOUND_CONFIG` names a YAML or JSON file of [`OutboundSettings`];
/// `OPENBAO_ADDR`, `OPENBAO_TOKEN_REF` and `OPENBAO_NAMESPACE` a secret store; `SCION_SECRET_DIRS` and
/// `SCION_CONNECTOR_SECRET_DIRS` the directories of `file://` references. `env://` references always resolve. Tokens that must outlive
/// the process are kept in `tokens` below the data directory of this user.
#[derive(Clone)]
pub struct Outbound {
    dialer: Arc<Dialer>,
    credentials: Arc<dyn CredentialProvider>,
    auth: Arc<dyn AuthFactory>,
    store: Option<Arc<OpenBao>>,
    tls: TlsProfiles,
    environment: Arc<BTreeMap<String, String>>,
}

impl std::fmt::Debug for Outbound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbound").field("dialer", &self.dialer).finish_non_exhaustive()
    }
}

impl Outbound {
    /// As the environment of this process says. Nothing is dialled or resolved yet.
    pub fn of_process() -> Result<Self, OutboundSettingRefusal> {
        Self::from_environment(process_environment())
    }

    /// As an environment says; `env://` references are read from this process.
    pub fn from_environment(environment: BTreeMap<String, String>) -> Result<Self, OutboundSettingRefusal> {
        let settings = settings(&environment)?;
        let owner = owner();
        let env: Arc<dyn CredentialProvider> = Arc::new(EnvCredentials::of_process());
        let file = files(&environment)?;
        // The store is reached through profiles and secrets that do not come from it.
        let mut bootstrap = ResolverChain::builder().env(env.clone());
        if let Some(file) = &file {
            bootstrap = bootstrap.file(file.clone());
        }
        let bootstrap: Arc<dyn CredentialProvider> = Arc::new(bootstrap.build());
        let dialer = |credentials: &Arc<dyn CredentialProvider>| {
            let builder = Dialer::builder().tls_profiles(settings.tls.clone()).proxies(settings.proxies.clone());
            Arc::new(builder.credentials(owner.clone(), credentials.clone()).build())
        };
        let mut store = None;
        let mut open = |written: StoreSettings| {
            let mut exchange = EndpointExchange::new(dialer(&bootstrap), written.address.as_str());
            if let Some(name) = &written.tls {
                exchange = exchange.tls_profile(name);
            }
            let opened = Arc::new(OpenBao::new(&written, Arc::new(exchange), bootstrap.clone(), owner.clone())?);
            store = Some(opened.clone());
            Ok::<Arc<dyn CredentialProvider>, StoreSettingRefusal>(opened)
        };
        let unusable = |refusal: StoreSettingRefusal| OutboundSettingRefusal::Store { what: refusal.to_string() };
        let chain = match settings.secret_store.clone() {
            None => default_resolver(&environment, env, file, &mut open).map_err(unusable)?,
            Some(_) if environment.get(OPENBAO_TOKEN_REF).is_some_and(|text| !text.trim().is_empty()) => {
                return Err(OutboundSettingRefusal::TwoStores);
            }
            Some(written) => {
                let mut chain = ResolverChain::builder().env(env).openbao(open(written).map_err(unusable)?);
                if let Some(file) = file {
                    chain = chain.file(file);
                }
                chain.build()
            }
        };
        let credentials: Arc<dyn CredentialProvider> = Arc::new(chain);
        let dialer = dialer(&credentials);
        let auth = factory(credentials.clone(), &environment);
        let (tls, environment) = (settings.tls.clone(), Arc::new(environment));
        Ok(Self { dialer, credentials, auth, store, tls, environment })
    }

    /// The one dialer.
    pub fn dialer(&self) -> Arc<dyn HttpDialer> {
        Arc::<Dialer>::clone(&self.dialer)
    }

    /// Resolves references.
    pub fn credentials(&self) -> Arc<dyn CredentialProvider> {
        self.credentials.clone()
    }

    /// Authenticates requests.
    pub fn auth(&self) -> Arc<dyn AuthFactory> {
        self.auth.clone()
    }

    /// What governed clients work with.
    pub fn ports(&self) -> ClientPorts {
        let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) =
            (Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
        ClientPorts { dialer: self.dialer(), auth: self.auth(), clock, entropy }
    }

    /// The way to an endpoint that the operator configured for a connector by its whole URL. Its profiles are
    /// `<CONNECTOR>_TLS_PROFILE` and `<CONNECTOR>_PROXY_PROFILE`, the name in capitals with `_` for what is no letter or digit.
    pub fn endpoint(&self, connector: &ConnectorName, url: &str) -> EndpointExchange {
        let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let prefix: String = connector.as_str().chars().map(upper).collect();
        let lookup = |name: &str| self.environment.get(name).cloned();
        EndpointExchange::new(self.dialer(), url).settings(connector.as_str(), &prefix, lookup)
    }

    /// Reads the material of every TLS profile; what is not usable comes with the profile's name.
    pub async fn check_profiles(&self) -> Vec<(String, scion_domain::http::HttpRefusal)> {
        let mut unusable = Vec::new();
        for (name, _) in self.tls.iter() {
            if let Err(refusal) = self.dialer.resolve_tls_profile(name).await {
                unusable.push((name.to_owned(), refusal));
            }
        }
        unusable
    }

    /// Keeps the login at the secret store alive also while nothing is resolved. Never returns; drop it to stop.
    pub async fn keep_renewed(&self) {
        match &self.store {
            Some(store) => store.keep_renewed().await,
            None => std::future::pending().await,
        }
    }
}

fn owner() -> ConnectorName {
    ConnectorName::parse(OWNER).expect("a plain word is a connector name")
}

fn settings(environment: &BTreeMap<String, String>) -> Result<OutboundSettings, OutboundSettingRefusal> {
    match environment.get(OUTBOUND_CONFIG).map(|path| path.trim()).filter(|path| !path.is_empty()) {
        None => Ok(OutboundSettings::default()),
        Some(path) => OutboundSettings::from_json(&scion_config::document_file(Path::new(path)).map_err(|p| file(&p))?),
    }
}

fn file(problems: &ConfigProblems) -> OutboundSettingRefusal {
    let what = problems.problems.first().map_or_else(String::new, |problem| match problem.line {
        0 => format!("{}: {}", problems.file, problem.refusal),
        line => format!("{}:{line}:{}: {}", problems.file, problem.column, problem.refusal),
    });
    OutboundSettingRefusal::File { what }
}

/// The provider of `file://` references; `None` without a directory for them.
fn files(
    environment: &BTreeMap<String, String>,
) -> Result<Option<Arc<dyn CredentialProvider>>, OutboundSettingRefusal> {
    let dirs = |name: &'static str| secret_dirs(name, environment.get(name).map_or("", String::as_str));
    let shared = dirs(SECRET_DIRS)?.into_iter().map(|dir| FileRoot::Shared(PathBuf::from(dir)));
    let own = dirs(CONNECTOR_SECRET_DIRS)?.into_iter().map(|dir| FileRoot::PerConnector(PathBuf::from(dir)));
    let roots: Vec<FileRoot> = shared.chain(own).collect();
    if roots.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(FileCredentials::new(roots, FileMode::Warn))))
}

fn factory(credentials: Arc<dyn CredentialProvider>, environment: &BTreeMap<String, String>) -> Arc<dyn AuthFactory> {
    let auth = OutboundAuth::new(credentials, Arc::new(SystemClock::new()), Arc::new(SystemEntropy));
    let auth = auth.jwt(Arc::new(Jwt::new()), Arc::new(Jwt::new()));
    Arc::new(match StatePaths::resolve(environment) {
        Ok(paths) => auth.token_store(Arc::new(FileTokenStore::new(paths.data_dir.join("tokens")))),
        // A user without a home keeps tokens in memory.
        Err(_) => auth,
    })
}
