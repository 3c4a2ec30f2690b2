//! HTTP/2, with the behaviours that it can express; the others become a reset of the stream.

use std::io;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::answer::{Answer, Framing};
use crate::behaviour::{Behaviour, Lie};
use crate::http1::{bomb, echo};
use crate::received::Received;
use crate::server::{Peer, Shared, Wire};

type Body = BoxBody<Bytes, io::Error>;

/// What follows the faithful part of a body.
enum Tail {
    End,
    Silence,
    Reset,
    Repeat(Bytes, Duration),
}

/// Serves a connection until it ends.
pub(crate) async fn serve<S: Wire + 'static>(stream: S, peer: Peer, shared: &std::sync::Arc<Shared>) {
    let service = hyper::service::service_fn(move |request| {
        let (peer, shared) = (peer.clone(), std::sync::Arc::clone(shared));
        async move { respond(request, peer, shared).await }
    });
    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    // How it ended is of no interest: the client's view is what is tested.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(
    request: Request<Incoming>,
    peer: Peer,
    shared: std::sync::Arc<Shared>,
) -> Result<Response<Body>, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let mut headers: Vec<(String, String)> = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    if let Some(authority) = head.uri.authority() {
        headers.push(("host".to_owned(), authority.to_string()));
    }
    let received = Received {
        connection: peer.connection,
        method: head.method.to_string(),
        target: head.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        headers,
        body: body.to_vec(),
        sni: peer.sni,
        client_certificate: peer.client_certificate,
        http2: true,
        ..Received::default()
    };
    let (received, mut behaviour) = shared.decide(received);
    loop {
        behaviour = match behaviour {
            Behaviour::After(pause, next) => {
                tokio::time::sleep(pause).await;
                *next
            }
            Behaviour::Gated(gate, next) => {
                gate.wait().await;
                *next
            }
            ready => {
                behaviour = ready;
                break;
            }
        };
    }
    let json = || Answer::status(200).header("content-type", "application/json");
    let (answer, tail) = match behaviour {
        Behaviour::Answer(answer) => (answer, Tail::End),
        Behaviour::Echo(status) => (echo(status, &received), Tail::End),
        Behaviour::StallBeforeHead | Behaviour::StallInHead => std::future::pending::<(Answer, Tail)>().await,
        Behaviour::StallInBody(answer) => (half(answer), Tail::Silence),
        Behaviour::ResetInBody(answer) => (half(answer), Tail::Reset),
        Behaviour::DripForEver(pause) => (json(), Tail::Repeat(Bytes::from_static(b"["), pause)),
        Behaviour::EndlessBody | Behaviour::EndlessClose => {
            (json(), Tail::Repeat(Bytes::from_static(&[b'['; 0x4000]), Duration::ZERO))
        }
        Behaviour::HugeHeader(size) => (Answer::ok("{}").header("x-huge", vec![b'h'; size]), Tail::End),
        Behaviour::ManyHeaders(count) => {
            ((0..count).fold(Answer::ok("{}"), |answer, at| answer.header(&format!("x-{at}"), "v")), Tail::End)
        }
        Behaviour::Bomb(codings, size) => (bomb(&codings, size).await, Tail::End),
        Behaviour::Lie(Lie::LengthTooLong) => {
            (Answer::ok("{}").framing(Framing::Close).header("content-length", "4096"), Tail::End)
        }
        Behaviour::Lie(Lie::LengthTooShort) => {
            (Answer::ok("{}").framing(Framing::Close).header("content-length", "1"), Tail::End)
        }
        // An error of the service resets the stream.
        _ => return Err(io::Error::other("not expressible in HTTP/2")),
    };
    Ok(response(answer, tail, &shared))
}

fn half(mut answer: Answer) -> Answer {
    let length = answer.body.len();
    answer.body.truncate(length / 2);
    answer.framing = Framing::Close;
    answer.header("content-length", length.to_string())
}

fn response(answer: Answer, tail: Tail, shared: &std::sync::Arc<Shared>) -> Response<Body> {
    let mut response = Response::new(());
    *response.status_mut() = answer.status.try_into().expect("a status of a test");
    for (name, value) in &answer.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name of a test");
        if let Ok(value) = HeaderValue::from_bytes(value) {
            response.headers_mut().append(name, value);
        }
    }
    let mut frames = Vec::new();
    if !answer.body.is_empty() {
        shared.count_sent(answer.body.len());
        frames.push(Ok(Frame::data(Bytes::from(answer.body))));
    }
    if !answer.trailers.is_empty() {
        let mut trailers = HeaderMap::new();
        for (name, value) in &answer.trailers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name of a test");
            trailers.insert(name, HeaderValue::from_str(value).expect("a header value of a test"));
        }
        frames.push(Ok(Frame::trailers(trailers)));
    }
    let frames = stream::iter(frames);
    let body = match tail {
        Tail::End => BodyExt::boxed(StreamBody::new(frames)),
        Tail::Silence => BodyExt::boxed(StreamBody::new(frames.chain(stream::pending()))),
        Tail::Reset => {
            let reset = stream::once(async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(io::Error::from(io::ErrorKind::ConnectionReset))
            });
            // A body has to be shareable between threads; a mutex around the future makes it so.
            BodyExt::boxed(StreamBody::new(SyncStream(frames.chain(reset).boxed().into())))
        }
        Tail::Repeat(bytes, pause) => {
            let shared = std::sync::Arc::clone(shared);
            let repeat = stream::repeat(bytes).then(move |bytes| {
                let shared = std::sync::Arc::clone(&shared);
                async move {
                    if !pause.is_zero() {
                        tokio::time::sleep(pause).await;
                    }
                    shared.count_sent(bytes.len());
                    Ok::<_, io::Error>(Frame::data(bytes))
                }
            });
            BodyExt::boxed(StreamBody::new(SyncStream(frames.chain(repeat).boxed().into())))
        }
    };
    response.map(|()| body)
}

/// Makes a stream shareable: it is only ever polled through `&mut`.
struct SyncStream<T>(std::sync::Mutex<stream::BoxStream<'static, T>>);

impl<T> stream::Stream for SyncStream<T> {
    type Item = T;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<Option<T>> {
        let inner = self.get_mut().0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        inner.poll_next_unpin(context)
    }
}
