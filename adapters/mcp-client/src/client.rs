//! Opening sessions.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::Transport;
use scion_domain::config::{ClientCredentials, EndpointSpec, EndpointTarget};
use scion_domain::http::Url;
use scion_domain::id::ConnectorName;
use scion_domain::mcp::{McpRefusal, ServerIdentity};
use scion_ports::{AuthFactory, CredentialProvider, HttpExchange, McpConnector, McpSession, RequestAuth};
use tokio::runtime::Handle;

use crate::changes::ChangeHub;
use crate::credentials::{Resolver, login_refusal};
use crate::fault::{End, Fault};
use crate::http::{self, Authorization, fault_in};
use crate::listener::Listener;
use crate::operation::Operation;
use crate::options::{Pace, SessionOptions};
use crate::pace::Pacer;
use crate::peer::Requester;
use crate::session::Session;
use crate::stdio::{Child, Launch, StdioTransport, start};
use crate::subscribe::Subscriptions;
use crate::wire;

/// How long the reason of a failed handshake may lag behind the failure.
const REASON_LAG: Duration = Duration::from_secs(1);
/// The longest name or version of a server that is kept, in characters.
const MAX_IDENTITY: usize = 256;

/// Opens MCP sessions for one connector.
#[derive(Clone)]
pub struct McpClient {
    resolver: Resolver,
    auth: Option<Arc<dyn RequestAuth>>,
    oauth: Option<OAuth>,
    http: Option<Arc<dyn HttpExchange>>,
    options: SessionOptions,
}

/// What carries out `client_credentials`.
#[derive(Clone)]
struct OAuth {
    factory: Arc<dyn AuthFactory>,
    authority: Arc<dyn HttpExchange>,
}

/// Builds an [`McpClient`].
#[derive(Clone)]
pub struct McpClientBuilder(McpClient);

impl McpClient {
    /// A client for the named connector: secrets are resolved on its behalf, and log lines carry its name.
    pub fn builder(connector: ConnectorName) -> McpClientBuilder {
        let resolver = Resolver { connector, provider: None };
        McpClientBuilder(Self { resolver, auth: None, oauth: None, http: None, options: SessionOptions::default() })
    }
}

impl McpClientBuilder {
    /// Resolves the references of endpoints. Without it, an endpoint that names a secret is refused.
    #[must_use]
    pub fn credentials(mut self, provider: Arc<dyn CredentialProvider>) -> Self {
        self.0.resolver.provider = Some(provider);
        self
    }

    /// Authenticates every HTTP request, instead of what the endpoint says.
    #[must_use]
    pub fn auth(mut self, auth: Arc<dyn RequestAuth>) -> Self {
        self.0.auth = Some(auth);
        self
    }

    /// Carries out the `client_credentials` of endpoints; the authorization server is reached through `authority`. Without it,
    /// such an endpoint is refused.
    #[must_use]
    pub fn oauth(mut self, factory: Arc<dyn AuthFactory>, authority: Arc<dyn HttpExchange>) -> Self {
        self.0.oauth = Some(OAuth { factory, authority });
        self
    }

    /// Reaches servers behind a URL. Its policy decides where sessions may go; without it, such an endpoint is refused.
    #[must_use]
    pub fn http(mut self, exchange: Arc<dyn HttpExchange>) -> Self {
        self.0.http = Some(exchange);
        self
    }

    /// Sets how requests are spaced.
    #[must_use]
    pub fn pace(mut self, pace: Pace) -> Self {
        self.0.options.pace = pace;
        self
    }

    /// Sets the bounds of each session.
    #[must_use]
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.0.options = options;
        self
    }

    /// The client.
    pub fn build(self) -> McpClient {
        self.0
    }
}

/// The two ways to begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// Ask with `server/discover`; an error is answered with a handshake on the same connection.
    Discover,
    /// The handshake at once, for servers that a question before it confuses.
    Handshake,
}

impl Opening {
    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Discover => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
            Self::Handshake => ClientLifecycleMode::Initialize,
        }
    }
}

/// Why an opening failed, and whether the other one may do better.
struct Failed {
    refusal: McpRefusal,
    try_handshake: bool,
}

