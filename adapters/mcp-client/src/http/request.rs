//! Building and sending requests.

use std::collections::HashMap;
use std::time::Duration;

use scion_domain::auth::AuthMaterial;
use scion_domain::http::header::{ACCEPT, AUTHORIZATION, WWW_AUTHENTICATE};
use scion_domain::http::{ExchangeLimits, HeaderName, HeaderValue, HttpRefusal, Method, OutboundRequest, StatusCode};
use scion_domain::mcp::McpRefusal;
use scion_domain::refusal::Refusal as _;
use scion_ports::InboundResponse;

use super::{Authorization, Shared, shown};
use crate::credentials::login_refusal;
use crate::fault::Fault;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// How much longer an exchange may take than the operation it serves: the operation names the deadline, not the exchange.
const SLACK: Duration = Duration::from_secs(5);
/// The events of one reply may add up to this many messages.
const MESSAGES: u64 = 16;
/// As long as any session lives.
const STANDING: Duration = Duration::from_hours(10 * 365 * 24);

/// What a request is answered with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// A reply within the deadline of an operation, in one piece or as events.
    Reply,
    /// A stream of changes that may be silent for hours and stands as long as the session. Each event is bounded.
    Standing,
}

impl Shared {
    fn limits(&self, answer: Answer) -> ExchangeLimits {
        let total = match answer {
            Answer::Reply => self.timeout.saturating_add(SLACK).min(STANDING),
            Answer::Standing => STANDING,
        };
        let body_bytes = match answer {
            Answer::Reply => (self.limit as u64).saturating_mul(MESSAGES),
            Answer::Standing => u64::MAX,
        };
        ExchangeLimits {
            body_bytes,
            connect: self.timeout.min(STANDING),
            idle: total,
            total,
            ..ExchangeLimits::default()
        }
    }

    /// A request with its protocol headers.
    pub(super) fn request(
        &self,
        method: Method,
        session: Option<&str>,
        last_event: Option<&str>,
        protocol: HashMap<HeaderName, HeaderValue>,
        answer: Answer,
    ) -> Result<OutboundRequest, Fault> {
        let mut request = OutboundRequest::new(method, self.url.clone());
        request.limits = self.limits(answer);
        request.headers.insert(ACCEPT, BOTH);
        request.headers.extend(protocol);
        for (name, value) in [(SESSION_ID, session), (LAST_EVENT_ID, last_event)] {
            if let Some(value) = value {
                let mut value = HeaderValue::from_str(value).map_err(|_| Fault::Malformed)?;
                // Whoever knows the id of a session can speak in it.
                value.set_sensitive(name == SESSION_ID);
                request.headers.insert(name, value);
            }
        }
        Ok(request)
    }

    /// Sends a request with its credentials and gives it up when the session ends; only the farewell is sent after that.
    /// Redirects are answers: following one would carry the credentials elsewhere.
    pub(super) async fn deliver(&self, request: OutboundRequest) -> Result<InboundResponse, Fault> {
        let farewell = request.method == Method::DELETE;
        tokio::select! {
            biased;
            outcome = self.authenticated(request) => outcome,
            fault = self.end.wait(), if !farewell => Err(fault),
        }
    }

    /// A request whose credential is refused is sent again with what the challenge led to; the server has done nothing by then. 401
    /// and 403 are followed once each: a first token, then a step up to more scopes.
    async fn authenticated(&self, mut request: OutboundRequest) -> Result<InboundResponse, Fault> {
        let auth = match &self.authorization {
            Authorization::None => return self.hand_out(request).await,
            Authorization::Bearer(value) => {
                request.headers.insert(AUTHORIZATION, value.clone());
                return self.hand_out(request).await;
            }
            Authorization::Auth(auth) => auth,
        };
        let refused = |refusal| Fault::Refused(login_refusal(&refusal));
        let mut followed = Vec::with_capacity(2);
        loop {
            let material = auth.material().await.map_err(refused)?;
            let response = self.hand_out(with(request.clone(), &material)).await?;
            let status = response.head.status;
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) || followed.contains(&status) {
                return Ok(response);
            }
            followed.push(status);
            let values: Vec<&str> = response
                .head
                .headers
                .get_all(WWW_AUTHENTICATE)
                .iter()
                .filter_map(|value| value.to_str().ok())
                .collect();
            if !auth.challenged(material.generation, status, &values).await.map_err(refused)? {
                return Ok(response);
            }
        }
    }

    async fn hand_out(&self, request: OutboundRequest) -> Result<InboundResponse, Fault> {
        self.exchange.send(request).await.map_err(|refusal| self.unsent(&refusal))
    }

    /// What a failure to exchange anything means.
    fn unsent(&self, refusal: &HttpRefusal) -> Fault {
        match refusal {
            HttpRefusal::Connect { .. } | HttpRefusal::Timeout { .. } => Fault::Unreachable,
            HttpRefusal::Tls { .. } => Fault::Refused(McpRefusal::Tls { endpoint: shown(&self.url) }),
            HttpRefusal::Destination { reason, .. } => self.not_dialled(reason),
            HttpRefusal::Url { .. } | HttpRefusal::UnknownProfile { .. } | HttpRefusal::Profile { .. } => {
                self.not_dialled(refusal.code())
            }
            HttpRefusal::TooLarge { .. } => Fault::TooLarge,
            HttpRefusal::Malformed { .. } => Fault::Malformed,
            _ => Fault::Closed,
        }
    }

    fn not_dialled(&self, reason: &'static str) -> Fault {
        Fault::Refused(McpRefusal::NotDialled { endpoint: shown(&self.url), reason })
    }
}

/// The request with what authenticates it.
fn with(mut request: OutboundRequest, material: &AuthMaterial) -> OutboundRequest {
    request.headers.extend(material.headers.iter().cloned());
    for (name, value) in &material.query {
        request.url.query_pairs_mut().append_pair(name, value.expose());
    }
    request
}
