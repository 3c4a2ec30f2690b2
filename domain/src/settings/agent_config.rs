//! The structured configuration of a served connector.
//!
//! Names, defaults and bounds are those of `wire/mcp-surface.md` 0.4 to 0.6. Everything is checked when the value is
//! built, combinations included, and every problem is reported.

use std::collections::BTreeMap;
use std::time::Duration;

use super::reader::Reader;
use super::{SettingRefusal, SettingsProblems};
use crate::config::HealthAddress;
use crate::credential::SecretRef;

/// How callers authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthKind {
    /// Not at all.
    None,
    /// By tokens from a list.
    Static,
    /// By signed tokens.
    Jwt,
    /// Through an OAuth provider this server stands in for.
    OauthProxy,
    /// Through an OpenID provider this server stands in for.
    OidcProxy,
    /// Through authorization servers the caller talks to.
    RemoteOauth,
}

/// How the server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// Standard input and output.
    Stdio,
    /// HTTP at `/mcp`.
    StreamableHttp,
    /// The older HTTP at `/sse`.
    Sse,
}

/// Who may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSettings {
    /// `AUTH_TYPE`; none when silent.
    pub kind: AuthKind,
    /// `FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF`.
    pub static_tokens: Option<SecretRef>,
    /// `OIDC_ISSUER`, else `FASTMCP_SERVER_AUTH_JWT_ISSUER`.
    pub issuer: Option<String>,
    /// `FASTMCP_SERVER_AUTH_JWT_JWKS_URI`.
    pub jwks_uri: Option<String>,
    /// `FASTMCP_SERVER_AUTH_JWT_AUDIENCE`.
    pub audience: Option<String>,
    /// `CONNECTOR_REQUIRED_SCOPES`, else `FASTMCP_SERVER_AUTH_JWT_REQUIRED_SCOPES`.
    pub required_scopes: Vec<String>,
}

/// Where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportSettings {
    /// `TRANSPORT`; stdio when silent.
    pub kind: TransportKind,
    /// `HOST`; 127.0.0.1 when silent.
    pub host: String,
    /// `PORT`, 1 to 65535; 8000 when silent.
    pub port: u16,
    /// `MCP_TLS_CERTFILE`.
    pub tls_certificate: Option<String>,
    /// `MCP_TLS_KEYFILE`.
    pub tls_key: Option<String>,
    /// `MCP_TLS_TERMINATED`: a proxy in front ends TLS.
    pub tls_terminated: bool,
    /// `MCP_TRUSTED_PROXY_CIDRS`.
    pub trusted_proxies: Vec<String>,
    /// `MCP_ALLOWED_HOSTS`.
    pub allowed_hosts: Vec<String>,
    /// `MCP_ALLOWED_ORIGINS`.
    pub allowed_origins: Vec<String>,
    /// `MCP_METRICS`: measurements of the calls at `/metrics`, for callers.
    pub metrics: bool,
}

/// How much it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// `MCP_MAX_REQUEST_BYTES`, 1 KiB to 256 MiB; 4 MiB when silent.
    pub max_request_bytes: u32,
    /// `MCP_MAX_CONNECTIONS`, 1 to 10,000; 128 when silent.
    pub max_connections: u32,
    /// `MCP_LISTEN_BACKLOG`, 1 to 65535; 256 when silent.
    pub listen_backlog: u32,
    /// `MCP_KEEPALIVE_TIMEOUT_SECONDS`, 1 to 300; 5 when silent.
    pub keep_alive: Duration,
    /// `MCP_GRACEFUL_SHUTDOWN_TIMEOUT_SECONDS`, 1 to 300; 15 when silent.
    pub graceful_shutdown: Duration,
    /// `MCP_REQUEST_BODY_TIMEOUT_SECONDS`, 1 to 300; 30 when silent.
    pub request_body: Duration,
}

/// The whole configuration, in sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// Who may call.
    pub auth: AuthSettings,
    /// Where it listens.
    pub transport: TransportSettings,
    /// How much it takes.
    pub limits: LimitSettings,
}

impl AgentConfig {
    /// Reads and checks an environment. Blank variables count as unset.
    pub fn from_environment(environment: &BTreeMap<String, String>) -> Result<Self, SettingsProblems> {
        let mut reader = Reader::new(environment);
        let config = Self { auth: auth(&mut reader), transport: transport(&mut reader), limits: limits(&mut reader) };
        let mut problems = reader.problems;
        config.check_auth(&mut problems);
        config.check_transport(&mut problems);
        if problems.is_empty() { Ok(config) } else { Err(SettingsProblems { problems }) }
    }

    /// Whether other machines can reach the listener.
    pub fn is_exposed(&self) -> bool {
        let TransportSettings { kind, host, port, .. } = &self.transport;
        *kind != TransportKind::Stdio && !HealthAddress { host: host.clone(), port: *port }.is_loopback()
    }

