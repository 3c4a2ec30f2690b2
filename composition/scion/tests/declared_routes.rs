//! Routes and readiness as a connector declares them, over a real socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "the client writes its own bytes, to this machine alone")]
#![cfg(feature = "mcp-server")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scion::domain::http::{Method, StatusCode};
use scion::domain::listener::ListenerSettings;
use scion::domain::served_security::ServedSecurityOverride;
use scion::mcp_server::{HttpServeOptions, Security, serve_http};
use scion::serve::{Connector, Identity, Readiness, RouteAnswer, ServedRoute};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

async fn get(address: std::net::SocketAddr, target: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn what_a_connector_declares_is_served_beside_the_protocol() {
    let ready = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&ready);
    let hello = ServedRoute::new("/hello", [Method::GET], |request| async move {
        RouteAnswer { status: StatusCode::OK, media_type: "text/plain", body: request.query.into_bytes() }
    });
    let surface = Connector::builder(Identity::new("desk", "1"))
        .route(hello)
        .readiness(move || {
            let ready = seen.load(Ordering::SeqCst);
            async move { if ready { Ok(Readiness { ready, ..Readiness::default() }) } else { Err("desk_closed") } }
        })
        .build()
        .unwrap();
    let security = Security::Open(ServedSecurityOverride::new("a test on this machine").unwrap());
    let options = HttpServeOptions::new(ListenerSettings::default().validate(|_| true).unwrap(), security);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let (address, shutdown) = (listener.local_addr().unwrap(), options.shutdown.clone());
    let served = tokio::spawn(serve_http(listener, Arc::new(surface), options));
    assert!(get(address, "/hello?name=ada").await.ends_with("\r\n\r\nname=ada"));
    assert!(get(address, "/ready").await.ends_with(r#"{"status":"ready"}"#));
    ready.store(false, Ordering::SeqCst);
    let down = get(address, "/ready").await;
    assert!(down.starts_with("HTTP/1.1 503") && down.contains("desk_closed"), "{down}");
    shutdown.cancel();
    served.await.unwrap().unwrap();
}
