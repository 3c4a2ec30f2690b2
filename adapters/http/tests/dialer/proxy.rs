//! Proxies, opted into by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, HttpRefusal};
use scion_domain::id::ConnectorName;
use scion_domain::proxy::{ProxyCredentials, ProxyProfile, ProxyProfiles};
use scion_domain::secret::Secret;
use scion_http::{Dialer, DialerBuilder};
use scion_lab::{Answer, ConnectProxy, Lab, ProxyPlan, ScriptedResolver, TestCa, TlsSetup};
use scion_ports::{CredentialProvider, HttpDialer as _};

use crate::support::*;

const PUBLIC: &str = "93.184.216.34";

struct Env;

#[async_trait]
impl CredentialProvider for Env {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        match &*reference {
            "env://USER" => Ok(Secret::new("Aladdin".into())),
            "env://PASSWORD" => Ok(Secret::new("open sesame".into())),
            _ => Err(CredentialRefusal::Missing { reference }),
        }
    }
}

struct World {
    lab: Lab,
    files: Files,
    ca: TestCa,
    names: ScriptedResolver,
}

impl World {
    async fn new() -> Self {
        let ca = TestCa::new("corp");
        let lab = Lab::builder().tls(TlsSetup::new(ca.server(&["vendor.test"]))).always(Answer::ok("x")).await;
        let names = ScriptedResolver::new().name("vendor.test", &[PUBLIC]).name("inside.test", &["10.0.0.1"]);
        Self { lab, files: Files::new(), ca, names }
    }

    /// A proxy that leads the public address, and the name, to the lab.
    async fn proxy(&self, plan: ProxyPlan) -> ConnectProxy {
        let port = self.lab.port();
        let routes = [PUBLIC, "vendor.test"].map(|host| (format!("{host}:{port}"), self.lab.address()));
        ConnectProxy::start(ProxyPlan { routes: BTreeMap::from(routes), ..plan }).await
    }

    fn builder(&self, proxy: &ConnectProxy, credentials: Option<(&str, &str)>) -> DialerBuilder {
        let mut profile = ProxyProfile::parse(&proxy.url()).unwrap();
        profile.credentials = credentials.map(|(username, password)| ProxyCredentials {
            username: SecretRef::parse(username).unwrap(),
            password: SecretRef::parse(password).unwrap(),
        });
        named(&self.names)
            .proxies(ProxyProfiles::new().with("corp", profile).unwrap())
            .tls_profiles(only(trusting(self.files.write("ca.pem", &self.ca.pem()))))
            .credentials(ConnectorName::parse("vendor").unwrap(), Arc::new(Env))
    }
}

fn through(profile: HttpProfile) -> HttpProfile {
    HttpProfile { proxy: Some("corp".to_owned()), ..with_tls(profile) }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test]
async fn a_proxy_is_asked_for_the_checked_address_and_the_server_sees_the_name() {
    let world = World::new().await;
    let proxy = world.proxy(ProxyPlan::default()).await;
    let client = world.builder(&proxy, None).build().open(&through(HttpProfile::default())).await.unwrap();
    for _ in 0..3 {
        let answer = whole(&*client, hasty(world.lab.url_as("vendor.test", "/p?q=hunter2"))).await;
        assert_eq!(answer, Ok((200, b"x".to_vec())));
    }
    assert_eq!(proxy.targets(), [format!("{PUBLIC}:{}", world.lab.port())], "one tunnel carries them");
    assert!(!proxy.received()[0].contains("hunter2") && !proxy.received()[0].contains("vendor.test"));
    let received = world.lab.received();
    assert_eq!(received[0].sni.as_deref(), Some("vendor.test"));
    assert_eq!(received[0].header("host"), Some(&*format!("vendor.test:{}", world.lab.port())));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test]
async fn what_policy_refuses_does_not_reach_the_proxy() {
    let world = World::new().await;
    let proxy = world.proxy(ProxyPlan::default()).await;
    let dialer = world.builder(&proxy, None).build();
    let client = dialer.open(&through(HttpProfile::default())).await.unwrap();
    for (url, reason) in [
        ("https://inside.test/", "egress_private_address"),
        ("https://169.254.169.254/", "egress_forbidden_address"),
        ("https://localhost/", "egress_loopback"),
        ("http://vendor.test/", "egress_plaintext"),
    ] {
        let refused = refusal(&*client, hasty(url.parse().unwrap())).await;
        let expected = matches!(&refused, HttpRefusal::Destination { reason: found, .. } if *found == reason);
        assert!(expected, "{url}: {refused:?}");
    }
    // Plain http that policy lets pass does not go through a proxy either.
    let client = dialer.open(&through(loopback())).await.unwrap();
    let refused = refusal(&*client, hasty("http://127.0.0.1:9/".parse().unwrap())).await;
    assert!(matches!(refused, HttpRefusal::Destination { reason: "egress_plaintext", .. }), "{refused:?}");
    assert!(proxy.received().is_empty());
}

