//! One request with its redirects.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::Full;
use hyper::Response;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use scion_domain::egress::{RedirectWalk, is_redirect};
use scion_domain::http::{Bytes, ExchangeLimits, HttpRefusal, OutboundRequest, RedirectRule, ResponseHead, StatusCode};
use scion_ports::{HttpExchange, InboundResponse};
use tokio::time::{Instant, sleep_until};

use crate::connector::{ATTEMPT, Attempt, Connector, PLAINTEXT, Route};
use crate::interim::{Interim, MAX_INTERIM};
use crate::{body, failure, head, redirect};

/// The largest head hyper reads at all, in bytes and fields; the limits of a request are at most these. hyper does not say
/// which of the two was exceeded, so its refusal counts as one of bytes.
const HEAD_BYTES: u32 = 256 * 1024;
const HEAD_FIELDS: usize = 256;
/// Idle connections of a host, and how long they are kept.
const IDLE_CONNECTIONS: usize = 64;
const IDLE_FOR: Duration = Duration::from_mins(1);

/// The longest bound of time that makes a difference.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// A client with its pool.
pub(crate) struct Exchange {
    client: Client<Connector, Full<Bytes>>,
    route: Arc<Route>,
}

impl Exchange {
    pub(crate) fn new(route: Route) -> Self {
        let route = Arc::new(route);
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_FOR)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(HEAD_BYTES as usize)
            .http1_max_headers(HEAD_FIELDS)
            .http2_max_header_list_size(HEAD_BYTES)
            .build(Connector(Arc::clone(&route)));
        Self { client, route }
    }

    /// One answer's head, within the bounds of time.
    async fn answer(
        &self,
        mut request: hyper::Request<Full<Bytes>>,
        limits: &ExchangeLimits,
        total: Instant,
        host: impl Fn() -> String,
    ) -> Result<Response<Incoming>, HttpRefusal> {
        let start = Instant::now();
        let attempt = Arc::new(Attempt::new(total.min(start + limits.connect)));
        let interim = Interim::watch(&mut request);
        let answer = ATTEMPT.scope(Arc::clone(&attempt), self.client.request(request));
        let timer = sleep_until(total.min(start + limits.idle));
        tokio::pin!(answer, timer);
        loop {
            tokio::select! {
                biased;
                // First: the connection that is cut for it fails too, for a reason of less use.
                () = interim.flooded() => {
                    let limit = u64::from(MAX_INTERIM);
                    return Err(HttpRefusal::TooLarge { host: host(), what: "interim answers", limit });
                }
                outcome = &mut answer => {
                    return outcome.map_err(|error| failure::of_exchange(&error, host(), limits.header_bytes as u64));
                }
                () = &mut timer => {
                    let now = Instant::now();
                    if now >= total {
                        return Err(HttpRefusal::Timeout { host: host(), phase: "total" });
                    }
                    // The connector keeps its own limit; silence counts from when a connection stood.
                    let next = match attempt.stood() {
                        _ if attempt.dialling() => attempt.by + limits.idle,
                        Some(stood) => stood + limits.idle,
                        None => now,
                    };
                    if next <= now {
                        return Err(HttpRefusal::Timeout { host: host(), phase: "idle" });
                    }
                    timer.as_mut().reset(total.min(next));
                }
            }
        }
    }
}

#[async_trait]
impl HttpExchange for Exchange {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let OutboundRequest { mut method, mut url, mut headers, mut body, mut limits, redirects } = request;
        // "As long as it takes" is a time the clock could not hold.
        for limit in [&mut limits.total, &mut limits.connect, &mut limits.idle] {
            *limit = (*limit).min(LONGEST);
        }
        let total = Instant::now() + limits.total;
        head::prepare(&mut headers);
        self.route.target(&url)?;
        let mut walk: Option<RedirectWalk> = None;
        let mut followed = 0;
        loop {
            let host = || failure::host_of(&url);
            let later = |refusal| if followed > 0 { failure::after_redirect(refusal) } else { refusal };
            let last = matches!(redirects, RedirectRule::Return);
            let sent = if last { std::mem::take(&mut headers) } else { headers.clone() };
            let outgoing = head::request(&method, &url, sent, body.clone())?;
            let response = self.answer(outgoing, &limits, total, host).await.map_err(later)?;
            let (parts, incoming) = response.into_parts();
            head::check(&parts.headers, &limits, host)?;
            if parts.status == StatusCode::SWITCHING_PROTOCOLS {
                return Err(HttpRefusal::Malformed { host: host(), what: "status" });
            }
            if let RedirectRule::Follow(limit) = redirects
                && is_redirect(parts.status)
            {
                let walk = walk.get_or_insert_with(|| {
                    RedirectWalk::new(url.clone(), PLAINTEXT, limit, method.clone(), !body.is_empty())
                });
                if let Some(hop) = redirect::next(walk, &self.route.egress, parts.status, &parts.headers, limit, host)?
                {
                    self.route.target(&hop.url).map_err(failure::after_redirect)?;
                    redirect::drain(incoming, total.min(Instant::now() + limits.idle)).await;
                    if !hop.credentials {
                        head::drop_credentials(&mut headers);
                    }
                    if !hop.body {
                        head::drop_body_fields(&mut headers);
                        body = Bytes::new();
                    }
                    (method, url, followed) = (hop.method, hop.url, walk.followed());
                    continue;
                }
            }
            let mut answered = parts.headers;
            let body =
                body::open(incoming, &method, parts.status, &mut answered, &limits, total, failure::host_text(&url))?;
            let head = ResponseHead { status: parts.status, headers: answered, url, redirects: followed };
            return Ok(InboundResponse { head, body: Box::new(body) });
        }
    }
}
