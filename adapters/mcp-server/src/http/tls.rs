//! TLS of the listener itself.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use scion_domain::surface::TransportRefusal;

/// The TLS configuration of a listener with this certificate chain and key, both PEM: TLS 1.2 and 1.3, no certificate asked of clients.
///
/// A chain without a certificate, a key of no known kind and a key of another certificate are [`TransportRefusal::Tls`].
pub fn tls_config(certificate: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, TransportRefusal> {
    let refused = |what| TransportRefusal::Tls { what };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(|_| refused("the certificate file is no PEM"))?;
    if chain.is_empty() {
        return Err(refused("the certificate file holds no certificate"));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| refused("the key file holds no private key"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(|_| refused("no version of TLS can be spoken"))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|_| refused("the key does not belong to the certificate"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
