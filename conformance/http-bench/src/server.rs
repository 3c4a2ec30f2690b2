//! The peer of every measurement: a small JSON answer, HTTP/1.1, in a process of its own.

use std::convert::Infallible;
use std::io::Write as _;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// About the size of one record.
const BODY: &str = r#"{"id":4211,"name":"desk","open":true,"updated_at":"2026-01-02T03:04:05Z","labels":["a","b","c"],"owner":{"id":7,"login":"ada"},"text":"lorem ipsum dolor sit amet, consectetur adipiscing elit"}"#;

/// Serves until the process is killed; its first line on stdout is the address.
pub(crate) async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    std::io::stdout().flush()?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let service = service_fn(|_: Request<Incoming>| async {
                let mut response = Response::new(Full::new(Bytes::from_static(BODY.as_bytes())));
                response
                    .headers_mut()
                    .insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
                Ok::<_, Infallible>(response)
            });
            // A connection that ends is not an event here.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