#[tokio::test]
async fn without_pinning_the_proxy_resolves_the_name() {
    let world = World::new().await;
    let proxy = world.proxy(ProxyPlan::default()).await;
    let policy = EgressPolicy { pin_egress: false, ..EgressPolicy::default() };
    let profile = through(HttpProfile { egress: policy, ..HttpProfile::default() });
    let client = world.builder(&proxy, None).build().open(&profile).await.unwrap();
    whole(&*client, hasty(world.lab.url_as("vendor.test", "/"))).await.unwrap();
    assert_eq!(proxy.targets(), [format!("vendor.test:{}", world.lab.port())]);
    assert!(world.names.asked().is_empty());
}

#[tokio::test]
async fn credentials_come_from_references_and_reach_the_proxy_alone() {
    let world = World::new().await;
    let authorization = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned();
    let proxy = world.proxy(ProxyPlan { authorization: Some(authorization), ..ProxyPlan::default() }).await;
    let request = || hasty(world.lab.url_as("vendor.test", "/"));
    let profile = through(HttpProfile::default());
    let builder = |credentials| world.builder(&proxy, credentials);
    let client = builder(Some(("env://USER", "env://PASSWORD"))).build().open(&profile).await.unwrap();
    whole(&*client, request()).await.unwrap();
    assert_eq!(world.lab.received()[0].header("proxy-authorization"), None);
    for (credentials, what) in [
        (None, "username or password"),
        (Some(("env://PASSWORD", "env://USER")), "username or password"),
        (Some(("env://NOBODY", "env://PASSWORD")), "username"),
        (Some(("env://USER", "env://NOTHING")), "password"),
    ] {
        let client = builder(credentials).build().open(&profile).await.unwrap();
        let refused = refusal(&*client, request()).await;
        assert_eq!(refused, HttpRefusal::Profile { kind: "proxy", name: "corp".into(), what });
        assert!(refused.before_sending());
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_stalls_or_misleads_is_no_way_round() {
    let world = World::new().await;
    let request = || hasty(world.lab.url_as("vendor.test", "/"));
    let profile = through(HttpProfile::default());
    let stranger =
        Lab::builder().tls(TlsSetup::new(TestCa::new("x").server(&["vendor.test"]))).always(Answer::ok("")).await;
    for (plan, expected) in [
        (ProxyPlan { status: Some(403), ..ProxyPlan::default() }, HttpRefusal::Connect { host: "127.0.0.1".into() }),
        (ProxyPlan { status: Some(502), ..ProxyPlan::default() }, HttpRefusal::Connect { host: "127.0.0.1".into() }),
        (
            ProxyPlan { silent: true, ..ProxyPlan::default() },
            HttpRefusal::Timeout { host: "vendor.test".into(), phase: "connect" },
        ),
        (
            ProxyPlan { misroute: Some(stranger.address()), ..ProxyPlan::default() },
            HttpRefusal::Tls { host: "vendor.test".into() },
        ),
    ] {
        let proxy = world.proxy(plan).await;
        let client = world.builder(&proxy, None).build().open(&profile).await.unwrap();
        let refused = refusal(&*client, request()).await;
        assert_eq!(refused, expected);
        assert!(refused.before_sending());
    }
    assert!(world.lab.received().is_empty() && stranger.received().is_empty());
}

#[tokio::test]
async fn an_unknown_proxy_is_refused_and_none_is_used_unasked() {
    let world = World::new().await;
    let refused = Dialer::builder().build().open(&through(HttpProfile::default())).await.err();
    assert!(matches!(refused, Some(HttpRefusal::UnknownProfile { .. })), "{refused:?}");
    let proxy = world.proxy(ProxyPlan::default()).await;
    let profile = HttpProfile { proxy: Some("other".into()), ..HttpProfile::default() };
    let dialer = world.builder(&proxy, None).build();
    let unknown = HttpRefusal::UnknownProfile { kind: "proxy", name: "other".into() };
    assert_eq!(dialer.open(&profile).await.err(), Some(unknown));
    // A client that names no proxy goes without.
    let plain = Lab::always(Answer::ok("direct")).await;
    let client = dialer.open(&loopback()).await.unwrap();
    assert_eq!(whole(&*client, hasty(plain.url("/"))).await, Ok((200, b"direct".to_vec())));
    assert!(proxy.received().is_empty());
}
