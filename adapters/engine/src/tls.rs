//! TLS to the engine, with its own authority and a client's certificate where they are set.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use scion_domain::credential::CredentialRequest;
use scion_domain::engine::EngineRefusal;
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_domain::tls::{ClientIdentity, Material};
use scion_ports::CredentialProvider;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

const CA: &str = "GRAPH_SERVICE_TLS_CA";
const CERTIFICATE: &str = "GRAPH_SERVICE_TLS_CLIENT_CERT";
const KEY: &str = "GRAPH_SERVICE_TLS_CLIENT_KEY";
const SERVER_NAME: &str = "GRAPH_SERVICE_TLS_SERVER_NAME";
/// What other clients of the engine read and this one does not: ignoring a setting that limits trust would widen it.
const NOT_OFFERED: [&str; 3] = [
    "GRAPH_SERVICE_TLS_CA_DIRECTORY",
    "GRAPH_SERVICE_TLS_CLIENT_KEY_PASSWORD",
    "GRAPH_SERVICE_TLS_ALLOWED_SERVER_NAMES",
];
/// The largest piece of material, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// How an engine is verified and what is shown to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineTlsSettings {
    /// The engine's authority, alone; the roots of the platform when absent.
    pub ca: Option<Material>,
    /// The client's own certificate.
    pub identity: Option<ClientIdentity>,
    /// The name on the engine's certificate, where it is not the host of the endpoint.
    pub server_name: Option<String>,
}

/// Why no connection came about.
pub(crate) enum DialFailure {
    Unreachable,
    Tls,
}

/// TLS as it is spoken to one engine. Cheap to clone.
#[derive(Clone)]
pub struct EngineTls {
    config: Arc<ClientConfig>,
    server_name: Option<ServerName<'static>>,
}

impl std::fmt::Debug for EngineTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineTls").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

impl EngineTlsSettings {
    /// Reads the settings out of an environment.
    pub(crate) fn read<'v>(get: impl Fn(&'static str) -> Option<&'v str>) -> Result<Self, EngineRefusal> {
        for name in NOT_OFFERED {
            if get(name).is_some() {
                return Err(EngineRefusal::Setting { name, what: "is not offered here" });
            }
        }
        let material = |name: &'static str| {
            let what = "must be an absolute path or a secret reference";
            get(name).map(|text| Material::parse(text).map_err(|_| EngineRefusal::Setting { name, what })).transpose()
        };
        let identity = match (material(CERTIFICATE)?, material(KEY)?) {
            (Some(certificate), Some(key)) => Some(ClientIdentity { certificate, key }),
            (None, None) => None,
            (Some(_), None) => {
                return Err(EngineRefusal::Setting { name: CERTIFICATE, what: "needs GRAPH_SERVICE_TLS_CLIENT_KEY" });
            }
            (None, Some(_)) => {
                return Err(EngineRefusal::Setting { name: KEY, what: "needs GRAPH_SERVICE_TLS_CLIENT_CERT" });
            }
        };
        let server_name = get(SERVER_NAME).map(str::to_owned);
        if let Some(name) = &server_name {
            named(name)?;
        }
        Ok(Self { ca: material(CA)?, identity, server_name })
    }

    /// Reads the material: files, and references through the provider on behalf of a connector.
    ///
    /// Refuses [`EngineRefusal::Secret`] for what cannot be had, and [`EngineRefusal::Setting`] for what is no certificate or key.
    pub async fn resolve(
        &self,
        credentials: &dyn CredentialProvider,
        connector: &ConnectorName,
    ) -> Result<EngineTls, EngineRefusal> {
        let load = async |name: &'static str, material: &Material| {
            let bytes = match material {
                Material::File(path) => file(path).await,
                Material::Reference(reference) => {
                    let request = CredentialRequest { connector: connector.clone(), reference: reference.clone() };
                    let text = credentials.resolve(&request).await.ok();
                    text.map(|text| Secret::new(text.expose().as_bytes().to_vec()))
                }
            };
            bytes.ok_or(EngineRefusal::Secret { name })
        };
        let ca = match &self.ca {
            Some(ca) => Some(load(CA, ca).await?),
            None => None,
        };
        let identity = match &self.identity {
            Some(own) => Some((load(CERTIFICATE, &own.certificate).await?, load(KEY, &own.key).await?)),
            None => None,
        };
        let identity = identity.as_ref().map(|(chain, key)| (chain.expose().as_slice(), key.expose().as_slice()));
        EngineTls::build(ca.as_ref().map(|ca| ca.expose().as_slice()), identity, self.server_name.as_deref()).await
    }
}

impl EngineTls {
    /// Trusts the roots of the platform, and shows no certificate.
    pub async fn platform() -> Result<Self, EngineRefusal> {
        Self::build(None, None, None).await
    }

    /// TLS 1.2 and 1.3 from PEM texts: an authority to trust alone, and a certificate with its key to show.
    async fn build(
        ca: Option<&[u8]>,
        identity: Option<(&[u8], &[u8])>,
        server_name: Option<&str>,
    ) -> Result<Self, EngineRefusal> {
        let unusable = |name| EngineRefusal::Setting { name, what: "is not a usable PEM text" };
        let roots = match ca {
            None => platform_roots().await,
            Some(bundle) => {
                let mut roots = RootCertStore::empty();
                // Every certificate of a bundle must be usable: half a bundle would refuse engines later, one by one.
                for certificate in certificates(bundle).ok_or_else(|| unusable(CA))? {
                    roots.add(certificate).map_err(|_| unusable(CA))?;
                }
                Arc::new(roots)
            }
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(|_| unusable(CA))?
            .with_root_certificates(roots);
        let config = match identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let chain = certificates(chain).ok_or_else(|| unusable(CERTIFICATE))?;
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| unusable(KEY))?;
                builder.with_client_auth_cert(chain, key).map_err(|_| unusable(CERTIFICATE))?
            }
        };
        Ok(Self { config: Arc::new(config), server_name: server_name.map(named).transpose()? })
    }

    pub(crate) async fn handshake(&self, host: &str, stream: TcpStream) -> Result<TlsStream<TcpStream>, DialFailure> {
        let name = match &self.server_name {
            Some(name) => name.clone(),
            None => ServerName::try_from(host.to_owned()).map_err(|_| DialFailure::Tls)?,
        };
        // Whatever ends a handshake, a later try meets the same two sides.
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await.map_err(|_| DialFailure::Tls)
    }
}

fn named(name: &str) -> Result<ServerName<'static>, EngineRefusal> {
    let what = "must be a host name or an address";
    ServerName::try_from(name.to_owned()).map_err(|_| EngineRefusal::Setting { name: SERVER_NAME, what })
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().ok()?;
    (!all.is_empty()).then_some(all)
}

/// The roots of the platform, read once in the life of a process.
async fn platform_roots() -> Arc<RootCertStore> {
    static ROOTS: OnceCell<Arc<RootCertStore>> = OnceCell::const_new();
    let load = || async {
        let mut roots = RootCertStore::empty();
        if let Ok(found) = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await {
            roots.add_parsable_certificates(found.certs);
        }
        Arc::new(roots)
    };
    Arc::clone(ROOTS.get_or_init(load).await)
}

async fn file(path: &std::path::Path) -> Option<Secret<Vec<u8>>> {
    let file = tokio::fs::File::open(path).await.ok()?;
    let mut bytes = Vec::new();
    let outcome = file.take(MAX_BYTES + 1).read_to_end(&mut bytes).await;
    let bytes = Secret::new(bytes);
    outcome.is_ok_and(|size| size > 0 && size as u64 <= MAX_BYTES).then_some(bytes)
}
