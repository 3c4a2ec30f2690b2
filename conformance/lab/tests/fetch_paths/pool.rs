//! What one exchange leaves behind for the next one on the same client.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, HttpRefusal, Method, OutboundRequest};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Lab};
use scion_ports::{HttpDialer as _, HttpExchange};

use crate::stage::Stage;

async fn client() -> Arc<dyn HttpExchange> {
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    Dialer::builder().build().open(&HttpProfile { egress, ..HttpProfile::default() }).await.unwrap()
}

fn get(lab: &Lab) -> OutboundRequest {
    OutboundRequest { limits: Stage::limits(), ..OutboundRequest::new(Method::GET, lab.url("/")) }
}

/// Bytes after an answer are no answer to the next request, whenever they arrive.
#[tokio::test]
async fn a_planted_answer_is_never_taken_for_the_next_one() {
    let planted = "HTTP/1.1 200 Lab\r\ncontent-length: 7\r\n\r\nplanted";
    let endings = [
        format!("HTTP/1.1 200 Lab\r\ncontent-length: 5\r\n\r\nfirst{planted}"),
        format!("HTTP/1.1 200 Lab\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n{planted}"),
        format!("HTTP/1.1 200 Lab\r\ncontent-length: 5\r\n\r\nfirst\r\n\r\n{planted}"),
    ];
    for ending in endings {
        let first = Behaviour::RawThenHold(ending.clone().into_bytes());
        let lab = Lab::sequence([first, Answer::ok("second").into()]).await;
        let client = client().await;
        let mut answer = client.send(get(&lab)).await.unwrap();
        assert_eq!(answer.bytes().await.unwrap(), "first", "{ending:?}");
        for _ in 0..3 {
            // The connection may break, since it is spoiled; its next answer may not be the planted one.
            if let Ok(mut answer) = client.send(get(&lab)).await {
                assert_eq!(answer.bytes().await.unwrap(), "second", "{ending:?}");
            }
        }
        assert!(lab.received().len() > 1, "{ending:?}");
    }
}

/// A session the server opens is none of the client's business.
#[tokio::test]
async fn a_cookie_never_comes_back() {
    let lab = Lab::always(Answer::ok("{}").set_cookies()).await;
    let client = client().await;
    for _ in 0..3 {
        client.send(get(&lab)).await.unwrap().bytes().await.unwrap();
    }
    assert_eq!((lab.connections(), lab.received().len()), (1, 3));
    assert!(lab.received().iter().all(|received| received.header("cookie").is_none()));
}

/// Whatever an exchange waits for, dropping it ends its connection.
#[tokio::test]
async fn a_dropped_exchange_closes_its_connection() {
    for behaviour in [
        Behaviour::StallBeforeHead,
        Behaviour::StallInHead,
        Behaviour::StallInBody(Answer::ok("x".repeat(100))),
        Behaviour::EndlessBody,
        Behaviour::DripForEver(Duration::from_millis(5)),
    ] {
        let lab = Lab::always(behaviour.clone()).await;
        let client = client().await;
        let many = (0..16).map(|_| async {
            let mut answer = client.send(get(&lab)).await?;
            while answer.body.chunk().await?.is_none() {}
            std::future::pending::<Result<(), HttpRefusal>>().await
        });
        let all = futures_util::future::join_all(many);
        assert!(tokio::time::timeout(Duration::from_millis(150), all).await.is_err(), "{behaviour:?}");
        assert!(lab.closes_within(Duration::from_secs(2)).await, "{behaviour:?}: {} open", lab.open_connections());
    }
}

/// A body is read no faster than its caller reads it.
#[tokio::test]
async fn an_unread_body_stays_with_the_server() {
    let lab = Lab::always(Behaviour::EndlessBody).await;
    let client = client().await;
    let answer = client.send(get(&lab)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let sent = lab.bytes_sent();
    assert!(sent < 16 << 20, "{sent} bytes went out to somebody who reads nothing");
    drop(answer);
    assert!(lab.closes_within(Duration::from_secs(2)).await);
}
