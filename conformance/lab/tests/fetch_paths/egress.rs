//! The governed client and its egress policy, from construction to the second connection.

use std::sync::Arc;

use scion_client::{ClientPorts, GovernedClient, NoAuthOnly, safe_get_json, safe_post_json};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, Method, OutboundRequest};
use scion_domain::json::Json;
use scion_domain::refusal::Refusal as _;
use scion_http::Dialer;
use scion_lab::{Answer, Framing, Lab, ScriptedResolver, inside_locations};
use scion_local::{SystemClock, SystemEntropy};

fn ports(names: &ScriptedResolver) -> ClientPorts {
    ClientPorts {
        dialer: Arc::new(Dialer::builder().resolver(Arc::new(names.clone())).build()),
        auth: Arc::new(NoAuthOnly),
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(SystemEntropy),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.2, SDK-CONNECTOR-CONTROL-R028
#[tokio::test]
async fn a_base_url_inside_is_refused_when_the_client_is_built() {
    let inside = Lab::always(Answer::ok("{}")).await;
    let names = ScriptedResolver::new().name("inside.test", &["127.0.0.1"]);
    for place in inside_locations(inside.port()) {
        let builder = GovernedClient::builder("lab").base_url(&place);
        let built = match builder {
            Err(_) => continue,
            Ok(builder) => builder.build_with(&ports(&names)).await,
        };
        // A name is judged by its addresses, when it is dialled; everything else when the client is built.
        if let Ok(client) = built {
            assert!(place.starts_with("https://inside.test"), "{place}");
            assert!(client.get("/").json::<Json>().await.is_err(), "{place}");
        }
    }
    assert_eq!((inside.connections(), names.asked().len()), (0, 0));
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.2, SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test]
async fn a_name_that_lies_inside_is_refused_before_it_is_dialled() {
    let inside = Lab::always(Answer::ok("{}")).await;
    for answers in [
        &["127.0.0.1"][..],
        &["10.0.0.1"],
        &["93.184.215.14", "127.0.0.1"],
        &["::ffff:127.0.0.1"],
        &["169.254.169.254"],
    ] {
        let names = ScriptedResolver::new().name("vendor.test", answers);
        let base = format!("https://vendor.test:{}", inside.port());
        let client = GovernedClient::builder("lab").base_url(&base).unwrap().build_with(&ports(&names)).await.unwrap();
        let refusal = client.get("/").json::<Json>().await.unwrap_err();
        assert_eq!(refusal.code(), "http_destination_refused", "{answers:?}: {refusal}");
        let url = format!("{base}/hook");
        for refusal in [
            safe_post_json(&ports(&names), &url, "note", &scion_client::SafeCall::default()).await.unwrap_err(),
            safe_get_json(&ports(&names), &url, &scion_client::SafeCall::default()).await.unwrap_err(),
        ] {
            assert_eq!(refusal.code(), "http_destination_refused", "{answers:?}: {refusal}");
        }
    }
    assert_eq!(inside.connections(), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.2, SDK-CONNECTOR-CONTROL-R028
#[tokio::test]
async fn a_named_private_host_and_allowed_loopback_are_reached() {
    let lab = Lab::always(Answer::json(&serde_json::json!({"fine": true}))).await;
    let names = ScriptedResolver::new().name("db.internal", &["127.0.0.1"]);
    let by_name = GovernedClient::builder("lab")
        .base_url(lab.url_as("db.internal", "/").as_str())
        .unwrap()
        .allow_private_host("db.internal");
    let by_address = GovernedClient::builder("lab").base_url(lab.url("/").as_str()).unwrap().allow_loopback();
    for builder in [by_name, by_address] {
        let client = builder.build_with(&ports(&names)).await.unwrap();
        let answer = client.get("/").json::<Json>().await.unwrap();
        assert_eq!(answer.get("fine"), Some(&Json::Bool(true)));
    }
    let hosts: Vec<String> =
        lab.received().iter().map(|received| received.header("host").unwrap().to_owned()).collect();
    assert_eq!(hosts, [format!("db.internal:{}", lab.port()), lab.address().to_string()]);
}

/// Proves: SDK-CONNECTOR-CONTROL-R028, SDK-CONNECTOR-CONTROL-R028.2
#[tokio::test]
async fn a_pinned_client_never_asks_for_its_address_again() {
    let lab = Lab::always(Answer::ok("pinned").framing(Framing::Close)).await;
    let names = ScriptedResolver::new().turns("db.internal", &[&["127.0.0.1"], &["169.254.169.254"]]);
    let dialer = Dialer::builder().resolver(Arc::new(names.clone())).build();
    let egress = EgressPolicy { allowed_private_hosts: vec!["db.internal".to_owned()], ..EgressPolicy::default() };
    let profile = HttpProfile { egress, ..HttpProfile::default() };
    let url = lab.url_as("db.internal", "/");
    let client = dialer.open_pinned(&profile, &url).await.unwrap();
    for _ in 0..3 {
        let mut answer = client.send(OutboundRequest::new(Method::GET, url.clone())).await.unwrap();
        assert_eq!(answer.bytes().await.unwrap(), "pinned");
    }
    assert_eq!((names.asked().len(), lab.connections()), (1, 3));
    let elsewhere = OutboundRequest::new(Method::GET, lab.url_as("other.internal", "/"));
    assert!(client.send(elsewhere).await.is_err());
}
