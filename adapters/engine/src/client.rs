//! Requests to the engine: signed, bounded, under one deadline, over a few connections that are opened when needed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::engine::EngineRefusal;
use scion_domain::secret::Secret;
use scion_ports::{Clock, Entropy};
use tokio::net::{TcpStream, UnixStream};

use crate::connection::{Connection, Sent};
use crate::endpoint::Endpoint;
use crate::envelope::{self, RequestContext, Stamp};
use crate::frame::{self, DEFAULT_FRAME_LIMIT, FRAME_CEILING};
use crate::tls::{DialFailure, EngineTls};
use crate::{Body, Value, encode};

/// After a crash an engine refuses signatures of the second it crashed in, so that none can be used twice. Such a request had no
/// effect; the same one signed a second later is fine.
const NOT_YET: &str = "AUTHENTICATION_REQUIRED";
/// The time to ask the engine to stop.
const CANCEL_TIME: Duration = Duration::from_secs(2);
const NEXT_SECOND: Duration = Duration::from_millis(1100);

/// Who the client is to the engine.
#[derive(Clone, Debug)]
pub enum Identity {
    /// Nobody: for an engine that runs without authentication, on this machine.
    Anonymous,
    /// Every request is signed with the shared secret.
    Signed {
        /// In whose name.
        context: Arc<RequestContext>,
        /// The secret.
        secret: Secret<String>,
    },
}

/// The bounds of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Connections at once, 1 to 16; 2 unless set.
    pub connections: usize,
    /// The time to connect; 10 s unless set.
    pub connect_timeout: Duration,
    /// The time of a request with everything around it; 60 s unless set.
    pub request_timeout: Duration,
    /// The longest frame in either direction, in bytes; 64 MiB unless set, 384 MiB at most.
    pub frame_limit: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            connections: 2,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_mins(1),
            frame_limit: DEFAULT_FRAME_LIMIT,
        }
    }
}

/// What may be done when a connection ends before the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// It only reads: ask again.
    Freely,
    /// The engine remembers it under its key: ask again under the same one.
    ByKey,
    /// It must be settled by reading the state.
    Never,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The graph.
    pub graph: &'a str,
    /// What is asked.
    pub body: Body,
    /// The key of the operation, where it has one of its own.
    pub idempotency_key: Option<&'a str>,
    /// What a lost reply allows.
    pub repeats: Repeats,
}

/// A client of one engine. Cheap to clone; connections are shared.
#[derive(Clone)]
pub struct EngineClient {
    inner: Arc<Inner>,
}

struct Inner {
    endpoint: Endpoint,
    tls: Option<EngineTls>,
    identity: Identity,
    options: EngineOptions,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    next_id: AtomicU64,
    pool: Mutex<Vec<Arc<Connection>>>,
}

impl std::fmt::Debug for EngineClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineClient").field("endpoint", &self.inner.endpoint).finish_non_exhaustive()
    }
}

impl EngineClient {
    /// A client. Nothing is dialled yet. A `tls://` endpoint is verified against the roots of the platform.
    pub fn new(
        endpoint: Endpoint,
        identity: Identity,
        options: EngineOptions,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self::build(endpoint, None, identity, options, clock, entropy)
    }

    /// A client that speaks TLS as told. Nothing is dialled yet.
    pub fn with_tls(
        (endpoint, tls): (Endpoint, EngineTls),
        identity: Identity,
        options: EngineOptions,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self::build(endpoint, Some(tls), identity, options, clock, entropy)
    }

    fn build(
        endpoint: Endpoint,
        tls: Option<EngineTls>,
        identity: Identity,
        options: EngineOptions,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let mut random = [0; 8];
        entropy.fill(&mut random);
        // 48 bits leave room to count.
        let next_id = AtomicU64::new(u64::from_be_bytes(random) >> 16);
        let options = EngineOptions {
            connections: options.connections.clamp(1, 16),
            frame_limit: options.frame_limit.clamp(1024, FRAME_CEILING),
            ..options
        };
        let pool = Mutex::new(Vec::new());
        Self { inner: Arc::new(Inner { endpoint, tls, identity, options, clock, entropy, next_id, pool }) }
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.inner.identity
    }

