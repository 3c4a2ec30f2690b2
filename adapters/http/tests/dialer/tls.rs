//! TLS profiles.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest};
use scion_domain::http::{HttpProfile, HttpRefusal};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_domain::tls::{ClientIdentity, Material, TlsProfile, TlsVersion, Trust};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Identity, Lab, TestCa, TlsSetup, TlsVersions};
use scion_ports::{CredentialProvider, HttpDialer as _, HttpExchange};

use crate::support::*;

fn tls_refused() -> HttpRefusal {
    HttpRefusal::Tls { host: "127.0.0.1".into() }
}

async fn secure(setup: TlsSetup) -> Lab {
    Lab::builder().tls(setup).always(Answer::ok("x")).await
}

async fn client_of(profile: TlsProfile) -> Arc<dyn HttpExchange> {
    Dialer::builder().tls_profiles(only(profile)).build().open(&with_tls(loopback())).await.unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
#[tokio::test]
async fn a_private_root_is_trusted_only_where_its_profile_is_selected() {
    let ca = TestCa::new("corp");
    let lab = secure(TlsSetup::new(ca.server(&["127.0.0.1"]))).await;
    let files = Files::new();
    let material = files.write("ca.pem", &ca.pem());
    assert_eq!(refusal(&*client().await, hasty(lab.url("/"))).await, tls_refused());
    assert!(lab.received().is_empty());
    for trust in [Trust::Private(material.clone()), Trust::PlatformAnd(material)] {
        let client = client_of(TlsProfile { trust, ..TlsProfile::default() }).await;
        assert_eq!(whole(&*client, hasty(lab.url("/"))).await, Ok((200, b"x".to_vec())));
    }
    let bundle = files.write("bundle.pem", &format!("# two\n{}\n{}", TestCa::new("other").pem(), ca.pem()));
    whole(&*client_of(trusting(bundle)).await, hasty(lab.url("/"))).await.unwrap();
}

/// Proves: SDK-CONNECTOR-CONTROL-R017, SDK-CENTRALIZED-CAPABILITIES-R008
#[tokio::test]
async fn certificates_that_do_not_fit_are_refused_and_get_no_request() {
    let ca = TestCa::new("corp");
    let files = Files::new();
    let client = client_of(trusting(files.write("ca.pem", &ca.pem()))).await;
    for (what, identity) in [
        ("expired", ca.expired(&["127.0.0.1"])),
        ("another name", ca.server(&["other.test"])),
        ("another authority", TestCa::new("corp").server(&["127.0.0.1"])),
        ("self-signed", Identity::self_signed(&["127.0.0.1"])),
        ("for clients", ca.client("127.0.0.1")),
    ] {
        let lab = secure(TlsSetup::new(identity)).await;
        let refused = refusal(&*client, hasty(lab.url("/"))).await;
        assert_eq!(refused, tls_refused(), "{what}");
        assert!(lab.received().is_empty(), "{what}");
    }
}

#[tokio::test]
async fn a_handshake_with_no_tls_server_is_a_refusal_of_its_own() {
    let unreachable = HttpRefusal::Connect { host: "127.0.0.1".into() };
    for (answer, expected) in [(&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], tls_refused()), (b"", unreachable)] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // The greeting is read, so that closing does not reset what is answered.
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(answer).unwrap();
        });
        assert_eq!(refusal(&*client().await, hasty(url)).await, expected);
        server.join().unwrap();
    }
}

#[tokio::test]
async fn the_minimum_version_holds() {
    let ca = TestCa::new("corp");
    let files = Files::new();
    let base = trusting(files.write("ca.pem", &ca.pem()));
    let newest = TlsProfile { minimum_version: TlsVersion::V13, ..base.clone() };
    for (versions, profile, passes) in [
        (TlsVersions::Only12, &base, true),
        (TlsVersions::Only13, &base, true),
        (TlsVersions::Only12, &newest, false),
        (TlsVersions::Only13, &newest, true),
    ] {
        let lab = secure(TlsSetup::new(ca.server(&["127.0.0.1"])).versions(versions)).await;
        let outcome = whole(&*client_of(profile.clone()).await, hasty(lab.url("/"))).await;
        assert_eq!(outcome, if passes { Ok((200, b"x".to_vec())) } else { Err(tls_refused()) }, "{versions:?}");
    }
}

#[tokio::test]
async fn a_client_certificate_is_shown_where_it_is_asked_for() {
    let ca = TestCa::new("corp");
    let files = Files::new();
    let base = trusting(files.write("ca.pem", &ca.pem()));
    let me = ca.client("me");
    let stranger = TestCa::new("other").client("me");
    let identity = |who: &Identity, name: &str| {
        let certificate = files.write(&format!("{name}.pem"), &who.certificate_pem);
        TlsProfile {
            identity: Some(ClientIdentity { certificate, key: files.write(&format!("{name}.key"), &who.key_pem) }),
            ..base.clone()
        }
    };
    let (known, unknown) = (identity(&me, "me"), identity(&stranger, "stranger"));
    for versions in [TlsVersions::Only12, TlsVersions::Only13] {
        let setup = TlsSetup::new(ca.server(&["127.0.0.1"])).require_client(&ca).versions(versions);
        let lab = secure(setup).await;
        for bad in [&base, &unknown] {
            let refused = refusal(&*client_of(bad.clone()).await, hasty(lab.url("/"))).await;
            assert_eq!(refused, tls_refused(), "{versions:?}");
        }
        whole(&*client_of(known.clone()).await, hasty(lab.url("/"))).await.unwrap();
        assert!(lab.received().len() == 1 && lab.received()[0].client_certificate);
    }
}