#[async_trait]
impl McpConnector for McpClient {
    async fn connect(&self, endpoint: &EndpointSpec) -> Result<Box<dyn McpSession>, McpRefusal> {
        let open = async {
            let authorization = self.authorization(&endpoint.target).await?;
            match self.open(endpoint, &authorization, Opening::Discover).await {
                Err(failed) if failed.try_handshake => self.open(endpoint, &authorization, Opening::Handshake).await,
                other => other,
            }
        };
        match tokio::time::timeout(endpoint.timeout, open).await {
            Ok(Ok(session)) => Ok(Box::new(session)),
            Ok(Err(failed)) => Err(failed.refusal),
            Err(_) => {
                let operation = Operation::Connect.to_string();
                Err(McpRefusal::Timeout { operation, seconds: endpoint.timeout.as_secs() })
            }
        }
    }
}

impl McpClient {
    async fn open(
        &self,
        endpoint: &EndpointSpec,
        authorization: &Authorization,
        opening: Opening,
    ) -> Result<Session, Failed> {
        let timeout = endpoint.timeout;
        match &endpoint.target {
            EndpointTarget::Command { command, args, env } => {
                let env = self.resolver.environment(env).await?;
                self.open_child(command, args, env, timeout, opening).await
            }
            EndpointTarget::Url { url, .. } => {
                let url = http::parse_url(url)?;
                let exchange = self.exchange(&url)?;
                self.open_url(exchange, url, authorization.clone(), timeout, opening).await
            }
        }
    }

    fn exchange(&self, url: &Url) -> Result<Arc<dyn HttpExchange>, McpRefusal> {
        self.http.clone().ok_or_else(|| McpRefusal::NoHttpClient { endpoint: http::shown(url) })
    }

    /// How requests of an endpoint are authenticated. Nothing is resolved for one that cannot be reached anyway.
    async fn authorization(&self, target: &EndpointTarget) -> Result<Authorization, McpRefusal> {
        let EndpointTarget::Url { url, bearer_token, client_credentials } = target else {
            return Ok(Authorization::None);
        };
        self.exchange(&http::parse_url(url)?)?;
        if let Some(auth) = &self.auth {
            return Ok(Authorization::Auth(Arc::clone(auth)));
        }
        if let Some(client) = client_credentials {
            return self.oauth(client).await;
        }
        let unresolved =
            |setting: &str, reason| McpRefusal::CredentialUnresolved { setting: setting.to_owned(), reason };
        if bearer_token.is_empty() {
            return Ok(Authorization::None);
        }
        let token = self.resolver.resolve("bearer_token", bearer_token).await?;
        Authorization::bearer(&token)
            .ok_or_else(|| unresolved("bearer_token", "the secret holds characters a header cannot"))
    }

    /// Opens the OAuth client and gets the first token, so that a wrong secret is told before the server hears anything.
    async fn oauth(&self, client: &ClientCredentials) -> Result<Authorization, McpRefusal> {
        let Some(OAuth { factory, authority }) = &self.oauth else {
            let setting = "client_credentials".to_owned();
            return Err(McpRefusal::CredentialUnresolved { setting, reason: "no OAuth client is configured for it" });
        };
        let opened = factory.open(&self.resolver.connector, &client.declaration(), Arc::clone(authority)).await;
        let auth = opened.map_err(|refusal| login_refusal(&refusal))?;
        auth.material().await.map_err(|refusal| login_refusal(&refusal))?;
        Ok(Authorization::Auth(auth))
    }

    async fn open_url(
        &self,
        exchange: Arc<dyn HttpExchange>,
        url: Url,
        authorization: Authorization,
        timeout: Duration,
        opening: Opening,
    ) -> Result<Session, Failed> {
        let label = http::shown(&url);
        let end = Arc::new(End::default());
        let limit = self.options.max_message_bytes;
        let transport = http::transport(exchange, url, authorization, Arc::clone(&end), limit, timeout);
        self.shake_hands(transport, end, label, None, timeout, opening).await
    }

    async fn open_child(
        &self,
        program: &str,
        args: &[String],
        env: BTreeMap<String, scion_domain::secret::Secret<String>>,
        timeout: Duration,
        opening: Opening,
    ) -> Result<Session, Failed> {
        let connector = self.resolver.connector.as_str().to_owned();
        let (child, input, output) = start(Launch { program, args, env, grace: self.options.grace, connector })?;
        let end = Arc::new(End::default());
        let limit = self.options.max_message_bytes;
        let transport = StdioTransport::new(input, output, child.clone(), Arc::clone(&end), limit);
        self.shake_hands(transport, end, program.to_owned(), Some(child), timeout, opening).await
    }

