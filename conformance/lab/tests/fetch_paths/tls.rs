//! Servers that are not who they say they are: no path sends them its request.

use std::sync::Arc;

use scion_domain::http::{HttpRefusal, Method, OutboundRequest, Url};
use scion_domain::proxy::{ProxyProfile, ProxyProfiles};
use scion_domain::tls::{Material, TlsProfile, TlsProfiles, Trust};
use scion_http::Dialer;
use scion_lab::{Answer, ConnectProxy, Identity, Lab, ProxyPlan, TestCa, TlsSetup};
use scion_ports::HttpDialer as _;

use crate::paths::{FetchPath, PATHS};
use crate::stage::{Stage, World, leaks};
use crate::table::{HANG, run_all};

/// Handshakes that must fail for a client that trusts `ca` and asks for `lab.test`.
fn impostors(ca: &TestCa) -> Vec<(&'static str, TlsSetup)> {
    let stranger = TestCa::new("stranger");
    vec![
        ("another host", TlsSetup::new(ca.server(&["elsewhere.test"]))),
        ("its address alone", TlsSetup::new(ca.server(&["127.0.0.1"]))),
        ("a wildcard too wide", TlsSetup::new(ca.server(&["*.test.test", "*.lab.test"]))),
        ("expired", TlsSetup::new(ca.expired(&["lab.test"]))),
        ("self-signed", TlsSetup::new(Identity::self_signed(&["lab.test"]))),
        ("another authority", TlsSetup::new(stranger.server(&["lab.test"]))),
        ("a client's certificate", TlsSetup::new(ca.client("lab.test"))),
        ("wants a client certificate", TlsSetup::new(ca.server(&["lab.test"])).require_client(&stranger)),
    ]
}

async fn meet_impostor(world: &World, path: &'static FetchPath, setup: TlsSetup) -> Vec<String> {
    let (lab, stage) = world.serve_with(path, Some(setup), |_| Answer::ok("{}").into()).await;
    let mut wrong = Vec::new();
    match tokio::time::timeout(HANG, (path.run)(stage)).await {
        Err(_) => wrong.push("hangs".to_owned()),
        Ok(Ok(answer)) => wrong.push(format!("takes {answer} for an answer")),
        Ok(Err(text)) if leaks(&text) => wrong.push("tells the secret in its refusal".to_owned()),
        Ok(Err(_)) => {}
    }
    if !lab.received().is_empty() {
        wrong.push("sent its request".to_owned());
    }
    wrong
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R001
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_sends_its_request_to_an_impostor() {
    let world = World::new().await;
    let impostors = impostors(&world.ca);
    let (world_of, impostors_of) = (&world, &impostors);
    let of = |path: &'static FetchPath| {
        impostors_of.iter().map(move |(name, setup)| {
            (format!("{}: {name}", path.name), move || meet_impostor(world_of, path, setup.clone()))
        })
    };
    run_all(PATHS.iter().flat_map(of).collect()).await;
}

/// A proxy leads the tunnel somewhere else: the certificate tells, and the request stays home.
#[tokio::test]
async fn a_proxy_that_leads_elsewhere_is_found_out() {
    let ca = TestCa::new("lab root");
    let trust = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(trust.path(), ca.pem()).unwrap();
    let bundle = Material::File(trust.path().to_owned());
    let tls =
        TlsProfiles::new().with("lab", TlsProfile { trust: Trust::Private(bundle), ..TlsProfile::default() }).unwrap();
    let other = Lab::builder().tls(TlsSetup::new(ca.server(&["other.test"]))).always(Answer::ok("other")).await;
    let plain = Lab::always(Answer::ok("plain")).await;
    for (place, address) in [("another host", other.address()), ("a plain server", plain.address())] {
        let proxy = ConnectProxy::start(ProxyPlan { misroute: Some(address), ..ProxyPlan::default() }).await;
        let profile = ProxyProfile::parse(&proxy.url()).unwrap();
        let dialer = Dialer::builder()
            .tls_profiles(tls.clone())
            .proxies(ProxyProfiles::new().with("lab", profile).unwrap())
            .resolver(Arc::new(scion_lab::ScriptedResolver::new()))
            .build();
        let profile = scion_domain::http::HttpProfile {
            tls: Some("lab".to_owned()),
            proxy: Some("lab".to_owned()),
            ..scion_domain::http::HttpProfile::default()
        };
        let client = dialer.open(&profile).await.unwrap();
        let url = Url::parse("https://93.184.215.14/").unwrap();
        let request = OutboundRequest { limits: Stage::limits(), ..OutboundRequest::new(Method::GET, url) };
        let refusal = client.send(request).await.err().unwrap();
        // The plain server waits for the end of a request it cannot read, and the client's time is up.
        assert!(
            matches!(refusal, HttpRefusal::Tls { .. } | HttpRefusal::Timeout { phase: "connect", .. }),
            "{refusal:?}"
        );
        assert_eq!(proxy.targets(), ["93.184.215.14:443"], "{place}");
    }
    assert_eq!((other.received().len(), plain.received().len()), (0, 0));
}
