//! Redirects.

use scion_domain::http::{Bytes, HeaderValue, HttpRefusal, Method, OutboundRequest, RedirectRule, Url};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Lab, ScriptedResolver, TestCa, TlsSetup, redirect_cases};
use scion_ports::HttpDialer as _;

use crate::support::*;

fn follow(url: Url, limit: u8) -> OutboundRequest {
    OutboundRequest { redirects: RedirectRule::Follow(limit), ..hasty(url) }
}

fn redirect(reason: &'static str) -> HttpRefusal {
    HttpRefusal::Redirect { host: "127.0.0.1".into(), reason }
}

#[tokio::test]
async fn a_redirect_is_an_answer_unless_it_is_to_be_followed() {
    let lab = Lab::scripted(|received| match received.path() {
        "/there" => Answer::ok("there").into(),
        "/nowhere" => Answer::status(302).into(),
        _ => Answer::redirect(302, "/there?a=b#part").body("moved").into(),
    })
    .await;
    let client = client().await;
    assert_eq!(whole(&*client, get(lab.url("/"))).await, Ok((302, b"moved".to_vec())));
    let mut answer = client.send(follow(lab.url("/"), 1)).await.unwrap();
    assert_eq!(answer.bytes().await.unwrap(), "there");
    assert_eq!((answer.head.redirects, &answer.head.url), (1, &lab.url("/there?a=b")));
    assert_eq!(whole(&*client, follow(lab.url("/nowhere"), 1)).await, Ok((302, vec![])));
    assert_eq!(lab.connections(), 1, "a small redirect keeps its connection");
}

#[tokio::test]
async fn redirects_are_counted() {
    let lab = Lab::scripted(|received| {
        let left: u32 = received.path()[1..].parse().unwrap();
        if left == 0 { Answer::ok("end").into() } else { Answer::redirect(307, format!("/{}", left - 1)).into() }
    })
    .await;
    let client = client().await;
    assert_eq!(whole(&*client, follow(lab.url("/3"), 3)).await, Ok((200, b"end".to_vec())));
    let refused = refusal(&*client, follow(lab.url("/4"), 3)).await;
    assert_eq!(refused, HttpRefusal::TooLarge { host: "127.0.0.1".into(), what: "redirects", limit: 3 });
    assert_eq!(lab.received().len(), 4 + 4);
    assert!(matches!(refusal(&*client, follow(lab.url("/1"), 0)).await, HttpRefusal::TooLarge { .. }));
}

#[tokio::test]
async fn methods_and_bodies_follow_rfc_9110() {
    let lab = Lab::scripted(|received| match received.path() {
        "/there" => Answer::ok("").into(),
        status => Answer::redirect(status[1..].parse().unwrap(), "/there").into(),
    })
    .await;
    let client = client().await;
    for (status, method, becomes, with_body) in [
        (301, Method::GET, "GET", false),
        (301, Method::POST, "GET", false),
        (302, Method::POST, "GET", false),
        (301, Method::PUT, "PUT", true),
        (302, Method::DELETE, "DELETE", true),
        (303, Method::POST, "GET", false),
        (303, Method::PUT, "GET", false),
        (303, Method::HEAD, "HEAD", false),
        (307, Method::POST, "POST", true),
        (308, Method::PATCH, "PATCH", true),
        (308, Method::GET, "GET", false),
    ] {
        let mut request = follow(lab.url(&format!("/{status}")), 1);
        request.method = method.clone();
        if !matches!(method, Method::GET | Method::HEAD) {
            request.body = Bytes::from_static(b"payload");
            request.headers.insert("content-type", HeaderValue::from_static("text/plain"));
        }
        whole(&*client, request).await.unwrap();
        let last = lab.received().pop().unwrap();
        assert_eq!((last.path(), &*last.method), ("/there", becomes), "{status} {method}");
        assert_eq!(last.body, if with_body { &b"payload"[..] } else { b"" }, "{status} {method}");
        assert_eq!(last.header("content-type").is_some(), with_body, "{status} {method}");
    }
}

