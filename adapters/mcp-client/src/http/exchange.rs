//! The exchanges of streamable HTTP, for the protocol library.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use scion_domain::http::header::CONTENT_TYPE;
use scion_domain::http::{HeaderName, HeaderValue, Method, StatusCode};
use scion_ports::InboundResponse;
use sse_stream::Sse;

use super::request::Answer;
use super::{HttpWire, WireFault, body, events};
use crate::fault::Fault;
use crate::wire::{self, REFUSED};

/// An error body larger than this is not an error message of the protocol.
const MAX_ERROR_BODY: usize = 64 << 10;

type Failure = StreamableHttpError<WireFault>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The kind of a body, by its media type without parameters.
#[derive(PartialEq, Eq)]
enum Media {
    Json,
    Events,
    Other,
}

fn media(response: &InboundResponse) -> Media {
    let value = response.head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "application/json" => Media::Json,
        "text/event-stream" => Media::Events,
        _ => Media::Other,
    }
}

impl HttpWire {
    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let shared = &self.0;
        shared.pending.note(message);
        let text = serde_json::to_vec(message).map_err(|_| Fault::Malformed)?;
        let request = match message {
            ClientJsonRpcMessage::Request(request) => Some(request),
            _ => None,
        };
        let lasts = request.is_some_and(|sent| matches!(sent.request, ClientRequest::SubscriptionsListenRequest(_)));
        let answer = if lasts { Answer::Standing } else { Answer::Reply };
        let mut post = shared.request(Method::POST, session, None, headers, answer)?;
        post.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        post.body = text.into();
        let response = shared.deliver(post).await?;
        let status = response.head.status;
        if !status.is_success() {
            let probe = request.is_some_and(|sent| matches!(sent.request, ClientRequest::DiscoverRequest(_)));
            let answer = self.refusal(response, session.is_some(), request.map(|sent| &sent.id), probe).await?;
            return Ok(StreamableHttpPostResponse::Json(answer, None));
        }
        let Some(request) = request else {
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        let given =
            response.head.headers.get("mcp-session-id").and_then(|value| value.to_str().ok()).map(str::to_owned);
        match media(&response) {
            Media::Events => {
                let stream = events::read(response, Arc::clone(shared), Some(request.id.clone()));
                Ok(StreamableHttpPostResponse::Sse(stream, given))
            }
            Media::Json => {
                let text = body::whole(response, shared.limit, &shared.end).await?;
                match wire::read(&text, &shared.pending) {
                    Ok(Some(answer)) => Ok(StreamableHttpPostResponse::Json(answer, given)),
                    _ => Err(Fault::Malformed),
                }
            }
            Media::Other => Err(Fault::Malformed),
        }
    }

    /// What an unsuccessful status means: an error message of the protocol, or a fault.
    async fn refusal(
        &self,
        response: InboundResponse,
        in_session: bool,
        request: Option<&RequestId>,
        probe: bool,
    ) -> Result<ServerJsonRpcMessage, Fault> {
        let status = response.head.status;
        match status {
            StatusCode::UNAUTHORIZED => return Err(Fault::Unauthorized),
            StatusCode::FORBIDDEN => return Err(Fault::Denied),
            StatusCode::TOO_MANY_REQUESTS => return Err(Fault::Limited),
            StatusCode::NOT_FOUND if in_session => {
                // The session is gone for every call, not only for this one.
                self.0.end.set(Fault::Closed);
                return Err(Fault::Closed);
            }
            _ => {}
        }
        if media(&response) == Media::Json
            && let Some(request) = request
            && let Ok(text) = body::whole(response, MAX_ERROR_BODY, &self.0.end).await
            && let Some(answer) = wire::refusal_of(request, &text, &self.0.pending)
        {
            return Ok(answer);
        }
        if status.is_server_error() {
            return Err(Fault::Unreachable);
        }
        // A server that knows no probe refuses it in some way of its own; it may still shake hands.
        let answer = request.filter(|_| probe && status.is_client_error());
        answer.and_then(|id| wire::unanswered(id, REFUSED, &self.0.pending)).ok_or(Fault::Malformed)
    }

    async fn listen(
        &self,
        session: Option<&str>,
        last_event: Option<&str>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let request = self.0.request(Method::GET, session, last_event, headers, Answer::Standing)?;
        let response = self.0.deliver(request).await?;
        let status = response.head.status;
        if status == StatusCode::NOT_FOUND && session.is_some() {
            self.0.end.set(Fault::Closed);
        }
        if !status.is_success() || media(&response) != Media::Events {
            // Also for other refusals: a server without this stream is asked once, not forever.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(events::read(response, Arc::clone(&self.0), None))
    }
}

impl StreamableHttpClient for HttpWire {
    type Error = WireFault;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        Ok(self.post(&message, session_id.as_deref(), custom_headers).await?)
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        _limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        // Our own bound holds instead: it is the same for both kinds of body.
        self.post_message(uri, message, session_id, auth_header, custom_headers).await
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session_id: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let request = self.0.request(Method::DELETE, Some(&session_id), None, custom_headers, Answer::Reply)?;
        self.0.deliver(request).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.listen(session_id.as_deref(), last_event_id.as_deref(), custom_headers).await
    }
}
