//! A scripted exchange, a credential that can be renewed, and a client over them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use scion_client::{ClientBuilder, ClientPorts, ClientRefusal, GovernedClient, NoAuthOnly};
use scion_conformance::reference::VirtualClock;
use scion_domain::auth::{AuthDeclaration, AuthMaterial, AuthRefusal, Bearer};
use scion_domain::http::{
    Bytes, HeaderMap, HeaderName, HeaderValue, HttpProfile, HttpRefusal, OutboundRequest, ResponseHead, StatusCode,
    header,
};
use scion_domain::id::ConnectorName;
use scion_ports::{
    AuthFactory, BodyStream, Clock, Entropy, HttpDialer, HttpExchange, InboundResponse, RequestAuth, async_trait,
};

/// What the server does with one request.
#[derive(Clone)]
pub(crate) enum Step {
    Answer(u16, Vec<(&'static str, String)>, String),
    Refuse(HttpRefusal),
    /// Half a body, then the connection breaks.
    Cut(String),
    /// Says nothing.
    Hang,
    /// Answers after a while.
    Slow(Duration),
}

pub(crate) fn ok(body: &str) -> Step {
    Step::Answer(200, Vec::new(), body.to_owned())
}

pub(crate) fn status(code: u16) -> Step {
    Step::Answer(code, Vec::new(), "{}".to_owned())
}

pub(crate) fn with(code: u16, headers: &[(&'static str, &str)], body: &str) -> Step {
    Step::Answer(code, headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(), body.to_owned())
}

pub(crate) fn broken() -> HttpRefusal {
    HttpRefusal::Broken { host: "api.example".into() }
}

struct State {
    steps: Mutex<VecDeque<Step>>,
    last: Mutex<Option<Step>>,
    requests: Mutex<Vec<(Duration, OutboundRequest)>>,
    profiles: Mutex<Vec<HttpProfile>>,
    running: AtomicUsize,
    peak: AtomicUsize,
    clock: Arc<VirtualClock>,
}

/// A server by script; its last step repeats.
#[derive(Clone)]
pub(crate) struct Script(Arc<State>);

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self(Arc::new(State {
            steps: Mutex::new(steps.into_iter().collect()),
            last: Mutex::new(None),
            requests: Mutex::new(Vec::new()),
            profiles: Mutex::new(Vec::new()),
            running: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            clock: Arc::new(VirtualClock::default()),
        }))
    }

    pub(crate) fn ports(&self) -> ClientPorts {
        self.ports_with(Arc::new(NoAuthOnly))
    }

    pub(crate) fn ports_with(&self, auth: Arc<dyn AuthFactory>) -> ClientPorts {
        ClientPorts { dialer: Arc::new(self.clone()), auth, clock: self.0.clock.clone(), entropy: Arc::new(Longest) }
    }

    pub(crate) async fn client(&self) -> GovernedClient {
        self.build(|builder| builder).await
    }

    pub(crate) async fn build(&self, with: impl FnOnce(ClientBuilder) -> ClientBuilder) -> GovernedClient {
        with(builder()).build_with(&self.ports()).await.unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<OutboundRequest> {
        self.0.requests.lock().unwrap().iter().map(|(_, request)| request.clone()).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.requests.lock().unwrap().len()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let path = |request: &OutboundRequest| {
            let url = request.url.as_str();
            url[request.url.origin().ascii_serialization().len()..].to_owned()
        };
        self.requests().iter().map(path).collect()
    }

    /// When each request was sent.
    pub(crate) fn times_ms(&self) -> Vec<u128> {
        self.0.requests.lock().unwrap().iter().map(|(at, _)| at.as_millis()).collect()
    }

    pub(crate) fn profiles(&self) -> Vec<HttpProfile> {
        self.0.profiles.lock().unwrap().clone()
    }

    /// The most requests at once.
    pub(crate) fn peak(&self) -> usize {
        self.0.peak.load(Ordering::SeqCst)
    }
}

pub(crate) fn builder() -> ClientBuilder {
    GovernedClient::builder("desk").base_url("https://api.example/v1").unwrap()
}

#[async_trait]
impl HttpDialer for Script {
    async fn open(&self, profile: &HttpProfile) -> Result<Arc<dyn HttpExchange>, HttpRefusal> {
        self.0.profiles.lock().unwrap().push(profile.clone());
        Ok(Arc::new(self.clone()))
    }
}

struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl HttpExchange for Script {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        let state = &self.0;
        let now = state.running.fetch_add(1, Ordering::SeqCst) + 1;
        let _running = Running(&state.running);
        state.peak.fetch_max(now, Ordering::SeqCst);
        state.requests.lock().unwrap().push((state.clock.monotonic(), request.clone()));
        let step = {
            let mut last = state.last.lock().unwrap();
            if let Some(step) = state.steps.lock().unwrap().pop_front() {
                *last = Some(step);
            }
            last.clone().expect("a script has a step")
        };
        let (code, headers, pieces) = match step {
            Step::Answer(code, headers, body) => (code, headers, vec![Ok(Bytes::from(body))]),
            Step::Refuse(refusal) => return Err(refusal),
            Step::Cut(body) => (200, Vec::new(), vec![Ok(Bytes::from(body)), Err(broken())]),
            Step::Hang => std::future::pending().await,
            Step::Slow(time) => {
                tokio::time::sleep(time).await;
                (200, Vec::new(), vec![Ok(Bytes::from("{}"))])
            }
        };
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect();
        let head = ResponseHead {
            status: StatusCode::from_u16(code).unwrap(),
            headers,
            url: request.url.clone(),
            redirects: 0,
        };
        let room = request.limits.body_bytes;
        Ok(InboundResponse { head, body: Box::new(Pieces { pieces: pieces.into(), room }) })
    }
}

struct Pieces {
    pieces: VecDeque<Result<Bytes, HttpRefusal>>,
    room: u64,
}

#[async_trait]
impl BodyStream for Pieces {
    async fn chunk(&mut self) -> Result<Option<Bytes>, HttpRefusal> {
        let Some(piece) = self.pieces.pop_front().transpose()? else { return Ok(None) };
        if piece.len() as u64 > self.room {
            return Err(HttpRefusal::TooLarge { host: "api.example".into(), what: "body", limit: self.room });
        }
        Ok((!piece.is_empty()).then_some(piece))
    }
}

/// The longest wait of every jitter.
struct Longest;

impl Entropy for Longest {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0xff);
    }
}

