//! Sessions over real HTTP.
#![allow(clippy::unwrap_used, reason = "a test helper may fail its test")]

#[path = "support/mod.rs"]
mod support;
#[path = "support/web.rs"]
mod web;

use std::borrow::Cow;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use scion_domain::auth::{AuthMaterial, AuthRefusal};
use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_domain::http::StatusCode;
use scion_domain::json::{Json, JsonLimits};
use scion_domain::mcp::{McpRefusal, ServerChange};
use scion_domain::refusal::Refusal;
use scion_domain::secret::Secret;
use scion_mcp_client::{McpClient, SessionOptions};
use scion_ports::{McpConnector, McpSession, RequestAuth};
use support::{Dialled, call, client, connector, options, text};
use web::{Web, page};

/// A server of the protocol library.
#[derive(Clone)]
struct Library {
    newest: ProtocolVersion,
    cancelled: Arc<AtomicUsize>,
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&self.newest))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let schema = serde_json::json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let tool = Tool::new("echo", "Echoes", schema.as_object().unwrap().clone());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        match request.name.as_ref() {
            "echo" => {
                let text = serde_json::to_string(&request.arguments).unwrap();
                Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
            }
            "wait" => {
                context.ct.cancelled().await;
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                Err(rmcp::ErrorData::internal_error("cancelled", None))
            }
            "touch" => {
                let _ = context.peer.notify_tool_list_changed().await;
                Ok(CallToolResult::success(vec![]).into())
            }
            _ => Err(rmcp::ErrorData::invalid_params("tool not found", None)),
        }
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

struct Served {
    web: Web,
    cancelled: Arc<AtomicUsize>,
    forgets: Arc<AtomicBool>,
}

