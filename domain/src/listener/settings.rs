//! What an operator writes about a listener, and what is made of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::boundary::HostRule;
use super::{
    Authority, ListenerAuth, ListenerBoundary, ListenerConfigRefusal as Refusal, ListenerTls, ListenerTransport,
    MAX_HOSTS, MAX_ORIGINS, Origin, cidr_list, is_loopback_host,
};

/// The settings of a listener, unchecked. Silent members have the defaults of [`ListenerSettings::default`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListenerSettings {
    /// `streamable-http` or `sse`.
    pub transport: String,
    /// The name or address to bind.
    pub host: String,
    /// The port; 0 lets the system choose.
    pub port: u64,
    /// `none`, `static`, `jwt`, `oauth-proxy`, `oidc-proxy` or `remote-oauth`.
    pub auth_type: String,
    /// The authorities requests may be for: at most 256, exact. Empty means the usual ones on loopback.
    pub allowed_hosts: Vec<String>,
    /// The origins pages may have: at most 256. Empty refuses every origin.
    pub allowed_origins: Vec<String>,
    /// The certificate chain, PEM.
    pub tls_certfile: Option<String>,
    /// Its key, PEM.
    pub tls_keyfile: Option<String>,
    /// A proxy in front speaks TLS.
    pub tls_terminated: bool,
    /// The networks such a proxy connects from: 1 to 64.
    pub trusted_proxy_cidrs: Vec<String>,
    /// Bytes of a request body: 1 KiB to 256 MiB.
    pub max_request_bytes: u64,
    /// Seconds a body may take: 1 to 300.
    pub request_body_timeout_seconds: f64,
    /// Connections at once: 1 to 10000.
    pub limit_concurrency: u64,
    /// Connections waiting to be accepted: 1 to 65535.
    pub backlog: u64,
    /// Seconds an idle connection is kept: 1 to 300.
    pub timeout_keep_alive: u64,
    /// Seconds requests get to end at a shutdown: 1 to 300.
    pub timeout_graceful_shutdown: u64,
}

impl Default for ListenerSettings {
    fn default() -> Self {
        Self {
            transport: ListenerTransport::StreamableHttp.name().to_owned(),
            host: "127.0.0.1".to_owned(),
            port: 8000,
            auth_type: ListenerAuth::None.name().to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tls_certfile: None,
            tls_keyfile: None,
            tls_terminated: false,
            trusted_proxy_cidrs: Vec::new(),
            max_request_bytes: 4 << 20,
            request_body_timeout_seconds: 30.0,
            limit_concurrency: 128,
            backlog: 256,
            timeout_keep_alive: 5,
            timeout_graceful_shutdown: 15,
        }
    }
}