    /// A number that this client gives once; with the random start of the process hardly any other client does.
    pub(crate) fn unique(&self) -> u64 {
        self.inner.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The tenant in whose name requests are made.
    pub fn tenant(&self) -> &str {
        match &self.inner.identity {
            Identity::Anonymous => "local",
            Identity::Signed { context, .. } => &context.tenant,
        }
    }

    /// The version of the policy requests are made under.
    pub fn policy_version(&self) -> &str {
        match &self.inner.identity {
            Identity::Anonymous => "policy:current",
            Identity::Signed { context, .. } => &context.policy_version,
        }
    }

    /// The principal as the engine stores it.
    pub fn persistence_id(&self) -> String {
        match &self.inner.identity {
            Identity::Anonymous => envelope::persistence_id("anonymous"),
            Identity::Signed { context, .. } => envelope::persistence_id(&context.principal),
        }
    }

    /// The time of a request.
    pub fn request_timeout(&self) -> Duration {
        self.inner.options.request_timeout
    }

    /// In whose name requests are made.
    pub fn principal(&self) -> &str {
        match &self.inner.identity {
            Identity::Anonymous => "anonymous",
            Identity::Signed { context, .. } => &context.principal,
        }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.inner.clock
    }

    /// Whether the engine answers.
    pub async fn ping(&self) -> Result<(), EngineRefusal> {
        let call =
            Call { graph: crate::COMMONS, body: Body::unit("Ping"), idempotency_key: None, repeats: Repeats::Freely };
        self.call(call).await.map(|_| ())
    }

    /// Makes one request. A result that the engine packs into bytes comes opened.
    ///
    /// Refuses with the code of the engine, or [`EngineRefusal::Timeout`], [`EngineRefusal::Closed`] and
    /// [`EngineRefusal::Unreachable`]. [`EngineRefusal::is_unsettled`] says when a write may have taken effect.
    pub async fn call(&self, call: Call<'_>) -> Result<Value, EngineRefusal> {
        let (method, limit) = (call.body.method, self.inner.options.request_timeout);
        let timeout = EngineRefusal::Timeout { method, seconds: limit.as_secs() };
        let last = AtomicU64::new(0);
        tokio::time::timeout(limit, self.inner.exchange(call, &last)).await.unwrap_or(Err(timeout))
    }

    /// Makes one request that only reads, for at most `limit`, and asks the engine to stop working on it when that is over. Refuses
    /// as [`Self::call`] does.
    pub async fn read_within(&self, call: Call<'_>, limit: Duration) -> Result<Value, EngineRefusal> {
        let method = call.body.method;
        let last = AtomicU64::new(0);
        let limit = limit.min(self.inner.options.request_timeout);
        if let Ok(answer) = tokio::time::timeout(limit, self.inner.exchange(call, &last)).await {
            return answer;
        }
        let target = last.load(Ordering::Relaxed);
        let body = Body::with("CancelRequest", [("target_req_id", target.into())]);
        let cancel = Call { graph: crate::COMMONS, body, idempotency_key: None, repeats: Repeats::Freely };
        // The answer is given up either way. Engine 2.27.7 takes the request and goes on evaluating all the same.
        let _ = tokio::time::timeout(CANCEL_TIME, self.inner.exchange(cancel, &AtomicU64::new(0))).await;
        Err(EngineRefusal::Timeout { method, seconds: limit.as_secs() })
    }
}

impl Inner {
    async fn exchange(&self, call: Call<'_>, last: &AtomicU64) -> Result<Value, EngineRefusal> {
        let method = call.body.method;
        let mut key = call.idempotency_key.map(str::to_owned);
        let mut again = true;
        let mut patient = matches!(self.identity, Identity::Signed { .. });
        loop {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            last.store(id, Ordering::Relaxed);
            if key.is_none() && call.repeats == Repeats::ByKey {
                key = Some(envelope::default_key(id, call.graph, &call.body));
            }
            let payload = self.payload(id, &call, key.as_deref());
            if payload.len() > self.options.frame_limit {
                return Err(EngineRefusal::TooLarge { method, limit: self.options.frame_limit });
            }
            let (connection, fresh) = self.connection().await?;
            match connection.send(id, frame::frame(&payload)).await {
                Sent::Answered(outcome) if patient && outcome.is_error(NOT_YET) => {
                    patient = false;
                    self.clock.sleep(NEXT_SECOND).await;
                }
                Sent::Answered(outcome) => return outcome.settle(method),
                // An idle connection that the engine has closed meanwhile is found out by using it.
                Sent::Refused if !fresh || again => {}
                Sent::Lost if again && call.repeats != Repeats::Never => {}
                Sent::Refused | Sent::Lost => return Err(EngineRefusal::Closed { method }),
            }
            if fresh {
                again = false;
            }
        }
    }

