//! A server, and a client that writes and reads HTTP itself.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use scion_domain::json::{Json, JsonObject};
use scion_domain::listener::ListenerSettings;
use scion_domain::secret::Secret;
use scion_domain::served_security::{ServedSecurityOverride, ServedSecurityProfile, TokenRefusal, VerifiedToken};
use scion_domain::surface::TransportRefusal;
use scion_mcp_server::{HttpServeOptions, Security, serve_http};
use scion_ports::{TokenVerifier, async_trait};
use scion_serve::{Connector, Identity, Param, ServedSurface, Tool, ToolRefusal};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: CancellationToken,
    pub(crate) ended: JoinHandle<Result<(), TransportRefusal>>,
    /// Calls that reached a handler.
    pub(crate) calls: Arc<AtomicUsize>,
    /// Calls under way whose future was dropped.
    pub(crate) dropped: Arc<AtomicUsize>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.ended.abort();
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The JSON-RPC message of the answer, from JSON or from the last event with data.
    pub(crate) fn message(&self) -> Value {
        if self.header("content-type").is_some_and(|media| media.starts_with("text/event-stream")) {
            let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
            let last = data.rfind(|data| !data.is_empty());
            return serde_json::from_str(last.unwrap_or_else(|| panic!("no event with data: {self:?}"))).unwrap();
        }
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }
}

pub(crate) fn surface(calls: &Arc<AtomicUsize>, dropped: &Arc<AtomicUsize>) -> ServedSurface {
    let (counted, dropped) = (Arc::clone(calls), Arc::clone(dropped));
    let whoami = Tool::read("desk_whoami").handle(move |context, _args| {
        counted.fetch_add(1, Ordering::SeqCst);
        let caller = context.caller().map_or_else(|| "nobody".to_owned(), |caller| caller.principal.clone());
        async move { Ok::<_, ToolRefusal>(Json::from(caller)) }
    });
    let echo = Tool::read("desk_echo")
        .param(Param::text("text", "What to say"))
        .handle(|_context, args| async move { Ok::<_, ToolRefusal>(Json::from(args.text("text")?)) });
    let hang = Tool::read("desk_hang").handle(move |_context, _args| {
        let guard = Counted(Arc::clone(&dropped));
        async move {
            let _guard = guard;
            std::future::pending::<Result<Json, ToolRefusal>>().await
        }
    });
    Connector::builder(Identity::new("desk", "1.2.3")).tool(whoami).tool(echo).tool(hang).build().unwrap()
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn open() -> Security {
    Security::Open(ServedSecurityOverride::new("a test on this machine").unwrap())
}

/// Knows `token-of-ada`, `token-of-bob`, one without a tenant and one that nobody can judge now.
pub(crate) struct Known;

#[async_trait]
impl TokenVerifier for Known {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let (subject, tenant, scopes): (&str, Option<&str>, &[&str]) = match token.expose().as_str() {
            "token-of-ada" => ("ada", Some("acme"), &["desk:use"]),
            "token-of-bob" => ("bob", Some("acme"), &["desk:use"]),
            "token-without-tenant" => ("ada", None, &["desk:use"]),
            "token-without-scope" => ("ada", Some("acme"), &[]),
            "token-nobody-can-judge" => return Err(TokenRefusal::Unavailable),
            "token-of-the-past" => return Err(TokenRefusal::Expired),
            _ => return Err(TokenRefusal::Invalid),
        };
        Ok(VerifiedToken {
            subject: Some(subject.to_owned()),
            tenant: tenant.map(str::to_owned),
            client: None,
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            audiences: BTreeSet::from(["desk".to_owned()]),
            expires_at: None,
            claims: JsonObject::new(),
        })
    }
}

pub(crate) fn verified() -> Security {
    let profile = ServedSecurityProfile::new("desk", "desk:use").unwrap();
    Security::Verified { verifier: Arc::new(Known), profile: Arc::new(profile) }
}

impl Server {
    pub(crate) async fn start(security: Security) -> Self {
        Self::start_with(security, ListenerSettings::default(), |_| {}).await
    }

    pub(crate) async fn start_with(
        security: Security,
        settings: ListenerSettings,
        change: impl FnOnce(&mut HttpServeOptions),
    ) -> Self {
        let (calls, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut server = Self::serve(surface(&calls, &dropped), security, settings, change).await;
        (server.calls, server.dropped) = (calls, dropped);
        server
    }

    /// Serves another surface.
    pub(crate) async fn serve(
        surface: ServedSurface,
        security: Security,
        settings: ListenerSettings,
        change: impl FnOnce(&mut HttpServeOptions),
    ) -> Self {
        let boundary = settings.validate(|_| true).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut options = HttpServeOptions::new(boundary, security);
        change(&mut options);
        let shutdown = options.shutdown.clone();
        let ended = tokio::spawn(serve_http(listener, Arc::new(surface), options));
        Self { address, shutdown, ended, calls: Arc::default(), dropped: Arc::default() }
    }

    /// Writes bytes as they are and reads until the server closes, or has said all of one answer.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Got {
        self.raw_over(TcpStream::connect(self.address).await.unwrap(), bytes).await
    }

    /// The same over a connection that is there.
    pub(crate) async fn raw_over(&self, mut stream: TcpStream, bytes: &[u8]) -> Got {
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(bytes).await;
        read(&mut stream).await
    }

    pub(crate) async fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let mut head = format!("{method} {target} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            let _ = write!(head, "host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !body.is_empty() {
            let _ = write!(head, "content-length: {}\r\n", body.len());
        }
        self.raw(format!("{head}\r\n{body}").as_bytes()).await
    }

    pub(crate) async fn get(&self, target: &str) -> Got {
        self.send("GET", target, &[], "").await
    }

    /// Posts one message of the protocol.
    pub(crate) async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Got {
        let mut all = vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        all.extend_from_slice(headers);
        self.send("POST", "/mcp", &all, &message.to_string()).await
    }

    /// Opens a session of the handshake era and gives its id.
    pub(crate) async fn session(&self, headers: &[(&str, &str)]) -> String {
        let got = self.post(headers, &initialize()).await;
        assert_eq!(got.status, 200, "{got:?}");
        let id = got.header("mcp-session-id").expect("a session").to_owned();
        let mut of_session = headers.to_vec();
        of_session.push(("mcp-session-id", &id));
        let done = self.post(&of_session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(done.status, 202, "{done:?}");
        id
    }
}

/// Reads one answer: as far as its length says, to the end of its chunks, or to the end of the stream.
async fn read(stream: &mut TcpStream) -> Got {
    let mut bytes = Vec::new();
    let all = async {
        let mut piece = [0u8; 4096];
        while let Ok(count) = stream.read(&mut piece).await {
            if count == 0 {
                break;
            }
            bytes.extend_from_slice(&piece[..count]);
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(10), all).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut got = Got { status, head: head.to_owned(), body: body.to_owned() };
    if got.header("transfer-encoding").is_some() {
        got.body = unchunked(&got.body);
    }
    got
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole += &rest[..size];
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}})
}

/// A request of the enveloped era with the headers that must equal it.
pub(crate) fn enveloped(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}