impl ListenerSettings {
    /// Checks everything. `readable` says whether a file of the certificate can be read; it is asked for those only. A
    /// listener that other machines can reach needs authentication, TLS (its own, or a proxy's with its networks) and hosts.
    pub fn validate(&self, readable: impl Fn(&str) -> bool) -> Result<ListenerBoundary, Refusal> {
        let transport = ListenerTransport::parse(&self.transport)
            .ok_or(Refusal::Unknown { field: "transport", known: "streamable-http, sse" })?;
        let auth = ListenerAuth::parse(&self.auth_type).ok_or(Refusal::Unknown {
            field: "auth_type",
            known: "none, static, jwt, oauth-proxy, oidc-proxy, remote-oauth",
        })?;
        let port = within("port", self.port, 0, 65_535)?;
        let own = bind_authority(&self.host).ok_or(Refusal::Host)?;
        let loopback = is_loopback_host(Some(&self.host));
        let tls = self.tls(&readable)?;
        let proxies = match (&tls, self.trusted_proxy_cidrs.is_empty()) {
            (_, true) => Vec::new(),
            (ListenerTls::Terminated, false) => cidr_list(&self.trusted_proxy_cidrs)?,
            (_, false) => {
                cidr_list(&self.trusted_proxy_cidrs)?;
                return Err(Refusal::CidrsUnused);
            }
        };
        let hosts = list("allowed_hosts", &self.allowed_hosts, MAX_HOSTS, "an exact host", Authority::parse)?;
        let origins = list("allowed_origins", &self.allowed_origins, MAX_ORIGINS, "an http(s) origin", Origin::parse)?;
        if !loopback {
            let needs = if auth == ListenerAuth::None {
                Some("authentication")
            } else if tls == ListenerTls::Off {
                Some("TLS, its own or a proxy's")
            } else if tls == ListenerTls::Terminated && proxies.is_empty() {
                Some("trusted_proxy_cidrs")
            } else if hosts.is_empty() {
                Some("allowed_hosts")
            } else {
                None
            };
            if let Some(needs) = needs {
                return Err(Refusal::Exposed { needs });
            }
        }
        let seconds = |field, value| within(field, value, 1, 300).map(|value| Duration::from_secs(u64::from(value)));
        let hosts = if hosts.is_empty() { HostRule::Usual { own } } else { HostRule::Listed(hosts) };
        Ok(ListenerBoundary {
            transport,
            bind: self.host.clone(),
            auth,
            tls,
            hosts: Vec::new(),
            rule: hosts,
            origins,
            proxies,
            max_request_bytes: u64::from(within("max_request_bytes", self.max_request_bytes, 1 << 10, 256 << 20)?),
            body_timeout: body_timeout(self.request_body_timeout_seconds)?,
            max_connections: within("limit_concurrency", self.limit_concurrency, 1, 10_000)?,
            backlog: within("backlog", self.backlog, 1, 65_535)?,
            keep_alive: seconds("timeout_keep_alive", self.timeout_keep_alive)?,
            graceful_shutdown: seconds("timeout_graceful_shutdown", self.timeout_graceful_shutdown)?,
            port: 0,
        }
        .bound_to(u16::try_from(port).unwrap_or_default()))
    }

    fn tls(&self, readable: &impl Fn(&str) -> bool) -> Result<ListenerTls, Refusal> {
        match (&self.tls_certfile, &self.tls_keyfile, self.tls_terminated) {
            (None, None, false) => Ok(ListenerTls::Off),
            (None, None, true) => Ok(ListenerTls::Terminated),
            (Some(_), Some(_), true) => Err(Refusal::TlsTwice),
            (Some(certificate), Some(key), false) => {
                for (field, path) in [("tls_certfile", certificate), ("tls_keyfile", key)] {
                    if !readable(path) {
                        return Err(Refusal::TlsFile { field });
                    }
                }
                Ok(ListenerTls::Own { certificate: certificate.clone(), key: key.clone() })
            }
            _ => Err(Refusal::TlsPair),
        }
    }
}

/// The host to bind as an authority; IPv6 is written without brackets there.
fn bind_authority(host: &str) -> Option<Authority> {
    let bracketed;
    let text = if host.contains(':') && !host.starts_with('[') {
        bracketed = format!("[{host}]");
        &bracketed
    } else {
        host
    };
    Authority::parse(text).filter(|authority| authority.port().is_none())
}

fn within(field: &'static str, value: u64, low: u32, high: u32) -> Result<u32, Refusal> {
    let refusal = Refusal::OutOfRange { field, low: low.into(), high: high.into() };
    u32::try_from(value).ok().filter(|value| (low..=high).contains(value)).ok_or(refusal)
}

fn body_timeout(seconds: f64) -> Result<Duration, Refusal> {
    let field = "request_body_timeout_seconds";
    // No NaN is within.
    if !(1.0..=300.0).contains(&seconds) {
        return Err(Refusal::OutOfRange { field, low: 1, high: 300 });
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn list<T: Ord>(
    field: &'static str,
    texts: &[String],
    most: usize,
    what: &'static str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Refusal> {
    if texts.len() > most {
        return Err(Refusal::OutOfRange { field, low: 0, high: most as u64 });
    }
    let parsed = texts.iter().enumerate().map(|(entry, text)| parse(text).ok_or(Refusal::Entry { field, entry, what }));
    let mut values = parsed.collect::<Result<Vec<T>, Refusal>>()?;
    values.sort_unstable();
    values.dedup();
    Ok(values)
}
