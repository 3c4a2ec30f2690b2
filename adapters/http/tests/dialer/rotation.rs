//! TLS material that changes while a client is open.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::http::HttpRefusal;
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_domain::tls::Material;
use scion_http::{Dialer, TlsStatus};
use scion_lab::{Answer, Framing, Lab, TestCa, TlsSetup};
use scion_ports::{CredentialProvider, HttpDialer as _};

use crate::support::*;

async fn secure(ca: &TestCa) -> Lab {
    let setup = TlsSetup::new(ca.server(&["127.0.0.1"]));
    Lab::builder().tls(setup).always(Answer::ok("x").framing(Framing::Close)).await
}

fn status(generation: u64, what: Option<&'static str>) -> Result<TlsStatus, HttpRefusal> {
    let problem = what.map(|what| HttpRefusal::Profile { kind: "TLS", name: "lab".into(), what });
    Ok(TlsStatus { generation, problem })
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R008
#[tokio::test]
async fn new_connections_use_new_files_and_a_broken_file_keeps_the_old_ones() {
    let (old, new) = (TestCa::new("old"), TestCa::new("new"));
    let (old_lab, new_lab) = (secure(&old).await, secure(&new).await);
    let files = Files::new();
    let ca = files.write("ca.pem", &old.pem());
    let dialer = Dialer::builder().tls_profiles(only(trusting(ca))).tls_refresh(Duration::ZERO).build();
    assert_eq!(dialer.tls_status("lab"), status(0, None));
    let client = dialer.open(&with_tls(loopback())).await.unwrap();
    let refused = HttpRefusal::Tls { host: "127.0.0.1".into() };
    whole(&*client, hasty(old_lab.url("/"))).await.unwrap();
    assert_eq!(refusal(&*client, hasty(new_lab.url("/"))).await, refused);
    assert_eq!(dialer.tls_status("lab"), status(1, None));

    files.write("ca.pem", &new.pem());
    whole(&*client, hasty(new_lab.url("/"))).await.unwrap();
    assert_eq!(refusal(&*client, hasty(old_lab.url("/"))).await, refused);
    assert_eq!(dialer.tls_status("lab"), status(2, None));

    for broken in ["", "half written -----BEGIN", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        files.write("ca.pem", broken);
        for _ in 0..2 {
            whole(&*client, hasty(new_lab.url("/"))).await.unwrap();
            assert_eq!(dialer.tls_status("lab"), status(2, Some("ca")), "{broken}");
        }
    }
    files.write("ca.pem", &new.pem());
    whole(&*client, hasty(new_lab.url("/"))).await.unwrap();
    assert_eq!(dialer.tls_status("lab"), status(2, None), "the same material is no new generation");
}

#[tokio::test]
async fn material_is_not_read_more_often_than_the_interval() {
    let (old, new) = (TestCa::new("old"), TestCa::new("new"));
    let lab = secure(&old).await;
    let files = Files::new();
    let profile = trusting(files.write("ca.pem", &old.pem()));
    let dialer = Dialer::builder().tls_profiles(only(profile)).tls_refresh(Duration::from_mins(1)).build();
    let client = dialer.open(&with_tls(loopback())).await.unwrap();
    files.write("ca.pem", &new.pem());
    whole(&*client, hasty(lab.url("/"))).await.unwrap();
    assert_eq!(dialer.resolve_tls_profile("lab").await.unwrap().generation(), 1);
}

struct Turning(Mutex<Result<String, ()>>);

#[async_trait]
impl CredentialProvider for Turning {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        let value = self.0.lock().unwrap().clone();
        value.map(Secret::new).map_err(|()| CredentialRefusal::Unavailable { reference })
    }
}

#[tokio::test]
async fn the_value_of_a_reference_rotates_and_an_outage_keeps_the_last() {
    let (old, new) = (TestCa::new("old"), TestCa::new("new"));
    let (old_lab, new_lab) = (secure(&old).await, secure(&new).await);
    let store = Arc::new(Turning(Mutex::new(Ok(old.pem()))));
    let dialer = Dialer::builder()
        .tls_profiles(only(trusting(Material::parse("env://CA").unwrap())))
        .credentials(ConnectorName::parse("vendor").unwrap(), Arc::clone(&store) as Arc<dyn CredentialProvider>)
        .tls_refresh(Duration::ZERO)
        .build();
    let client = dialer.open(&with_tls(loopback())).await.unwrap();
    whole(&*client, hasty(old_lab.url("/"))).await.unwrap();
    *store.0.lock().unwrap() = Err(());
    whole(&*client, hasty(old_lab.url("/"))).await.unwrap();
    assert_eq!(dialer.tls_status("lab"), status(1, Some("ca")));
    *store.0.lock().unwrap() = Ok(new.pem());
    whole(&*client, hasty(new_lab.url("/"))).await.unwrap();
    assert_eq!(dialer.tls_status("lab"), status(2, None));
}
