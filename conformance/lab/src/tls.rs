use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};

/// A certificate authority of a test.
pub struct TestCa(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate.
    pub certificate_pem: String,
    /// Its key, PKCS #8.
    pub key_pem: String,
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

/// Which versions of TLS a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersions {
    /// 1.2 and 1.3.
    #[default]
    Both,
    /// 1.2 alone.
    Only12,
    /// 1.3 alone.
    Only13,
}

/// How a server speaks TLS.
#[derive(Clone)]
pub struct TlsSetup {
    identity: Identity,
    client_ca: Option<CertificateDer<'static>>,
    versions: TlsVersions,
    protocols: Vec<Vec<u8>>,
}

impl TestCa {
    /// A new authority.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Self(CertifiedIssuer::self_signed(params, key()).expect("the parameters make a certificate"))
    }

    /// Its certificate, to be trusted by a client.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server certificate for host names and addresses.
    pub fn server(&self, hosts: &[&str]) -> Identity {
        self.issue(&server_params(hosts))
    }

    /// A server certificate that ended long ago.
    pub fn expired(&self, hosts: &[&str]) -> Identity {
        let mut params = server_params(hosts);
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 1, 1);
        self.issue(&params)
    }

    /// A client certificate.
    pub fn client(&self, name: &str) -> Identity {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(&params)
    }

    fn issue(&self, params: &CertificateParams) -> Identity {
        let key = key();
        let certificate = params.signed_by(&key, &self.0).expect("the parameters make a certificate");
        Identity::new(&certificate, &key)
    }
}

impl Identity {
    /// A certificate that nobody but itself vouches for.
    pub fn self_signed(hosts: &[&str]) -> Self {
        let key = key();
        let certificate = server_params(hosts).self_signed(&key).expect("the parameters make a certificate");
        Self::new(&certificate, &key)
    }

    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self {
            certificate_pem: certificate.pem(),
            key_pem: key.serialize_pem(),
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        }
    }
}

impl TlsSetup {
    /// TLS 1.2 and 1.3 with a certificate, HTTP/1.1 only, no client certificate.
    pub fn new(identity: Identity) -> Self {
        Self { identity, client_ca: None, versions: TlsVersions::Both, protocols: vec![b"http/1.1".to_vec()] }
    }

    /// Requires a client certificate of this authority.
    #[must_use]
    pub fn require_client(mut self, ca: &TestCa) -> Self {
        self.client_ca = Some(ca.0.der().clone());
        self
    }

    /// Limits the versions.
    #[must_use]
    pub fn versions(mut self, versions: TlsVersions) -> Self {
        self.versions = versions;
        self
    }

    /// Offers HTTP/2 before HTTP/1.1.
    #[must_use]
    pub fn http2(mut self) -> Self {
        self.protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        self
    }

    /// The configuration of a server.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: &[&rustls::SupportedProtocolVersion] = match self.versions {
            TlsVersions::Both => &[&rustls::version::TLS12, &rustls::version::TLS13],
            TlsVersions::Only12 => &[&rustls::version::TLS12],
            TlsVersions::Only13 => &[&rustls::version::TLS13],
        };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .expect("ring knows both versions");
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(ca) => {
                let mut roots = RootCertStore::empty();
                roots.add(ca.clone()).expect("a certificate of this crate is a root");
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.with_client_cert_verifier(verifier.expect("one root is enough"))
            }
        };
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.identity.key.clone()));
        let mut config = builder
            .with_single_cert(vec![self.identity.certificate.clone()], key)
            .expect("certificate and key belong together");
        config.alpn_protocols.clone_from(&self.protocols);
        Arc::new(config)
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("the system has entropy")
}

fn server_params(hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).expect("host names of tests are names");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params
}
