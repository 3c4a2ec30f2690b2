//! From the material of a profile to a configuration of rustls.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use scion_domain::egress::{Target, TargetHost};
use scion_domain::tls::{TlsProfile, TlsVersion, Trust};
use tokio::sync::OnceCell;

/// The name a certificate must be for, which is also the one in the handshake.
pub(crate) fn server_name(target: &Target) -> Option<ServerName<'static>> {
    match target.host() {
        TargetHost::Address(address) => Some(ServerName::IpAddress((*address).into())),
        TargetHost::Name(name) => ServerName::try_from(name.to_string()).ok(),
    }
}

/// The roots of the platform, read once in the life of a process.
async fn platform() -> Arc<RootCertStore> {
    static ROOTS: OnceCell<Arc<RootCertStore>> = OnceCell::const_new();
    let load = || async {
        let found = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await;
        let mut roots = RootCertStore::empty();
        if let Ok(found) = found {
            roots.add_parsable_certificates(found.certs);
        }
        if roots.is_empty() {
            tracing::warn!("the platform has no root certificates; only TLS profiles with a ca can connect");
        }
        Arc::new(roots)
    };
    Arc::clone(ROOTS.get_or_init(load).await)
}

/// Builds a configuration; the material is in the order of [`TlsProfile::materials`]. Answers which part is unusable.
pub(super) async fn config(profile: &TlsProfile, material: &[&[u8]]) -> Result<ClientConfig, &'static str> {
    let mut material = material.iter();
    let roots = match profile.trust {
        Trust::Platform => platform().await,
        Trust::Private(_) => Arc::new(with_ca(RootCertStore::empty(), material.next().ok_or("ca")?)?),
        Trust::PlatformAnd(_) => {
            let roots = RootCertStore::clone(&*platform().await);
            Arc::new(with_ca(roots, material.next().ok_or("ca")?)?)
        }
    };
    let versions: &[&rustls::SupportedProtocolVersion] = match profile.minimum_version {
        TlsVersion::V12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
        TlsVersion::V13 => &[&rustls::version::TLS13],
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .map_err(|_| "minimum_version")?
        .with_root_certificates(roots);
    let mut config = match (&profile.identity, material.next(), material.next()) {
        (Some(_), Some(chain), Some(key)) => {
            let chain = certificates(chain).ok_or("client_certificate")?;
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| "client_key")?;
            builder.with_client_auth_cert(chain, key).map_err(|_| "client_certificate and client_key")?
        }
        (None, ..) => builder.with_no_client_auth(),
        _ => return Err("client_certificate"),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Every certificate of a bundle must be usable: half a bundle would refuse servers later, one by one.
fn with_ca(mut roots: RootCertStore, bundle: &[u8]) -> Result<RootCertStore, &'static str> {
    for certificate in certificates(bundle).ok_or("ca")? {
        roots.add(certificate).map_err(|_| "ca")?;
    }
    Ok(roots)
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let all: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().ok()?;
    (!all.is_empty()).then_some(all)
}