/// Serves the library's server behind a bearer token. It can be made to forget its sessions.
async fn serve(newest: ProtocolVersion) -> Served {
    let (cancelled, forgets) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let library = Library { newest, cancelled: Arc::clone(&cancelled) };
    let service = StreamableHttpService::new(
        move || Ok(library.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let forgetful = Arc::clone(&forgets);
    let web = Web::start(move |request| {
        let (service, forgets) = (service.clone(), Arc::clone(&forgetful));
        async move {
            if request.headers().get("authorization").is_none_or(|value| value != "Bearer good-token") {
                return page(401, "application/json", "{\"error\":\"invalid_token\"}");
            }
            if forgets.load(Ordering::SeqCst) && request.headers().contains_key("mcp-session-id") {
                return page(404, "application/json", "{\"jsonrpc\":\"2.0\",\"id\":\"server-error\",\"error\":{\"code\":-32600,\"message\":\"Session not found\"}}");
            }
            service.handle(request).await
        }
    })
    .await;
    Served { web, cancelled, forgets }
}

fn url(url: String, token: &str) -> EndpointSpec {
    EndpointSpec {
        target: EndpointTarget::Url { url, bearer_token: token.to_owned(), client_credentials: None },
        timeout: Duration::from_secs(5),
    }
}

async fn open(web: &Web) -> Box<dyn McpSession> {
    client(options()).connect(&url(web.url(), "env://GOOD_TOKEN")).await.unwrap()
}

async fn refused(spec: &EndpointSpec) -> McpRefusal {
    match client(options()).connect(spec).await {
        Ok(_) => panic!("opened"),
        Err(refusal) => refusal,
    }
}

#[tokio::test]
async fn both_eras_hold_a_conversation() {
    for version in [ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28] {
        let served = serve(version.clone()).await;
        let session = open(&served.web).await;
        assert_eq!(session.server().protocol_version, version.as_str());
        let tools = session.list_tools().await.unwrap();
        assert_eq!((tools.len(), tools[0].name.as_str()), (1, "echo"));
        let echo = call("echo", [("n", Json::from(7_i64))]);
        assert_eq!(text(&*session, &echo).await.unwrap(), r#"{"n":7}"#);
        assert_eq!(session.call_tool(&call("nope", [])).await.unwrap_err().code(), "unknown_tool");
        let wait = call("wait", []);
        assert!(tokio::time::timeout(Duration::from_millis(100), session.call_tool(&wait)).await.is_err());
        let cancelled = || served.cancelled.load(Ordering::SeqCst) == 1;
        assert!(support::eventually(cancelled).await, "{version}");
        session.close().await;
        assert_eq!(session.list_tools().await.unwrap_err().code(), "session_closed");
    }
}

#[tokio::test]
async fn a_handshake_session_is_told_of_changes_on_its_stream() {
    let served = serve(ProtocolVersion::V_2025_11_25).await;
    let session = open(&served.web).await;
    let mut feed = session.changes(&[]).await.unwrap();
    session.call_tool(&call("touch", [])).await.unwrap();
    let change = tokio::time::timeout(Duration::from_secs(5), feed.next()).await.unwrap();
    assert_eq!(change, Ok(Some(ServerChange::Tools)));
    session.close().await;
    assert_eq!(feed.next().await, Ok(None));
}

#[tokio::test]
async fn a_lost_session_is_closed_for_every_call() {
    let served = serve(ProtocolVersion::V_2025_11_25).await;
    let session = open(&served.web).await;
    served.forgets.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(session.list_tools().await.unwrap_err().code(), "session_closed");
    }
}

#[tokio::test]
async fn each_failure_to_open_has_its_own_refusal() {
    let served = serve(ProtocolVersion::V_2026_07_28).await;
    assert_eq!(refused(&url(served.web.url(), "env://BAD_TOKEN")).await.code(), "server_unauthorized");
    assert_eq!(refused(&url(served.web.url(), "")).await.code(), "server_unauthorized");
    assert_eq!(refused(&url(served.web.url(), "env://UNSET")).await.code(), "endpoint_credential_unresolved");
    assert_eq!(refused(&url(served.web.url(), "sk-secret")).await.code(), "endpoint_credential_unresolved");
    let vault = refused(&url(served.web.url(), "openbao://kv/a#b")).await;
    assert_eq!(vault.code(), "endpoint_credential_unavailable");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(refused(&url(format!("http://{closed}/mcp"), "")).await.code(), "server_unreachable");
    assert_eq!(refused(&url("mcp.example".to_owned(), "")).await.code(), "server_unreachable");
    for (status, media, text, code) in [
        (200, "text/html", "<h1>Welcome</h1>", "server_handshake_failed"),
        (200, "application/json", "{\"hello\":1}", "server_handshake_failed"),
        (404, "text/plain", "not here", "server_handshake_failed"),
        (302, "text/plain", "", "server_handshake_failed"),
        (403, "text/plain", "", "server_access_denied"),
        (429, "text/plain", "", "server_rate_limited"),
        (502, "text/html", "bad gateway", "server_unreachable"),
        (200, "text/event-stream", "data: nonsense\n\n", "server_handshake_failed"),
    ] {
        let web = Web::start(move |_| async move { page(status, media, text) }).await;
        assert_eq!(refused(&url(web.url(), "")).await.code(), code, "{status} {media}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let web = Web::start(|_| std::future::pending()).await;
    let spec = EndpointSpec { timeout: Duration::from_millis(200), ..url(web.url(), "") };
    assert_eq!(refused(&spec).await.code(), "server_timeout");
}

#[tokio::test]
async fn numbers_keep_their_digits_in_both_kinds_of_body() {
    const RESULT: &str = r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[],"structuredContent":{"n":[1e400,-0.10]}}}"#;
    let web = Web::enveloped(|_, params| match params["name"].as_str() {
        Some("json") => (200, "application/json", RESULT.to_owned()),
        _ => (200, "text/event-stream", format!(": hello\n\nevent: message\ndata: {RESULT}\n\n")),
    })
    .await;
    let session = open(&web).await;
    for tool in ["json", "events"] {
        let value = session.call_tool(&call(tool, [])).await.unwrap().decode(JsonLimits::DEFAULT).unwrap();
        let numbers = value.get("n").unwrap().as_array().unwrap();
        let digits: Vec<_> = numbers.iter().map(|number| number.as_number().unwrap().as_text()).collect();
        assert_eq!(digits, ["1e400", "-0.10"], "{tool}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_the_protocol_is_refused_by_kind() {
    let web = Web::enveloped(|_, params| match params["name"].as_str().unwrap_or_default() {
        "large" => {
            (200, "application/json", format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":"{}"}}"#, "x".repeat(2_000_000)))
        }
        "large_event" => (200, "text/event-stream", format!("data: {}\n\n", "x".repeat(2_000_000))),
        "cut" => (200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\"".to_owned()),
        "nonsense" => (200, "text/event-stream", "data: nonsense\n\n".to_owned()),
        "html" => (200, "text/html", "<p>".to_owned()),
        "error" => (
            400,
            "application/json",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"sk-secret"}}"#.to_owned(),
        ),
        "down" => (503, "text/plain", "sk-secret".to_owned()),
        "unauthorised" => (401, "text/plain", String::new()),
        _ => (
            200,
            "application/json",
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","content":[]}}"#.to_owned(),
        ),
    })
    .await;
    let bounded = SessionOptions { max_message_bytes: 1 << 20, ..options() };
    let session = client(bounded).connect(&url(web.url(), "")).await.unwrap();
    for (tool, code) in [
        ("large", "message_too_large"),
        ("large_event", "message_too_large"),
        ("cut", "session_closed"),
        ("nonsense", "answer_malformed"),
        ("html", "answer_malformed"),
        ("error", "arguments_refused"),
        ("down", "server_unreachable"),
        ("unauthorised", "server_unauthorized"),
    ] {
        let refusal = session.call_tool(&call(tool, [])).await.unwrap_err();
        assert_eq!(refusal.code(), code, "{tool}");
        assert!(!format!("{refusal:?}").contains("sk-secret"));
    }
    assert!(session.call_tool(&call("fine", [])).await.is_ok(), "the session outlives them all");
}

/// Gives a bad token until it is told so, then a good one.
#[derive(Default)]
struct Rotating {
    asked: AtomicUsize,
    rejected: AtomicUsize,
}

#[async_trait]
impl RequestAuth for Rotating {
    async fn material(&self) -> Result<AuthMaterial, AuthRefusal> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let good = self.rejected.load(Ordering::SeqCst) > 0;
        let token = Secret::new(if good { "good-token" } else { "bad-token" }.to_owned());
        let material = AuthMaterial::header("authorization", "Bearer ", &token, "token")?;
        Ok(AuthMaterial { generation: u64::from(good), ..material })
    }

    async fn rejected(&self, generation: u64, status: StatusCode) -> Result<bool, AuthRefusal> {
        assert_eq!((generation, status), (0, StatusCode::UNAUTHORIZED));
        Ok(self.rejected.fetch_add(1, Ordering::SeqCst) == 0)
    }
}

#[tokio::test]
async fn injected_credentials_are_asked_for_with_every_request_and_renewed_once() {
    let served = serve(ProtocolVersion::V_2026_07_28).await;
    let rotating = Arc::new(Rotating::default());
    let auth: Arc<dyn RequestAuth> = Arc::<Rotating>::clone(&rotating);
    let client = McpClient::builder(connector()).auth(auth).http(Dialled::loopback()).build();
    let session = client.connect(&url(served.web.url(), "")).await.unwrap();
    session.list_tools().await.unwrap();
    assert!(rotating.asked.load(Ordering::SeqCst) >= 3);
    assert_eq!(rotating.rejected.load(Ordering::SeqCst), 1);
}