    fn check_auth(&self, problems: &mut Vec<SettingRefusal>) {
        let mut need = |missing: bool, needs| {
            if missing {
                problems.push(SettingRefusal::Needs { variable: "AUTH_TYPE", needs });
            }
        };
        let auth = &self.auth;
        match auth.kind {
            AuthKind::None | AuthKind::OauthProxy | AuthKind::OidcProxy | AuthKind::RemoteOauth => {}
            AuthKind::Static => need(auth.static_tokens.is_none(), "FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF"),
            AuthKind::Jwt => {
                need(auth.issuer.is_none(), "FASTMCP_SERVER_AUTH_JWT_ISSUER");
                need(auth.audience.is_none(), "FASTMCP_SERVER_AUTH_JWT_AUDIENCE");
            }
        }
        if auth.kind == AuthKind::None && !auth.required_scopes.is_empty() {
            problems.push(SettingRefusal::Needs { variable: "CONNECTOR_REQUIRED_SCOPES", needs: "AUTH_TYPE" });
        }
    }

    fn check_transport(&self, problems: &mut Vec<SettingRefusal>) {
        let transport = &self.transport;
        let (certificate, key) = ("MCP_TLS_CERTFILE", "MCP_TLS_KEYFILE");
        match (&transport.tls_certificate, &transport.tls_key) {
            (Some(_), None) => problems.push(SettingRefusal::Needs { variable: certificate, needs: key }),
            (None, Some(_)) => problems.push(SettingRefusal::Needs { variable: key, needs: certificate }),
            (Some(_), Some(_)) if transport.tls_terminated => {
                problems.push(SettingRefusal::Excludes { variable: certificate, other: "MCP_TLS_TERMINATED" });
            }
            _ => {}
        }
        if transport.tls_terminated && transport.trusted_proxies.is_empty() {
            let (variable, needs) = ("MCP_TLS_TERMINATED", "MCP_TRUSTED_PROXY_CIDRS");
            problems.push(SettingRefusal::Needs { variable, needs });
        }
        if self.is_exposed() {
            let tls = transport.tls_certificate.is_some() || transport.tls_terminated;
            for (missing, needs) in [
                (self.auth.kind == AuthKind::None, "authentication (AUTH_TYPE)"),
                (!tls, "TLS (MCP_TLS_CERTFILE and MCP_TLS_KEYFILE, or MCP_TLS_TERMINATED)"),
                (transport.allowed_hosts.is_empty(), "a list of hosts (MCP_ALLOWED_HOSTS)"),
            ] {
                if missing {
                    problems.push(SettingRefusal::Exposed { needs });
                }
            }
        }
    }
}

fn auth(reader: &mut Reader<'_>) -> AuthSettings {
    let known = "none, static, jwt, oauth-proxy, oidc-proxy, remote-oauth";
    let words = [
        ("none", AuthKind::None),
        ("static", AuthKind::Static),
        ("jwt", AuthKind::Jwt),
        ("oauth-proxy", AuthKind::OauthProxy),
        ("oidc-proxy", AuthKind::OidcProxy),
        ("remote-oauth", AuthKind::RemoteOauth),
    ];
    AuthSettings {
        kind: reader.word("AUTH_TYPE", known, &words),
        static_tokens: reader.reference("FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF"),
        issuer: reader.text(&["OIDC_ISSUER", "FASTMCP_SERVER_AUTH_JWT_ISSUER"]),
        jwks_uri: reader.text(&["FASTMCP_SERVER_AUTH_JWT_JWKS_URI"]),
        audience: reader.text(&["FASTMCP_SERVER_AUTH_JWT_AUDIENCE"]),
        required_scopes: reader.list(&["CONNECTOR_REQUIRED_SCOPES", "FASTMCP_SERVER_AUTH_JWT_REQUIRED_SCOPES"]),
    }
}

fn transport(reader: &mut Reader<'_>) -> TransportSettings {
    let words = [
        ("stdio", TransportKind::Stdio),
        ("streamable-http", TransportKind::StreamableHttp),
        ("sse", TransportKind::Sse),
    ];
    TransportSettings {
        kind: reader.word("TRANSPORT", "stdio, streamable-http, sse", &words),
        host: reader.text(&["HOST"]).unwrap_or_else(|| HealthAddress::DEFAULT_HOST.to_owned()),
        port: u16::try_from(reader.number("PORT", 8000, 1, 65_535)).unwrap_or(8000),
        tls_certificate: reader.text(&["MCP_TLS_CERTFILE"]),
        tls_key: reader.text(&["MCP_TLS_KEYFILE"]),
        tls_terminated: reader.flag("MCP_TLS_TERMINATED"),
        metrics: reader.flag("MCP_METRICS"),
        trusted_proxies: reader.list(&["MCP_TRUSTED_PROXY_CIDRS"]),
        allowed_hosts: reader.list(&["MCP_ALLOWED_HOSTS"]),
        allowed_origins: reader.list(&["MCP_ALLOWED_ORIGINS"]),
    }
}