    async fn shake_hands<T: Transport<RoleClient> + 'static>(
        &self,
        transport: T,
        end: Arc<End>,
        label: String,
        child: Option<Child>,
        timeout: Duration,
        opening: Opening,
    ) -> Result<Session, Failed> {
        let hub = Arc::new(ChangeHub::default());
        let listener = Listener { hub: Arc::clone(&hub) };
        let running = match listener.serve_with_lifecycle(transport, opening.lifecycle()).await {
            Ok(running) => running,
            Err(error) => return Err(self.failed(&error, opening, &end, &label).await),
        };
        let limit = self.options.max_message_bytes;
        let not_mcp = || Failed::from(Fault::NotMcp.refusal(&label, "", limit));
        let identity = running.peer_info().as_deref().and_then(identity).ok_or_else(not_mcp)?;
        let requester = Requester {
            peer: running.peer().clone(),
            end,
            pacer: Pacer::new(self.options.pace),
            timeout,
            limit,
            label,
            runtime: Handle::current(),
        };
        Ok(self.session(identity, requester, running, hub, child))
    }

    fn session(
        &self,
        identity: ServerIdentity,
        requester: Requester,
        running: RunningService<RoleClient, Listener>,
        hub: Arc<ChangeHub>,
        child: Option<Child>,
    ) -> Session {
        Session {
            identity,
            prompts: running.peer_info().is_some_and(|info| info.capabilities.prompts.is_some()),
            requester: Arc::new(requester),
            running: tokio::sync::Mutex::new(Some(running)),
            hub,
            subscriptions: Arc::new(Subscriptions::default()),
            options: self.options.clone(),
            child,
            wrapping: Mutex::new(HashSet::new()),
        }
    }

    async fn failed(&self, error: &ClientInitializeError, opening: Opening, end: &End, label: &str) -> Failed {
        let operation = Operation::Connect.to_string();
        let limit = self.options.max_message_bytes;
        let (fault, answered) = match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => (fault_of(fallback, end).await, true),
            other => (fault_of(other, end).await, false),
        };
        // A server that breaks, or answers oddly, when it is asked before the handshake may still shake hands.
        let odd = matches!(fault, Fault::Exited(_) | Fault::Closed | Fault::NotMcp | Fault::Malformed);
        Failed {
            try_handshake: opening == Opening::Discover && odd && !answered,
            refusal: match fault {
                Fault::Malformed | Fault::Closed => Fault::NotMcp.refusal(label, &operation, limit),
                fault => fault.refusal(label, &operation, limit),
            },
        }
    }
}

impl From<McpRefusal> for Failed {
    fn from(refusal: McpRefusal) -> Self {
        Self { refusal, try_handshake: false }
    }
}

async fn fault_of(error: &ClientInitializeError, end: &End) -> Fault {
    match error {
        ClientInitializeError::TransportError { error, .. } => match fault_in(error) {
            Some(fault) => fault,
            None => reason(end).await,
        },
        ClientInitializeError::ConnectionClosed(_) => reason(end).await,
        ClientInitializeError::JsonRpcError(error) => match error.code.0 {
            -32_000 => Fault::Limited,
            -32_001 => Fault::Denied,
            code if code == wire::OVERSIZED.0 => Fault::TooLarge,
            _ => Fault::NotMcp,
        },
        _ => Fault::NotMcp,
    }
}

async fn reason(end: &End) -> Fault {
    tokio::time::timeout(REASON_LAG, end.wait()).await.unwrap_or(Fault::Closed)
}

/// Who answered; `None` for a protocol version nobody knows.
fn identity(info: &ServerPeerInfo) -> Option<ServerIdentity> {
    if !ProtocolVersion::KNOWN_VERSIONS.contains(&info.protocol_version) {
        return None;
    }
    let capabilities = &info.capabilities;
    let announces = |flag: Option<bool>| flag == Some(true);
    let resources = capabilities.resources.as_ref();
    let (name, version) = info
        .server_info
        .as_ref()
        .map_or_else(Default::default, |server| (printable(&server.name), printable(&server.version)));
    Some(ServerIdentity {
        name,
        version,
        protocol_version: info.protocol_version.as_str().to_owned(),
        list_changed: announces(capabilities.tools.as_ref().and_then(|tools| tools.list_changed))
            || announces(capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed))
            || announces(resources.and_then(|resources| resources.list_changed)),
        subscribe: announces(resources.and_then(|resources| resources.subscribe)),
    })
}

/// A server's name is shown in tables and logs, so it may not move the cursor there.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_IDENTITY).collect()
}