#[tokio::test]
async fn credentials_stay_at_their_origin_and_do_not_come_back() {
    let home = Lab::scripted(|received| match received.path() {
        "/back" => Answer::ok("back").into(),
        path => Answer::redirect(302, received.query().unwrap_or(path)).into(),
    })
    .await;
    let back = home.url("/back");
    let away = Lab::always(Answer::redirect(302, &back)).await;
    let client = client().await;
    let mut request = follow(home.url(&format!("/start?{}", away.url("/away"))), 3);
    let mut key = HeaderValue::from_static("key-hunter2");
    key.set_sensitive(true);
    request.headers.insert("x-vendor-key", key);
    for name in ["authorization", "cookie", "proxy-authorization"] {
        request.headers.insert(name, HeaderValue::from_static("hunter2"));
    }
    request.headers.insert("x-note", HeaderValue::from_static("kept"));
    assert_eq!(whole(&*client, request.clone()).await, Ok((200, b"back".to_vec())));
    let home_saw = home.received();
    assert!(home_saw[0].contains("key-hunter2") && home_saw[0].contains("hunter2"));
    for received in [&away.received()[0], &home_saw[1]] {
        assert!(!received.contains("hunter2"), "{received:?}");
        assert_eq!(received.header("x-note"), Some("kept"));
    }
    // At the same origin they go along.
    request.url = home.url("/start?/back");
    whole(&*client, request).await.unwrap();
    assert!(home.received().pop().unwrap().contains("key-hunter2"));
}

#[tokio::test]
async fn a_body_never_goes_to_another_origin() {
    let away = Lab::always(Answer::ok("")).await;
    let home = Lab::always(Answer::redirect(307, away.url("/"))).await;
    let request = OutboundRequest { method: Method::POST, body: Bytes::from_static(b"x"), ..follow(home.url("/"), 3) };
    assert_eq!(refusal(&*client().await, request).await, redirect("egress_redirect_body"));
    assert_eq!(away.connections(), 0);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R002
#[tokio::test]
async fn no_redirect_leads_inside() {
    let inside = Lab::always(Answer::ok("inside")).await;
    let cases = redirect_cases(inside.port());
    assert!(cases.len() > 40);
    let names = ScriptedResolver::new().name("lab.test", &["127.0.0.1"]).name("inside.test", &["127.0.0.1"]);
    let client = named(&names).build().open(&listed(&["lab.test"])).await.unwrap();
    for (location, answer) in cases {
        let lab = Lab::always(answer).await;
        let refused = refusal(&*client, follow(lab.url_as("lab.test", "/"), 3)).await;
        assert!(matches!(refused, HttpRefusal::Redirect { .. }), "{location}: {refused:?}");
        assert!(!refused.before_sending(), "{location}");
        assert_eq!(lab.received().len(), 1, "{location}");
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn https_never_becomes_http() {
    let plain = Lab::always(Answer::ok("plain")).await;
    let ca = TestCa::new("lab");
    let setup = TlsSetup::new(ca.server(&["127.0.0.1"]));
    let secure = Lab::builder().tls(setup).always(Answer::redirect(302, plain.url("/"))).await;
    let files = Files::new();
    let dialer = Dialer::builder().tls_profiles(only(trusting(files.write("ca.pem", &ca.pem())))).build();
    let client = dialer.open(&with_tls(loopback())).await.unwrap();
    assert_eq!(refusal(&*client, follow(secure.url("/"), 3)).await, redirect("egress_redirect_downgrade"));
    assert_eq!(plain.connections(), 0);
    // The other way round it may go.
    let up = Lab::always(Answer::redirect(302, secure.url("/"))).await;
    assert_eq!(refusal(&*client, follow(up.url("/"), 3)).await, redirect("egress_redirect_downgrade"));
    assert_eq!(secure.received().len(), 2);
}

#[tokio::test]
async fn a_failure_after_a_redirect_does_not_claim_that_nothing_was_sent() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    let stranger =
        Lab::builder().tls(TlsSetup::new(TestCa::new("x").server(&["127.0.0.1"]))).always(Answer::ok("")).await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stalled = format!("https://{}/", silent.local_addr().unwrap());
    for place in [place, stranger.url("/").to_string(), stalled] {
        let lab = Lab::always(Answer::redirect(303, &place)).await;
        let request =
            OutboundRequest { method: Method::POST, body: Bytes::from_static(b"x"), ..follow(lab.url("/"), 3) };
        let refused = refusal(&*client().await, request).await;
        assert!(!refused.before_sending(), "{place}: {refused:?}");
    }
}

#[tokio::test]
async fn a_redirect_with_two_places_or_an_unreadable_one_is_refused() {
    for head in [&b"location: /a\r\nlocation: /b"[..], b"location: /\xff", b"location: "] {
        let raw = [b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\n", head, b"\r\n\r\n"].concat();
        let lab = Lab::always(Behaviour::Raw(raw)).await;
        let refused = refusal(&*client().await, follow(lab.url("/"), 3)).await;
        assert_eq!(refused, redirect("egress_redirect_location"), "{}", String::from_utf8_lossy(head));
    }
}
