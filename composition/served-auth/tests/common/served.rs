//! A served connector over real HTTP, with a backend that counts.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use scion_domain::json::Json;
use scion_domain::listener::ListenerSettings;
use scion_domain::served_security::{ServedSecurityOverride, ServedSecurityProfile};
use scion_domain::tool_context::CallEvent;
use scion_mcp_server::{HttpServeOptions, Security, serve_http};
use scion_ports::{CallObserver, TokenVerifier};
use scion_serve::{CallGovernance, Connector, Identity, Tool, ToolRefusal};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Keeps the text of every event.
#[derive(Default)]
pub(crate) struct Events(pub(crate) Mutex<Vec<String>>);

impl CallObserver for Events {
    fn observe(&self, event: &CallEvent<'_>) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

pub(crate) struct Server {
    address: SocketAddr,
    /// Calls that reached the vendor.
    pub(crate) upstream: Arc<AtomicUsize>,
    pub(crate) events: Arc<Events>,
    running: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.running.abort();
    }
}

pub(crate) fn checked(verifier: Arc<dyn TokenVerifier>) -> Security {
    let profile = Arc::new(ServedSecurityProfile::new("desk", "read").unwrap());
    Security::Verified { verifier, profile }
}

pub(crate) fn open() -> Security {
    Security::Open(ServedSecurityOverride::new("a test on this machine").unwrap())
}

impl Server {
    /// Tools: `desk_mine` acts for its caller, `desk_list` does not, `desk_grant` shows what a token in the caller's name is.
    pub(crate) async fn start(security: Security, governance: CallGovernance) -> Self {
        let (upstream, events) = (Arc::new(AtomicUsize::new(0)), Arc::new(Events::default()));
        let counted = |upstream: &Arc<AtomicUsize>| {
            let upstream = upstream.clone();
            move || upstream.fetch_add(1, Ordering::SeqCst)
        };
        let (mine, list) = (counted(&upstream), counted(&upstream));
        let mine = Tool::read("desk_mine").requires_actor().handle(move |context, _args| {
            mine();
            async move {
                let actor = context.actor()?;
                Ok::<_, ToolRefusal>(Json::from(format!("{} for {}", actor.identity.principal, actor.audience)))
            }
        });
        let list = Tool::read("desk_list").handle(move |context, _args| {
            list();
            let actor = context.actor().map_or("the process", |_| "a user").to_owned();
            async move { Ok::<_, ToolRefusal>(Json::from(actor)) }
        });
        let grant = Tool::read("desk_grant").handle(move |context, _args| async move {
            if !context.is_delegation_enabled() {
                return Ok(Json::from("off"));
            }
            let token = context.delegated_token("tickets:read").await?;
            Ok::<_, ToolRefusal>(Json::from(token.expose().as_str()))
        });
        let connector = Connector::builder(Identity::new("desk", "1.2.3")).tool(mine).tool(list).tool(grant);
        let surface = connector.build().unwrap().governed_by(governance.observer(events.clone()));
        let boundary = ListenerSettings::default().validate(|_| true).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let options = HttpServeOptions::new(boundary, security);
        let running = tokio::spawn(async move { serve_http(listener, Arc::new(surface), options).await.unwrap() });
        Self { address, upstream, events, running }
    }

    pub(crate) fn hits(&self) -> usize {
        self.upstream.load(Ordering::SeqCst)
    }

    /// Calls a tool; answers the status and the body.
    pub(crate) async fn call(&self, tool: &str, token: Option<&str>) -> (u16, String) {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": tool, "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}}}})
        .to_string();
        let authorization = token.map_or_else(String::new, |token| format!("authorization: Bearer {token}\r\n"));
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
             mcp-name: {tool}\r\n{authorization}content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        #[expect(clippy::disallowed_methods, reason = "a hostile client writes its own bytes, to this machine alone")]
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let _ = stream.write_all(request.as_bytes()).await;
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, text.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned()))
    }

    /// The first text of a tool's answer.
    pub(crate) async fn text(&self, tool: &str, token: Option<&str>) -> String {
        let (status, body) = self.call(tool, token).await;
        assert_eq!(status, 200, "{body}");
        let start = body.find('{').unwrap_or_else(|| panic!("no JSON: {body}"));
        let end = body.rfind('}').unwrap();
        let message: Value = serde_json::from_str(&body[start..=end]).unwrap();
        message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned()
    }
}
