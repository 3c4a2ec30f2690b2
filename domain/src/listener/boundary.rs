//! A checked listener.

use std::time::Duration;

use super::{Authority, Cidr, Origin};

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListenerTransport {
    /// MCP streamable HTTP.
    StreamableHttp,
    /// MCP over server-sent events.
    Sse,
}

impl ListenerTransport {
    /// Reads its name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::StreamableHttp, Self::Sse].into_iter().find(|transport| transport.name() == text)
    }

    /// Its name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StreamableHttp => "streamable-http",
            Self::Sse => "sse",
        }
    }
}

/// How callers prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListenerAuth {
    /// Not at all.
    None,
    /// A fixed set of tokens.
    Static,
    /// Signed tokens.
    Jwt,
    /// OAuth through this server.
    OauthProxy,
    /// OpenID Connect through this server.
    OidcProxy,
    /// An authority elsewhere.
    RemoteOauth,
}

impl ListenerAuth {
    const ALL: [Self; 6] = [Self::None, Self::Static, Self::Jwt, Self::OauthProxy, Self::OidcProxy, Self::RemoteOauth];

    /// Reads its name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|auth| auth.name() == text)
    }

    /// Its name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Static => "static",
            Self::Jwt => "jwt",
            Self::OauthProxy => "oauth-proxy",
            Self::OidcProxy => "oidc-proxy",
            Self::RemoteOauth => "remote-oauth",
        }
    }
}

/// Who speaks TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenerTls {
    /// Nobody.
    Off,
    /// The listener, with these files.
    Own {
        /// The certificate chain, PEM.
        certificate: String,
        /// Its key, PEM.
        key: String,
    },
    /// A proxy in front of it.
    Terminated,
}

/// Which authorities a listener answers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostRule {
    /// What the operator listed.
    Listed(Vec<Authority>),
    /// The names of loopback, with the port that was bound.
    Usual {
        /// The host that is bound.
        own: Authority,
    },
}

/// A listener whose settings hold together. Only [`super::ListenerSettings::validate`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerBoundary {
    /// What is spoken.
    pub transport: ListenerTransport,
    /// The name or address to bind.
    pub bind: String,
    /// The port; 0 until it is bound when the system chooses.
    pub port: u16,
    /// How callers prove who they are.
    pub auth: ListenerAuth,
    /// Who speaks TLS.
    pub tls: ListenerTls,
    /// Bytes of a request body.
    pub max_request_bytes: u64,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// Connections at once.
    pub max_connections: u32,
    /// Connections waiting to be accepted.
    pub backlog: u32,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// How long requests get to end at a shutdown.
    pub graceful_shutdown: Duration,
    pub(super) hosts: Vec<Authority>,
    pub(super) rule: HostRule,
    pub(super) origins: Vec<Origin>,
    pub(super) proxies: Vec<Cidr>,
}

impl ListenerBoundary {
    /// The authorities requests may be for, sorted.
    pub fn hosts(&self) -> &[Authority] {
        &self.hosts
    }

    /// The origins pages may have, sorted.
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The networks of the terminating proxy, sorted; empty when no proxy is asked for.
    pub fn proxies(&self) -> &[Cidr] {
        &self.proxies
    }

    /// The boundary once the port is known. Where the operator listed no hosts, they are `localhost`, `127.0.0.1`, `[::1]`
    /// and the bound address with this port, and `testserver`; on the default port also without it, as clients leave it out.
    #[must_use]
    pub fn bound_to(mut self, port: u16) -> Self {
        self.port = port;
        self.hosts = match &self.rule {
            HostRule::Listed(hosts) => hosts.clone(),
            HostRule::Usual { own } => {
                let default_port = if self.tls == ListenerTls::Off { 80 } else { 443 };
                let names = ["localhost", "127.0.0.1", "[::1]"].into_iter().filter_map(Authority::parse);
                let names: Vec<Authority> = names.chain([own.clone()]).collect();
                let bare = names.iter().filter(|_| port == default_port).cloned();
                let bare: Vec<Authority> = bare.chain(Authority::parse("testserver")).collect();
                names.into_iter().map(|name| name.with_port(port)).chain(bare).collect()
            }
        };
        self.hosts.sort_unstable();
        self.hosts.dedup();
        self
    }
}
