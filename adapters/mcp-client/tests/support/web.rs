//! Real HTTP servers on a loopback port.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A server that ends when it is dropped.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    _serving: AbortOnDropHandle<()>,
}

impl Web {
    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves each request with a function.
    pub(crate) async fn start<F>(answer: impl Fn(Request<Incoming>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Arc::new(answer);
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let answer = Arc::clone(&answer);
                let service = service_fn(move |request| {
                    let answer = answer(request);
                    async move { Ok::<_, Infallible>(answer.await) }
                });
                connections.spawn(async move {
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, _serving: AbortOnDropHandle::new(serving) }
    }

    /// Answers the messages of the enveloped era with a function of method and parameters. The probe is answered here.
    pub(crate) async fn enveloped(
        answer: impl Fn(&str, &Value) -> (u16, &'static str, String) + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        Self::start(move |request| {
            let answer = Arc::clone(&answer);
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                let method = message["method"].as_str().unwrap_or_default();
                if method == "server/discover" {
                    let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0,
                        "cacheScope": "private", "capabilities": {"tools": {}}});
                    return page(
                        200,
                        "application/json",
                        json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string(),
                    );
                }
                let (status, media, text) = answer(method, &message["params"]);
                page(status, media, text.replace("$ID", &message["id"].to_string()))
            }
        })
        .await
    }
}

/// A response.
pub(crate) fn page(status: u16, media: &str, text: impl Into<Bytes>) -> Answer {
    let body = Full::new(text.into()).boxed();
    Response::builder().status(status).header("content-type", media).body(body).unwrap()
}
