//! Every request of `network.json` against a listener.

use std::net::SocketAddr;

use http::{Method, StatusCode};
use scion_domain::listener::ListenerSettings;
use scion_domain::served_route::{RouteAnswer, RouteRequest};
use scion_ports::ServedRoute;
use serde_json::Value;

use crate::wire::{Got, Server, open};

async fn server(boundary: &str) -> Server {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut settings =
        ListenerSettings { max_request_bytes: 1024, request_body_timeout_seconds: 1.0, ..ListenerSettings::default() };
    match boundary {
        "host" => settings.allowed_hosts = own(&["desk.example", "127.0.0.1:8000"]),
        "origin" => settings.allowed_origins = own(&["https://ui.example"]),
        "peer" => {
            settings.tls_terminated = true;
            settings.trusted_proxy_cidrs = own(&["127.1.0.0/16"]);
        }
        _ => {}
    }
    Server::start_with(open(), settings, |options| {
        let echo = ServedRoute::new("/echo", [Method::POST], |request: RouteRequest| async move {
            RouteAnswer { status: StatusCode::OK, media_type: "text/plain", body: request.body.to_vec() }
        });
        options.routes = vec![echo];
    })
    .await
}

/// The bytes of a case, and whether its answer is compared to the letter.
fn request(case: &Value, address: SocketAddr) -> (Vec<u8>, bool) {
    let (request, body_case) = (&case["request"], case["boundary"] == "body");
    let socket = request["kind"] == "websocket";
    let mut head = if body_case { "POST /echo HTTP/1.1\r\n" } else { "GET /health HTTP/1.1\r\n" }.as_bytes().to_vec();
    let headers = request["headers"].as_array().cloned().unwrap_or_default();
    if case["boundary"] != "host" {
        head.extend(format!("host: {address}\r\n").bytes());
    }
    for pair in &headers {
        head.extend(pair[0].as_str().unwrap().bytes());
        head.extend(b": ");
        // A field is bytes; what is no ASCII is sent as Latin-1 was.
        head.extend(pair[1].as_str().unwrap().chars().map(|c| u8::try_from(u32::from(c)).unwrap()));
        head.extend(b"\r\n");
    }
    if socket {
        head.extend(b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n");
    } else {
        head.extend(b"connection: close\r\n");
    }
    let length = headers.iter().find(|pair| pair[0] == "content-length").map(|pair| pair[1].as_str().unwrap());
    let mut body = Vec::new();
    if request["stall"] == true {
        head.extend(b"content-length: 4\r\n");
        body.extend(b"ab");
    } else if let Some(pieces) = request["body"].as_array() {
        head.extend(b"transfer-encoding: chunked\r\n");
        for piece in pieces {
            let Some(piece) = piece.as_str() else { return ([head, b"\r\n".to_vec(), body].concat(), false) };
            let bytes = match piece {
                "<1000 bytes>" => "x".repeat(1000),
                "<25 bytes>" => "x".repeat(25),
                piece => piece.to_owned(),
            };
            body.extend(format!("{:x}\r\n{bytes}\r\n", bytes.len()).bytes());
        }
        body.extend(b"0\r\n\r\n");
    } else if case["id"] == "body-length-twice" {
        body.push(b'x');
    } else if length == Some("1024") {
        body = vec![b'x'; 1024];
    }
    // The HTTP library refuses these before anybody else sees them, with no body.
    let unread = length.is_some_and(|length| length.parse::<u64>().is_err() || length.starts_with('+'));
    ([head, b"\r\n".to_vec(), body].concat(), !unread)
}

async fn ask(server: &Server, from: &str, bytes: &[u8]) -> Got {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
    server.raw_over(socket.connect(server.address).await.unwrap(), bytes).await
}

#[tokio::test]
async fn every_request_of_the_vectors_is_answered_as_they_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/network.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut ran = 0;
    for case in vectors["requests"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let from = match id {
            // No requests: starting and stopping; a connection always has an address, and this one is of IPv4.
            "host-lifespan" | "peer-absent" | "peer-v6" | "peer-mapped" => continue,
            "peer-inside" => "127.1.2.3",
            _ => "127.0.0.1",
        };
        let server = server(case["boundary"].as_str().unwrap()).await;
        let (bytes, to_the_letter) = request(case, server.address);
        if id == "body-disconnect" {
            let mut gone = tokio::net::TcpStream::connect(server.address).await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut gone, &bytes).await.unwrap();
            drop(gone);
            assert_eq!(server.get("/health").await.status, 200, "{id}");
            ran += 1;
            continue;
        }
        let got = ask(&server, from, &bytes).await;
        let refused = |word: &str| match word {
            "host rejected" => 400,
            _ => 403,
        };
        match (case["status"].as_u64(), case["reason"].as_str(), id) {
            // RFC 9110 section 8.6: digits only.
            (_, _, "body-length-plus" | "body-length-underscore") => assert_eq!(got.status, 400, "{id}"),
            // The same length twice is that length (same section), which the HTTP library makes of it.
            (_, _, "body-length-twice") => assert_eq!((got.status, got.body.as_str()), (200, "x"), "{id}"),
            (Some(status), ..) => {
                assert_eq!(u64::from(got.status), status, "{id} {got:?}");
                if to_the_letter {
                    assert_eq!(got.body, case["body"].as_str().unwrap(), "{id}");
                    for (name, value) in case["headers"].as_object().unwrap() {
                        assert_eq!(got.header(name), value.as_str(), "{id} {name}");
                    }
                }
            }
            // There is no websocket, so the opening of one is refused like any request.
            (None, Some(reason), _) => {
                assert_eq!((got.status, &got.body), (refused(reason), &format!("{{\"error\":\"{reason}\"}}")), "{id}");
            }
            (None, None, _) => {
                assert_eq!(got.status, 200, "{id} {got:?}");
                if id == "body-small" {
                    assert_eq!(got.body, "abcd");
                }
            }
        }
        ran += 1;
    }
    assert_eq!(ran, 31);
}
