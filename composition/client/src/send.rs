//! One call: attempts under one deadline.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use scion_domain::http::{
    AttemptEnd, AttemptFacts, Bytes, CallRefusal, ExchangeLimits, HttpRefusal, OutboundRequest, Problem, RateSnapshot,
    ResponseHead, ResponseRefusal, StatusCode, Url, header,
};
use scion_domain::refusal::Refusal as _;
use scion_domain::retry::Decision;
use scion_ports::{BodyStream, Clock, InboundResponse};
use tracing::debug;

use crate::ClientRefusal;
use crate::client::Inner;
use crate::pacing::Turn;
use crate::request::Call;
use crate::response::{Response, Whole, content_type, start_of_body};

/// What the caller wants of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// The whole body of a success, read as part of the attempt.
    Whole,
    /// The body of a success, unread.
    Stream,
    /// The body of any answer, unread.
    Any,
}

pub(crate) enum Body {
    Read(Bytes),
    Unread(Box<dyn BodyStream>),
}

/// One attempt that brought an answer.
pub(crate) struct Answered {
    pub(crate) head: ResponseHead,
    pub(crate) body: Body,
    pub(crate) turn: Turn,
    generation: u64,
}

/// An attempt that brought none.
pub(crate) enum Failed {
    Exchange(HttpRefusal),
    Final(ClientRefusal),
}

/// A request with its credential.
struct Outbound {
    request: OutboundRequest,
    generation: u64,
    strip_cookies: bool,
    /// Query parameters that hold a secret.
    secret_names: Vec<String>,
}

/// A URL without some query parameters.
fn without(url: &mut Url, names: &[String]) {
    if !url.query_pairs().any(|(name, _)| names.iter().any(|secret| *secret == name)) {
        return;
    }
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| names.iter().all(|secret| secret != name))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
}

