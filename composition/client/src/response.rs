use std::any::Any;
use std::fmt;

use scion_domain::http::{
    Bytes, HeaderMap, Problem, RateSnapshot, ResponseHead, ResponseRefusal, StatusCode, Url, header,
};
use scion_domain::json::{Json, JsonLimits, parse_with, read_dotted};
use scion_ports::{BodyStream, InboundResponse};
use serde::de::DeserializeOwned;

use crate::ClientRefusal;
use crate::pacing::Turn;

/// An answer whose body is still to be read. Dropping it ends the exchange; its place among the concurrent calls is free then.
pub struct Response {
    pub(crate) head: ResponseHead,
    pub(crate) body: Box<dyn BodyStream>,
    pub(crate) rate: Option<RateSnapshot>,
    pub(crate) limit: u64,
    pub(crate) turn: Turn,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.head.status).finish_non_exhaustive()
    }
}

impl Response {
    /// The status.
    pub const fn status(&self) -> StatusCode {
        self.head.status
    }

    /// The header fields.
    pub const fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The URL that answered.
    pub const fn url(&self) -> &Url {
        &self.head.url
    }

    /// What the server says about its rate limits.
    pub const fn rate_limit(&self) -> Option<&RateSnapshot> {
        self.rate.as_ref()
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ClientRefusal> {
        Ok(self.body.chunk().await?)
    }

    /// The whole body.
    pub async fn bytes(self) -> Result<Bytes, ClientRefusal> {
        Ok(self.read().await?.body)
    }

    /// A JSON body, whatever the status is.
    pub async fn json<T: DeserializeOwned + 'static>(self) -> Result<T, ClientRefusal> {
        self.read().await?.decode()
    }

    /// The problem (RFC 9457) of an error answer; of any other, one made of its status. At most 64 KiB are read.
    pub async fn problem(mut self) -> Problem {
        let body = start_of_body(self.body.as_mut()).await;
        Problem::read(self.head.status, content_type(&self.head), &body)
    }

    async fn read(self) -> Result<Whole, ClientRefusal> {
        let Self { head, body, rate, limit, turn } = self;
        let mut inbound = InboundResponse { head, body };
        let body = inbound.bytes().await?;
        drop(turn);
        let host = inbound.head.url.host_str().unwrap_or_default().to_owned();
        Ok(Whole { head: inbound.head, body, rate, host, limit })
    }
}

/// An answer that was read.
pub(crate) struct Whole {
    pub(crate) head: ResponseHead,
    pub(crate) body: Bytes,
    pub(crate) rate: Option<RateSnapshot>,
    pub(crate) host: String,
    pub(crate) limit: u64,
}

impl Whole {
    fn refuse(&self) -> ClientRefusal {
        ResponseRefusal::NotJson { host: self.host.clone(), status: self.head.status.as_u16() }.into()
    }

    /// The JSON body; an empty one is null.
    pub(crate) fn json(&self) -> Result<Json, ClientRefusal> {
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Json::Null);
        }
        let max_bytes = usize::try_from(self.limit).unwrap_or(usize::MAX);
        parse_with(body, JsonLimits { max_bytes, ..JsonLimits::DEFAULT }).map_err(|_| self.refuse())
    }

    pub(crate) fn decode<T: DeserializeOwned + 'static>(&self) -> Result<T, ClientRefusal> {
        let mut wanted: Option<T> = None;
        if let Some(slot) = (&mut wanted as &mut dyn Any).downcast_mut::<Option<Json>>() {
            *slot = Some(self.json()?);
        }
        if let Some(value) = wanted {
            return Ok(value);
        }
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
        let body = if body.iter().all(u8::is_ascii_whitespace) { b"null" } else { body };
        serde_json::from_slice(body).map_err(|error| if error.is_data() { shape(&self.host) } else { self.refuse() })
    }

    /// The refusal of a body that tells of a failure although the status does not.
    pub(crate) fn error_at(&self, path: &str) -> Result<(), ClientRefusal> {
        let body = self.json()?;
        let nothing = match read_dotted(&body, path) {
            None | Some(Json::Null | Json::Bool(false)) => true,
            Some(Json::String(text)) => text.is_empty(),
            Some(Json::Array(items)) => items.is_empty(),
            Some(Json::Object(members)) => members.is_empty(),
            Some(_) => false,
        };
        if nothing {
            return Ok(());
        }
        Err(ResponseRefusal::ErrorInBody { host: self.host.clone(), path: path.to_owned() }.into())
    }
}

fn shape(host: &str) -> ClientRefusal {
    ResponseRefusal::Shape { host: host.to_owned(), what: "of the expected shape" }.into()
}

/// A value as a type; [`Json`] stays as it is, with every digit.
pub(crate) fn typed<T: DeserializeOwned + 'static>(host: &str, value: &Json) -> Result<T, ClientRefusal> {
    let mut wanted: Option<T> = None;
    if let Some(slot) = (&mut wanted as &mut dyn Any).downcast_mut::<Option<Json>>() {
        *slot = Some(value.clone());
    }
    if let Some(value) = wanted {
        return Ok(value);
    }
    serde_json::from_value(value.into()).map_err(|_| shape(host))
}

pub(crate) fn content_type(head: &ResponseHead) -> Option<&str> {
    head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
}

/// As much of an error body as is worth reading. One that breaks off is read so far.
pub(crate) async fn start_of_body(body: &mut dyn BodyStream) -> Vec<u8> {
    let mut out = Vec::new();
    while let Ok(Some(chunk)) = body.chunk().await {
        let room = Problem::MAX_BODY - out.len();
        out.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if out.len() == Problem::MAX_BODY {
            break;
        }
    }
    out
}
