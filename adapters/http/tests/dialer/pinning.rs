//! The checked address is the dialled address.

use std::net::{IpAddr, Ipv4Addr};

use scion_domain::http::{HttpProfile, HttpRefusal};
use scion_lab::{Answer, Framing, Lab, ScriptedResolver, TestCa, TlsSetup};
use scion_ports::HttpDialer as _;

use crate::support::*;

fn destination(reason: &'static str) -> HttpRefusal {
    HttpRefusal::Destination { host: "vendor.test".into(), reason }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.16, SDK-CONNECTOR-CONTROL-R028, SDK-CENTRALIZED-CAPABILITIES-R002
#[tokio::test]
async fn every_answer_of_every_lookup_is_checked() {
    let lab = Lab::always(Answer::ok("x").framing(Framing::Close)).await;
    for (answers, reason) in [
        (&["127.0.0.1"][..], "egress_loopback"),
        (&["::1"], "egress_loopback"),
        (&["::ffff:127.0.0.1"], "egress_loopback"),
        (&["10.0.0.1"], "egress_private_address"),
        (&["93.184.216.34", "192.168.0.1"], "egress_private_address"),
        (&["169.254.169.254"], "egress_forbidden_address"),
        (&["64:ff9b::7f00:1"], "egress_forbidden_address"),
    ] {
        let names = ScriptedResolver::new().name("vendor.test", answers);
        let client = named(&names).build().open(&HttpProfile::default()).await.unwrap();
        let url = format!("https://vendor.test:{}/", lab.port()).parse().unwrap();
        let refused = refusal(&*client, hasty(url)).await;
        assert_eq!(refused, destination(reason), "{answers:?}");
        assert!(refused.before_sending());
    }
    let many = vec!["127.0.0.1"; 65];
    let names = ScriptedResolver::new().name("vendor.test", &many);
    let client = named(&names).build().open(&listed(&["vendor.test"])).await.unwrap();
    let refused = refusal(&*client, hasty(lab.url_as("vendor.test", "/"))).await;
    assert_eq!(refused, destination("egress_too_many_answers"));
    for names in [ScriptedResolver::new(), ScriptedResolver::new().name("vendor.test", &[])] {
        let client = named(&names).build().open(&listed(&["vendor.test"])).await.unwrap();
        let refused = refusal(&*client, hasty(lab.url_as("vendor.test", "/"))).await;
        assert_eq!(refused, HttpRefusal::Connect { host: "vendor.test".into() });
    }
    assert_eq!(lab.connections(), 0);
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.16, SDK-CONNECTOR-CONTROL-R028
#[tokio::test]
async fn a_name_that_rebinds_is_checked_again_at_the_next_dial() {
    let lab = Lab::always(Answer::ok("x").framing(Framing::Close)).await;
    let turns: &[&[&str]] = &[&["127.0.0.1"], &["93.184.216.34"], &["127.0.0.1", "169.254.169.254"]];
    let names = ScriptedResolver::new().turns("vendor.test", turns);
    let client = named(&names).build().open(&listed(&["vendor.test"])).await.unwrap();
    let url = lab.url_as("vendor.test", "/");
    assert_eq!(whole(&*client, hasty(url.clone())).await, Ok((200, b"x".to_vec())));
    for _ in 0..2 {
        assert_eq!(refusal(&*client, hasty(url.clone())).await, destination("egress_listed_not_private"));
    }
    assert_eq!((lab.connections(), names.asked().len()), (1, 3));
    assert_eq!(lab.received()[0].header("host"), Some(&*format!("vendor.test:{}", lab.port())));
}

#[tokio::test]
async fn a_kept_connection_asks_nobody_again() {
    let lab = Lab::always(Answer::ok("x")).await;
    let names = ScriptedResolver::new().turns("vendor.test", &[&["127.0.0.1"], &["10.1.1.1"]]);
    let client = named(&names).build().open(&listed(&["vendor.test"])).await.unwrap();
    for _ in 0..5 {
        whole(&*client, hasty(lab.url_as("vendor.test", "/"))).await.unwrap();
    }
    assert_eq!((lab.connections(), names.asked().len()), (1, 1));
}

/// Proves: SDK-CONNECTOR-CONTROL-R028, SDK-CONNECTOR-CONTROL-R028.1, SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test]
async fn a_pinned_client_dials_what_was_checked_and_resolves_once() {
    let lab = Lab::always(Answer::ok("x").framing(Framing::Close)).await;
    let names = ScriptedResolver::new().turns("vendor.test", &[&["127.0.0.1"], &["10.1.1.1"]]);
    let dialer = named(&names.clone().name("other.test", &["127.0.0.1"])).build();
    let profile = listed(&["vendor.test", "other.test"]);
    let url = lab.url_as("vendor.test", "/");
    let client = dialer.open_pinned(&profile, &url).await.unwrap();
    for _ in 0..3 {
        assert_eq!(whole(&*client, hasty(url.clone())).await, Ok((200, b"x".to_vec())));
    }
    assert_eq!((lab.connections(), names.asked()), (3, vec!["vendor.test".to_owned()]));
    for url in [lab.url_as("other.test", "/"), format!("http://vendor.test:{}/", lab.port() ^ 1).parse().unwrap()] {
        let refused = refusal(&*client, hasty(url)).await;
        assert!(matches!(refused, HttpRefusal::Destination { reason: "not_the_pinned_host", .. }), "{refused:?}");
    }
    assert_eq!((lab.connections(), names.asked().len()), (3, 1));
}

/// Proves: SDK-CONNECTOR-CONTROL-R028.2
#[tokio::test]
async fn a_refused_destination_refuses_the_client_and_an_allowed_one_completes() {
    let lab = Lab::always(Answer::ok("x")).await;
    let names = ScriptedResolver::new().name("vendor.test", &["127.0.0.1"]);
    let dialer = named(&names).build();
    let url = format!("https://vendor.test:{}/", lab.port()).parse().unwrap();
    let refused = dialer.open_pinned(&HttpProfile::default(), &url).await.err();
    assert_eq!(refused, Some(destination("egress_loopback")));
    let literal = dialer.open_pinned(&HttpProfile::default(), &lab.url("/")).await.err();
    assert!(matches!(literal, Some(HttpRefusal::Destination { reason: "egress_loopback", .. })), "{literal:?}");
    assert_eq!(lab.connections(), 0);

    let url = lab.url_as("vendor.test", "/");
    let client = dialer.open_pinned(&listed(&["vendor.test"]), &url).await.unwrap();
    assert_eq!(whole(&*client, hasty(url)).await, Ok((200, b"x".to_vec())));
    let client = dialer.open_pinned(&loopback(), &lab.url("/")).await.unwrap();
    assert_eq!(whole(&*client, hasty(lab.url("/"))).await, Ok((200, b"x".to_vec())));
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test]
async fn the_pinned_address_keeps_host_and_sni() {
    let ca = TestCa::new("lab");
    let lab = Lab::builder().tls(TlsSetup::new(ca.server(&["vendor.test"]))).always(Answer::ok("x")).await;
    let files = Files::new();
    let names = ScriptedResolver::new().name("vendor.test", &["127.0.0.1"]).name("wrong.test", &["127.0.0.1"]);
    let dialer = named(&names).tls_profiles(only(trusting(files.write("ca.pem", &ca.pem())))).build();
    let client = dialer.open(&with_tls(listed(&["vendor.test", "wrong.test"]))).await.unwrap();
    for name in ["vendor.test", "VENDOR.test", "vendor.test."] {
        assert_eq!(whole(&*client, hasty(lab.url_as(name, "/"))).await, Ok((200, b"x".to_vec())), "{name}");
    }
    let received = lab.received();
    assert_eq!(received[0].sni.as_deref(), Some("vendor.test"));
    assert_eq!(received[0].header("host"), Some(&*format!("vendor.test:{}", lab.port())));
    assert_eq!(received[2].sni.as_deref(), Some("vendor.test"));
    let refused = refusal(&*client, hasty(lab.url_as("wrong.test", "/"))).await;
    assert_eq!(refused, HttpRefusal::Tls { host: "wrong.test".into() });
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.16
#[tokio::test]
async fn plain_http_to_a_public_host_and_user_info_are_refused() {
    let names = ScriptedResolver::new().name("vendor.test", &["93.184.216.34"]);
    let client = named(&names).build().open(&HttpProfile::default()).await.unwrap();
    let refused = refusal(&*client, hasty("http://vendor.test/".parse().unwrap())).await;
    assert_eq!(refused, destination("egress_plaintext"));
    let refused = refusal(&*client, hasty("https://user:hunter2@vendor.test/".parse().unwrap())).await;
    assert!(matches!(refused, HttpRefusal::Url { .. }), "{refused:?}");
    assert!(names.asked().is_empty(), "a refused URL was resolved");
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let lab = Lab::builder().on(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3))).always(Answer::ok("x")).await;
    let names = ScriptedResolver::new().name("vendor.test", &["127.0.0.77", "127.0.0.78", "127.0.0.3"]);
    let client = named(&names).build().open(&listed(&["vendor.test"])).await.unwrap();
    let url = lab.url_as("vendor.test", "/");
    assert_eq!(whole(&*client, hasty(url)).await, Ok((200, b"x".to_vec())));
}