/// A future that must be done before its time; `None` when it is not.
async fn within<T>(clock: &dyn Clock, time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let future = std::pin::pin!(future);
    match select(future, clock.sleep(time)).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

impl Inner {
    /// A success whose body was read. What the call says about errors in bodies is checked.
    pub(crate) async fn whole(&self, call: &Call) -> Result<Whole, ClientRefusal> {
        let (answered, rate) = self.run(call, Want::Whole).await?;
        let Answered { head, body: Body::Read(body), .. } = answered else {
            return Err(CallRefusal::Deadline { sent: true }.into());
        };
        let host = self.host();
        if head.status.is_redirection() && head.status != StatusCode::NOT_MODIFIED {
            return Err(ResponseRefusal::Redirected { host, status: head.status.as_u16() }.into());
        }
        let whole = Whole { head, body, rate, host, limit: call.body_bytes };
        if let Some(path) = &call.error_path {
            whole.error_at(path)?;
        }
        Ok(whole)
    }

    /// An answer whose body is unread.
    pub(crate) async fn stream(&self, call: &Call, any: bool) -> Result<Response, ClientRefusal> {
        let (answered, rate) = self.run(call, if any { Want::Any } else { Want::Stream }).await?;
        let Answered { head, body: Body::Unread(body), turn, .. } = answered else {
            return Err(CallRefusal::Deadline { sent: true }.into());
        };
        Ok(Response { head, body, rate, limit: call.body_bytes, turn })
    }

    async fn run(&self, call: &Call, want: Want) -> Result<(Answered, Option<RateSnapshot>), ClientRefusal> {
        let clock = &*self.clock;
        let deadline = clock.monotonic().saturating_add(call.total);
        // Asked anew before each step: every one of them takes time.
        let left = || deadline.saturating_sub(clock.monotonic());
        let sent = AtomicBool::new(false);
        let over = || ClientRefusal::from(CallRefusal::Deadline { sent: sent.load(Ordering::Relaxed) });
        self.budget.lock().unwrap_or_else(PoisonError::into_inner).request();
        let mut number = 1;
        let mut may_renew = true;
        let mut last = None;
        loop {
            let attempt = self.attempt(call, want, deadline, &sent);
            let mut ended = within(clock, left(), attempt).await.ok_or_else(over)?;
            let challenged = matches!(&ended, Ok(answered) if self.is_challenge(answered.head.status));
            if challenged && let Ok(challenge) = ended {
                let paid = self.pay(call, want, deadline, challenge);
                ended = Ok(within(clock, left(), paid).await.ok_or_else(over)??);
            }
            let now_unix_ms = clock.unix_millis();
            let facts = |end| AttemptFacts {
                method: &call.method,
                declared_safe: call.safe,
                number,
                remaining: left(),
                now_unix_ms,
                end,
            };
            let wait = match &ended {
                // A payment is sent once.
                _ if challenged => None,
                // That there is no turn for another attempt says less than why another was needed.
                Err(Failed::Final(ClientRefusal::Call(CallRefusal::Paced { .. }))) if last.is_some() => None,
                Err(Failed::Final(refusal)) => return Err(refusal.clone()),
                Err(Failed::Exchange(refusal)) => self.wait(&facts(AttemptEnd::Failed(refusal))),
                Ok(answered) => {
                    let status = answered.head.status;
                    let rate = RateSnapshot::read(&answered.head.headers, now_unix_ms);
                    self.adapt(status, rate.as_ref(), now_unix_ms);
                    let throttled = self.rules.is_throttle(status, rate.as_ref());
                    let refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) && !throttled;
                    if refused
                        && may_renew
                        && let Some(auth) = &self.auth
                    {
                        may_renew = false;
                        let renewed = auth.rejected(answered.generation, status);
                        if within(clock, left(), renewed).await.ok_or_else(over)?? {
                            debug!(status = status.as_u16(), "the credential is renewed; the call is made once more");
                            continue;
                        }
                    }
                    self.wait(&facts(AttemptEnd::Answer { status, rate: rate.as_ref() }))
                }
            };
            if let Some(wait) = wait {
                last = self.outcome(&ended, now_unix_ms);
                // The place among the concurrent calls is free while this one waits.
                drop(ended);
                debug!(attempt = number, wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX), "trying again");
                clock.sleep(wait).await;
                number += 1;
                continue;
            }
            let answered = match ended {
                Ok(answered) => answered,
                Err(Failed::Exchange(refusal)) => return Err(refusal.into()),
                Err(Failed::Final(refusal)) => return Err(last.unwrap_or(refusal)),
            };
            let rate = RateSnapshot::read(&answered.head.headers, now_unix_ms);
            if want != Want::Any && (answered.head.status.is_client_error() || answered.head.status.is_server_error()) {
                let refusal = self.refused(call, answered, rate.as_ref(), now_unix_ms);
                return Err(within(clock, left(), refusal).await.ok_or_else(over)?);
            }
            return Ok((answered, rate));
        }
    }

    /// The refusal an attempt stands for, without its body.
    fn outcome(&self, ended: &Result<Answered, Failed>, now_unix_ms: i64) -> Option<ClientRefusal> {
        let answered = match ended {
            Ok(answered) => answered,
            Err(Failed::Exchange(refusal)) => return Some(refusal.clone().into()),
            Err(Failed::Final(refusal)) => return Some(refusal.clone()),
        };
        let (status, rate) = (answered.head.status, RateSnapshot::read(&answered.head.headers, now_unix_ms));
        if self.rules.is_throttle(status, rate.as_ref()) {
            let problem = "about:blank".to_owned();
            return Some(ResponseRefusal::throttled(self.host(), rate.as_ref(), now_unix_ms, problem).into());
        }
        ResponseRefusal::of_status(&self.host(), status, rate.as_ref(), now_unix_ms, None).map(Into::into)
    }

    /// How long to wait before the next attempt; `None` when there is none.
    fn wait(&self, facts: &AttemptFacts<'_>) -> Option<Duration> {
        let attempt = self.rules.attempt(facts)?;
        let mut random = [0; 8];
        self.entropy.fill(&mut random);
        match self.rules.policy.decide(&attempt, u64::from_le_bytes(random)) {
            Decision::After(wait) => {
                let allowed = self.budget.lock().unwrap_or_else(PoisonError::into_inner).retry();
                if !allowed {
                    debug!("the retry budget is used up");
                }
                allowed.then_some(wait)
            }
            Decision::GiveUp(reason) => {
                debug!(?reason, "no further attempt");
                None
            }
        }
    }

    /// Holds the other calls of this upstream back as long as the server says.
    fn adapt(&self, status: StatusCode, rate: Option<&RateSnapshot>, now_unix_ms: i64) {
        let Some(rate) = rate.filter(|_| self.adaptive) else { return };
        let throttled = self.rules.is_throttle(status, Some(rate));
        // A `Retry-After` of another status concerns one resource, not the pace.
        let wait = if throttled || rate.exhausted() { rate.asked_wait(now_unix_ms) } else { None };
        if let Some(wait) = wait {
            self.pacing.pause(self.clock.monotonic(), wait);
        }
    }

    pub(crate) async fn attempt(
        &self,
        call: &Call,
        want: Want,
        deadline: Duration,
        sent: &AtomicBool,
    ) -> Result<Answered, Failed> {
        let clock = &*self.clock;
        let turn = self.pacing.turn(clock, deadline).await.map_err(|refusal| Failed::Final(refusal.into()))?;
        let outbound = self.outbound(call, deadline).await.map_err(Failed::Final)?;
        let Outbound { request, generation, strip_cookies, secret_names } = outbound;
        sent.store(true, Ordering::Relaxed);
        let started = clock.monotonic();
        let answer = self.exchange.send(request).await;
        let elapsed_ms = u64::try_from(clock.monotonic().saturating_sub(started).as_millis()).unwrap_or(u64::MAX);
        let host = self.options.base_url.host_str().unwrap_or_default();
        let InboundResponse { mut head, body } = match answer {
            Ok(answer) => {
                debug!(%host, method = %call.method, status = answer.head.status.as_u16(), elapsed_ms, "answered");
                answer
            }
            Err(refusal) => {
                debug!(%host, method = %call.method, code = refusal.code(), elapsed_ms, "no answer");
                return Err(Failed::Exchange(refusal));
            }
        };
        if strip_cookies {
            head.headers.remove(header::SET_COOKIE);
        }
        without(&mut head.url, &secret_names);
        let success = !head.status.is_client_error() && !head.status.is_server_error();
        if want != Want::Whole || !success {
            return Ok(Answered { head, body: Body::Unread(body), turn, generation });
        }
        let mut inbound = InboundResponse { head, body };
        let body = inbound.bytes().await.map_err(Failed::Exchange)?;
        Ok(Answered { head: inbound.head, body: Body::Read(body), turn, generation })
    }

    async fn outbound(&self, call: &Call, deadline: Duration) -> Result<Outbound, ClientRefusal> {
        let mut request = OutboundRequest::new(call.method.clone(), call.url.clone());
        request.headers = self.options.headers.clone();
        for (name, value) in &call.headers {
            request.headers.insert(name.clone(), value.clone());
        }
        request.body = call.body.clone();
        request.redirects = self.redirects;
        let (mut generation, mut strip_cookies, mut secret_names) = (0, false, Vec::new());
        if let Some(auth) = &self.auth {
            let material = auth.material().await?;
            self.remember(&material);
            for (name, value) in &material.headers {
                let mut value = value.clone();
                value.set_sensitive(true);
                request.headers.insert(name.clone(), value);
            }
            secret_names = material.query.iter().map(|(name, _)| name.clone()).collect();
            // A server may name the URL of the next page with the key it was asked with.
            without(&mut request.url, &secret_names);
            for (name, value) in &material.query {
                request.url.query_pairs_mut().append_pair(name, value.expose());
            }
            (generation, strip_cookies) = (material.generation, material.strip_cookies);
        }
        if strip_cookies {
            request.headers.remove(header::COOKIE);
        }
        let total = deadline.saturating_sub(self.clock.monotonic());
        let limits = self.options.limits;
        request.limits = ExchangeLimits {
            total,
            idle: limits.idle.min(total),
            connect: limits.connect.min(total),
            body_bytes: call.body_bytes,
            ..limits
        };
        Ok(Outbound { request, generation, strip_cookies, secret_names })
    }

    /// The refusal of an error answer. Of its body at most 64 KiB are read, for the type of a problem.
    async fn refused(
        &self,
        call: &Call,
        answered: Answered,
        rate: Option<&RateSnapshot>,
        now_unix_ms: i64,
    ) -> ClientRefusal {
        let Answered { head, body, turn, .. } = answered;
        let bytes = match body {
            Body::Read(bytes) => bytes.to_vec(),
            Body::Unread(mut body) => start_of_body(body.as_mut()).await,
        };
        drop(turn);
        let problem = Problem::read(head.status, content_type(&head), &bytes);
        let kind = if self.repeats(call, problem.safe_kind()) { "about:blank" } else { problem.safe_kind() };
        if self.rules.is_throttle(head.status, rate) {
            return ResponseRefusal::throttled(self.host(), rate, now_unix_ms, kind.to_owned()).into();
        }
        let refusal = ResponseRefusal::of_status(&self.host(), head.status, rate, now_unix_ms, Some(kind));
        refusal.map_or_else(|| CallRefusal::Deadline { sent: true }.into(), Into::into)
    }
}
