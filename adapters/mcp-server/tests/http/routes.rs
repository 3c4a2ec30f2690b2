//! Routes beside the protocol.

use std::sync::Arc;

use http::{Method, StatusCode};
use scion_domain::json::JsonObject;
use scion_domain::listener::ListenerSettings;
use scion_domain::served_route::{Readiness, RouteAnswer, RouteRequest};
use scion_domain::surface::TransportRefusal;
use scion_ports::ServedRoute;

use crate::wire::{Server, open, verified};

fn route(path: &str) -> ServedRoute {
    ServedRoute::new(path, [Method::GET], |request: RouteRequest| async move {
        let body = format!("hello{}", request.query).into_bytes();
        RouteAnswer { status: StatusCode::OK, media_type: "text/plain", body }
    })
}

#[tokio::test]
async fn health_is_for_everybody() {
    let server = Server::start(verified()).await;
    for target in ["/health", "/health?verbose=1"] {
        let got = server.get(target).await;
        assert_eq!((got.status, got.body.as_str()), (200, r#"{"status":"ok"}"#));
        assert_eq!(got.header("cache-control"), Some("no-store"));
    }
    let head = server.send("HEAD", "/health", &[], "").await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(server.get("/ready").await.status, 404);
    assert_eq!(server.send("POST", "/health", &[], "").await.status, 404);
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn readiness_says_what_the_probe_found() {
    for (probe, status, body) in [
        (Ok(true), 200, r#"{"queue":3,"status":"ready"}"#),
        (Ok(false), 503, r#"{"queue":3,"status":"unavailable"}"#),
        (Err("desk_closed"), 503, r#"{"error":"desk_closed","status":"unavailable"}"#),
    ] {
        let server = Server::start_with(verified(), ListenerSettings::default(), |options| {
            options.readiness = Some(Arc::new(move || async move {
                let detail = JsonObject::from([("queue".to_owned(), 3.into())]);
                probe.map(|ready| Readiness { ready, detail })
            }));
        })
        .await;
        let got = server.get("/ready?x=1").await;
        assert_eq!((got.status, got.body.as_str()), (status, body));
        assert_eq!(server.send("HEAD", "/ready", &[], "").await.status, status);
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn declared_routes_are_behind_the_same_door() {
    let with = |options: &mut scion_mcp_server::HttpServeOptions| options.routes = vec![route("/hello")];
    let server = Server::start_with(open(), ListenerSettings::default(), with).await;
    let got = server.get("/hello?name").await;
    assert_eq!((got.status, got.body.as_str(), got.header("content-type")), (200, "helloname", Some("text/plain")));
    assert_eq!(server.send("POST", "/hello", &[], "x").await.status, 405);
    assert_eq!(server.get("/other").await.status, 404);
    let closed = Server::start_with(verified(), ListenerSettings::default(), with).await;
    assert_eq!(closed.get("/hello").await.status, 401);
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn a_route_that_is_taken_is_refused_before_listening() {
    for routes in [
        vec![route("/health")],
        vec![route("/ready")],
        vec![route("/mcp")],
        vec![route("relative")],
        vec![route("/a?b")],
        vec![route("/twice"), route("/twice")],
    ] {
        let mut server =
            Server::start_with(open(), ListenerSettings::default(), |options| options.routes = routes).await;
        assert!(matches!((&mut server.ended).await.unwrap(), Err(TransportRefusal::Route { .. })));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[tokio::test]
async fn metrics_have_a_place_that_is_theirs_while_they_are_served() {
    let measured = |_request: RouteRequest| async {
        RouteAnswer { status: StatusCode::OK, media_type: "text/plain", body: b"calls 1".to_vec() }
    };
    let with = |options: &mut scion_mcp_server::HttpServeOptions| options.metrics = Some(Arc::new(measured));
    let server = Server::start_with(open(), ListenerSettings::default(), with).await;
    assert_eq!(server.get("/metrics").await.body, "calls 1");
    assert_eq!(server.send("POST", "/metrics", &[], "x").await.status, 405);
    let closed = Server::start_with(verified(), ListenerSettings::default(), with).await;
    assert_eq!(closed.get("/metrics").await.status, 401);
    let free = Server::start_with(open(), ListenerSettings::default(), |options| {
        options.routes = vec![route("/metrics")];
    });
    assert_eq!(free.await.get("/metrics").await.body, "hello");
    let mut both = Server::start_with(open(), ListenerSettings::default(), |options| {
        with(options);
        options.routes = vec![route("/metrics")];
    })
    .await;
    assert!(matches!((&mut both.ended).await.unwrap(), Err(TransportRefusal::Route { .. })));
}