/// A bearer credential that is renewed when it is rejected.
pub(crate) struct Token {
    pub(crate) generation: AtomicU64,
    pub(crate) renewals: AtomicU64,
    pub(crate) renewable: bool,
    pub(crate) strip_cookies: bool,
    pub(crate) in_query: bool,
}

impl Default for Token {
    fn default() -> Self {
        Self {
            generation: AtomicU64::new(1),
            renewals: AtomicU64::new(0),
            renewable: true,
            strip_cookies: false,
            in_query: false,
        }
    }
}

#[async_trait]
impl RequestAuth for Token {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        let generation = self.generation.load(Ordering::SeqCst);
        let mut material = AuthMaterial { strip_cookies: self.strip_cookies, generation, ..AuthMaterial::default() };
        let value = format!("tok-{generation}-hunter2");
        if self.in_query {
            material.query.push(("api_key".into(), value.into()));
        } else {
            let value = HeaderValue::from_str(&format!("Bearer {value}")).unwrap();
            material.headers.push((header::AUTHORIZATION, value));
        }
        Ok(material)
    }

    async fn rejected(&self, generation: u64, _: StatusCode) -> Result<bool, AuthRefusal> {
        if !self.renewable {
            return Ok(false);
        }
        self.renewals.fetch_add(1, Ordering::SeqCst);
        let next = self.generation.compare_exchange(generation, generation + 1, Ordering::SeqCst, Ordering::SeqCst);
        Ok(next.is_ok() || self.generation.load(Ordering::SeqCst) > generation)
    }
}

pub(crate) struct Opens(pub(crate) Arc<Token>);

#[async_trait]
impl AuthFactory for Opens {
    async fn open(
        &self,
        _: &ConnectorName,
        _: &AuthDeclaration,
        _: Arc<dyn HttpExchange>,
    ) -> Result<Arc<dyn RequestAuth>, AuthRefusal> {
        Ok(self.0.clone())
    }
}

pub(crate) async fn signed(script: &Script, token: Token) -> (GovernedClient, Arc<Token>) {
    let token = Arc::new(token);
    let ports = script.ports_with(Arc::new(Opens(token.clone())));
    let client = builder().auth(Bearer::env("DESK_TOKEN")).build_with(&ports).await;
    (client.unwrap(), token)
}

pub(crate) fn code<T>(result: Result<T, ClientRefusal>) -> &'static str {
    use scion_domain::refusal::Refusal as _;
    result.map_or_else(|refusal| refusal.code(), |_| "ok")
}