struct Vault(Vec<(&'static str, String)>);

#[async_trait]
impl CredentialProvider for Vault {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        assert_eq!(request.connector.as_str(), "vendor");
        let reference = request.reference.to_string();
        let found = self.0.iter().find(|(name, _)| format!("env://{name}") == reference);
        found.map(|(_, value)| Secret::new(value.clone())).ok_or(CredentialRefusal::Missing { reference })
    }
}

#[tokio::test]
async fn material_comes_from_references_too() {
    let ca = TestCa::new("corp");
    let me = ca.client("me");
    let lab = secure(TlsSetup::new(ca.server(&["127.0.0.1"])).require_client(&ca)).await;
    let material = |text| Material::parse(text).unwrap();
    let profile = TlsProfile {
        trust: Trust::Private(material("env://CA")),
        identity: Some(ClientIdentity { certificate: material("env://CERT"), key: material("env://KEY") }),
        ..TlsProfile::default()
    };
    let vault = Vault(vec![("CA", ca.pem()), ("CERT", me.certificate_pem), ("KEY", me.key_pem)]);
    let builder = Dialer::builder().tls_profiles(only(profile.clone()));
    let dialer = builder.credentials(ConnectorName::parse("vendor").unwrap(), Arc::new(vault)).build();
    let client = dialer.open(&with_tls(loopback())).await.unwrap();
    whole(&*client, hasty(lab.url("/"))).await.unwrap();

    // Without a provider there is no fallback.
    let bare = Dialer::builder().tls_profiles(only(profile)).build();
    let refused = bare.open(&with_tls(loopback())).await.err();
    assert_eq!(refused, Some(HttpRefusal::Profile { kind: "TLS", name: "lab".into(), what: "ca" }));
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.4, SDK-CONNECTOR-CONTROL-R017
#[tokio::test]
async fn profiles_resolve_by_name_and_unusable_ones_are_refused() {
    let (ca, files) = (TestCa::new("corp"), Files::new());
    let good = files.write("ca.pem", &ca.pem());
    let dialer = Dialer::builder().tls_profiles(only(trusting(good.clone()))).build();
    let resolved = dialer.resolve_tls_profile("lab").await.unwrap();
    assert_eq!((resolved.name(), resolved.generation()), ("lab", 1));
    assert!(!format!("{resolved:?}").contains("BEGIN"));

    let unknown = HttpRefusal::UnknownProfile { kind: "TLS", name: "corp".into() };
    assert_eq!(dialer.resolve_tls_profile("corp").await.err(), Some(unknown.clone()));
    let profile = HttpProfile { tls: Some("corp".into()), ..loopback() };
    assert_eq!(dialer.open(&profile).await.err(), Some(unknown));
    let platform = dialer.resolve_tls_profile("").await.err();
    assert_eq!(platform, Some(HttpRefusal::UnknownProfile { kind: "TLS", name: String::new() }));

    let (me, other) = (ca.client("me"), ca.client("other"));
    let key = files.write("me.key", &me.key_pem);
    let certificate = files.write("me.pem", &me.certificate_pem);
    let empty = files.write("empty.pem", "");
    let text = files.write("text.pem", "no PEM at all");
    let torn = files.write("torn.pem", &ca.pem()[..200]);
    let huge = files.write("huge.pem", &"x".repeat(1024 * 1024 + 1));
    let gone = Material::File("/nonexistent/ca.pem".into());
    let with = |certificate: &Material, key: &Material| TlsProfile {
        identity: Some(ClientIdentity { certificate: certificate.clone(), key: key.clone() }),
        ..trusting(good.clone())
    };
    let wrong_key = files.write("other.key", &other.key_pem);
    let mut cases: Vec<(TlsProfile, &str)> =
        [&empty, &text, &torn, &huge, &gone, &key].map(|ca| (trusting(ca.clone()), "ca")).into();
    cases.extend([
        (with(&gone, &key), "client_certificate"),
        (with(&text, &key), "client_certificate"),
        (with(&certificate, &text), "client_key"),
        (with(&certificate, &gone), "client_key"),
        (with(&certificate, &wrong_key), "client_certificate and client_key"),
    ]);
    for (profile, what) in cases {
        let dialer = Dialer::builder().tls_profiles(only(profile.clone())).build();
        let refused = dialer.open(&with_tls(loopback())).await.err();
        assert_eq!(refused, Some(HttpRefusal::Profile { kind: "TLS", name: "lab".into(), what }), "{profile:?}");
    }
}

#[tokio::test]
async fn a_truncated_tls_body_is_broken() {
    let (ca, files) = (TestCa::new("corp"), Files::new());
    let raw = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhalf".to_vec();
    let setup = TlsSetup::new(ca.server(&["127.0.0.1"]));
    let lab = Lab::builder().tls(setup).always(Behaviour::ResetInBody(Answer::ok(raw))).await;
    let client = client_of(trusting(files.write("ca.pem", &ca.pem()))).await;
    let refused = refusal(&*client, hasty(lab.url("/"))).await;
    assert_eq!(refused, HttpRefusal::Broken { host: "127.0.0.1".into() });
}