    fn payload(&self, id: u64, call: &Call<'_>, key: Option<&str>) -> Vec<u8> {
        let (token, agent) = match &self.identity {
            Identity::Anonymous => (Secret::new(envelope::anonymous(key)), Value::Nil),
            Identity::Signed { context, secret } => {
                let mut nonce = [0; 24];
                self.entropy.fill(&mut nonce);
                let nonce = crate::body::hex(&nonce);
                let default;
                let idempotency_key = if let Some(key) = key {
                    key
                } else {
                    default = envelope::default_key(id, call.graph, &call.body);
                    &default
                };
                let timestamp = u64::try_from(self.clock.unix_millis() / 1000).unwrap_or(0);
                let stamp = Stamp { id, graph: call.graph, timestamp, nonce: &nonce, idempotency_key };
                (envelope::sign(secret, context, &stamp, &call.body), context.agent.as_str().into())
            }
        };
        let mut members = vec![
            ("id".to_owned(), Value::Natural(id)),
            ("graph".to_owned(), call.graph.into()),
            ("auth_token".to_owned(), token.expose().as_str().into()),
            ("agent_id".to_owned(), agent),
            ("method".to_owned(), call.body.method.into()),
        ];
        members.extend(call.body.params.clone().map(|params| ("params".to_owned(), params)));
        encode::encode(&Value::Map(members))
    }

    /// The open connection with the least under way, or a new one while there may be more. Says whether it is new.
    async fn connection(&self) -> Result<(Arc<Connection>, bool), EngineRefusal> {
        let open = {
            let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.retain(|connection| !connection.is_closed());
            let least = pool.iter().min_by_key(|connection| connection.load()).map(Arc::clone);
            least.filter(|connection| pool.len() >= self.options.connections || connection.load() == 0)
        };
        if let Some(connection) = open {
            return Ok((connection, false));
        }
        let unreachable = || EngineRefusal::Unreachable { endpoint: self.endpoint.to_string() };
        let dialled = tokio::time::timeout(self.options.connect_timeout, self.dial()).await;
        let connection = Arc::new(dialled.map_err(|_| unreachable())?.map_err(|failure| match failure {
            DialFailure::Unreachable => unreachable(),
            DialFailure::Tls => EngineRefusal::Tls { endpoint: self.endpoint.to_string() },
        })?);
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < self.options.connections {
            pool.push(Arc::clone(&connection));
        }
        Ok((connection, true))
    }

    async fn dial(&self) -> Result<Connection, DialFailure> {
        let limit = self.options.frame_limit;
        let gone = |_| DialFailure::Unreachable;
        match &self.endpoint {
            Endpoint::Unix(path) => Ok(Connection::open(UnixStream::connect(path).await.map_err(gone)?, limit)),
            Endpoint::Loopback(address) => Ok(Connection::open(tcp(*address).await.map_err(gone)?, limit)),
            Endpoint::Tls { host, port } => {
                let tls = match &self.tls {
                    Some(tls) => tls.clone(),
                    None => EngineTls::platform().await.map_err(|_| DialFailure::Tls)?,
                };
                let stream = tcp((host.as_str(), *port)).await.map_err(gone)?;
                Ok(Connection::open(tls.handshake(host, stream).await?, limit))
            }
        }
    }
}

/// A connection to what the operator set as the endpoint.
async fn tcp(address: impl tokio::net::ToSocketAddrs) -> std::io::Result<TcpStream> {
    #[expect(clippy::disallowed_methods, reason = "the engine's address is the operator's, not a peer's or a caller's")]
    let stream = TcpStream::connect(address).await?;
    // Requests are small and wait for their reply.
    stream.set_nodelay(true)?;
    Ok(stream)
}