fn limits(reader: &mut Reader<'_>) -> LimitSettings {
    LimitSettings {
        max_request_bytes: reader.number("MCP_MAX_REQUEST_BYTES", 4 << 20, 1 << 10, 256 << 20),
        max_connections: reader.number("MCP_MAX_CONNECTIONS", 128, 1, 10_000),
        listen_backlog: reader.number("MCP_LISTEN_BACKLOG", 256, 1, 65_535),
        keep_alive: reader.seconds("MCP_KEEPALIVE_TIMEOUT_SECONDS", 5, 1, 300),
        graceful_shutdown: reader.seconds("MCP_GRACEFUL_SHUTDOWN_TIMEOUT_SECONDS", 15, 1, 300),
        request_body: reader.seconds("MCP_REQUEST_BODY_TIMEOUT_SECONDS", 30, 1, 300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;

    fn read(pairs: &[(&str, &str)]) -> Result<AgentConfig, SettingsProblems> {
        let owned = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        AgentConfig::from_environment(&owned.collect())
    }

    fn codes(pairs: &[(&str, &str)]) -> Vec<&'static str> {
        read(pairs).unwrap_err().problems.iter().map(Refusal::code).collect()
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R029, SDK-CONNECTOR-CONTROL-R016, SDK-CENTRALIZED-CAPABILITIES-R034
    #[test]
    fn sections_are_typed_and_have_defaults() {
        let silent = read(&[("UNRELATED", "x")]).unwrap();
        assert_eq!((silent.auth.kind, silent.transport.kind), (AuthKind::None, TransportKind::Stdio));
        assert_eq!((silent.transport.host.as_str(), silent.transport.port), ("127.0.0.1", 8000));
        assert_eq!((silent.limits.max_request_bytes, silent.limits.max_connections), (4 << 20, 128));
        let full = read(&[
            ("AUTH_TYPE", "static"),
            ("FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF", "env://TOKENS"),
            ("CONNECTOR_REQUIRED_SCOPES", "read, write,"),
            ("TRANSPORT", "streamable-http"),
            ("HOST", "0.0.0.0"),
            ("PORT", " 9000 "),
            ("MCP_TLS_TERMINATED", "yes"),
            ("MCP_TRUSTED_PROXY_CIDRS", "10.0.0.0/8"),
            ("MCP_ALLOWED_HOSTS", "desk.example"),
            ("MCP_KEEPALIVE_TIMEOUT_SECONDS", "7"),
        ])
        .unwrap();
        assert!(full.is_exposed() && full.transport.tls_terminated);
        assert_eq!(full.auth.required_scopes, ["read", "write"]);
        assert_eq!(full.limits.keep_alive, Duration::from_secs(7));
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R029
    #[test]
    fn invalid_values_and_combinations_fail_at_construction() {
        assert_eq!(codes(&[("AUTH_TYPE", "static")]), ["setting_needs"]);
        assert_eq!(codes(&[("AUTH_TYPE", "jwt")]), ["setting_needs", "setting_needs"]);
        assert_eq!(codes(&[("CONNECTOR_REQUIRED_SCOPES", "r")]), ["setting_needs"]);
        assert_eq!(codes(&[("MCP_TLS_CERTFILE", "c")]), ["setting_needs"]);
        assert_eq!(codes(&[("MCP_TLS_KEYFILE", "k")]), ["setting_needs"]);
        assert_eq!(codes(&[("MCP_TLS_TERMINATED", "1")]), ["setting_needs"]);
        let both = [
            ("MCP_TLS_CERTFILE", "c"),
            ("MCP_TLS_KEYFILE", "k"),
            ("MCP_TLS_TERMINATED", "1"),
            ("MCP_TRUSTED_PROXY_CIDRS", "10.0.0.0/8"),
        ];
        assert_eq!(codes(&both), ["setting_excludes"]);
        assert_eq!(codes(&[("TRANSPORT", "sse"), ("HOST", "0.0.0.0")]), ["setting_exposed"; 3]);
        assert_eq!(
            codes(&[("TRANSPORT", "websocket"), ("PORT", "99999"), ("MCP_TLS_TERMINATED", "ture"), ("AUTH_TYPE", "x")]),
            ["setting_unknown_word", "setting_unknown_word", "setting_out_of_range", "setting_not_boolean"]
        );
        let literal = read(&[("FASTMCP_SERVER_AUTH_STATIC_TOKENS_REF", "hunter2")]).unwrap_err().to_string();
        assert!(literal.contains("setting_not_a_reference") && !literal.contains("hunter2"));
    }
}
