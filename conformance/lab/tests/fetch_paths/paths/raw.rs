//! The exchange itself: the path below every other.

use scion_domain::http::{Bytes, HeaderValue, Method, OutboundRequest, RedirectRule, StatusCode, header};
use scion_lab::Answer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{FetchPath, Outcome, SMALL, Wants, no_prologue, text};
use crate::stage::{SECRET, Stage};

const RAW: FetchPath = FetchPath {
    name: "raw",
    holds: SMALL,
    wants: Wants::Answer,
    tls: false,
    prologue: no_prologue,
    leads: None,
    roams: false,
    honest: Some(|_, _| Answer::ok("{}")),
    run: |stage| Box::pin(send(stage, Method::GET, RedirectRule::Return)),
};

pub(crate) const GET: FetchPath = FetchPath { name: "raw get", ..RAW };

pub(crate) const POST: FetchPath =
    FetchPath { name: "raw post", run: |stage| Box::pin(send(stage, Method::POST, RedirectRule::Follow(5))), ..RAW };

pub(crate) const FOLLOW: FetchPath = FetchPath {
    name: "raw redirects",
    run: |stage| Box::pin(send(stage, Method::GET, RedirectRule::Follow(5))),
    ..RAW
};

pub(crate) const TLS: FetchPath = FetchPath {
    name: "raw tls",
    tls: true,
    // HTTP/2 has other endings for what it cannot express, so only the bounds are asked for.
    wants: Wants::Document,
    run: |stage| Box::pin(document(stage)),
    ..RAW
};

async fn send(stage: Stage, method: Method, redirects: RedirectRule) -> Outcome {
    let (status, body) = exchange(stage, method, redirects).await?;
    Ok(format!("{status} {}", String::from_utf8_lossy(&body)))
}

async fn exchange(stage: Stage, method: Method, redirects: RedirectRule) -> Result<(StatusCode, Bytes), String> {
    let exchange = stage.exchange().await.map_err(|refusal| text(&refusal))?;
    let body = if method == Method::POST { Bytes::from_static(SECRET.as_bytes()) } else { Bytes::new() };
    let mut request = OutboundRequest {
        body,
        redirects,
        limits: Stage::limits(),
        ..OutboundRequest::new(method, stage.base.clone())
    };
    request.url.set_query(Some(&format!("key={SECRET}")));
    let mut bearer = HeaderValue::from_str(&format!("Bearer {SECRET}")).unwrap();
    bearer.set_sensitive(true);
    request.headers.insert(header::AUTHORIZATION, bearer);
    let mut answer = exchange.send(request).await.map_err(|refusal| text(&refusal))?;
    let body = answer.bytes().await.map_err(|refusal| text(&refusal))?;
    Ok((answer.head.status, body))
}

pub(super) async fn document(stage: Stage) -> Outcome {
    let (status, body) = exchange(stage, Method::GET, RedirectRule::Follow(5)).await?;
    match serde_json::from_slice::<serde_json::Value>(&body) {
        Ok(document) if status.is_success() => Ok(document.to_string()),
        _ => Err("no document".to_owned()),
    }
}

/// No check, no bound, follows every redirect and repeats what the server said.
pub(super) async fn careless(stage: Stage) -> Outcome {
    let mut port = stage.base.port().unwrap();
    loop {
        #[expect(clippy::disallowed_methods, reason = "the path that shows what the table catches")]
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| error.to_string())?;
        let request = format!("GET / HTTP/1.1\r\nauthorization: Bearer {SECRET}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        while bytes.len() < 64 << 20 && stream.read_buf(&mut bytes).await.map_err(|error| error.to_string())? > 0 {}
        bytes.truncate(4096);
        let answer = String::from_utf8_lossy(&bytes).into_owned();
        match answer
            .split_once("location: ")
            .and_then(|(_, rest)| rest.split(['/', ':', '\r']).find_map(|part| part.parse().ok()))
        {
            Some(next) => port = next,
            None => return Err(answer),
        }
    }
}
