//! Where the engine listens.

use std::net::SocketAddr;
use std::path::PathBuf;

use scion_domain::engine::EngineRefusal;

/// The name of the setting, for refusals.
const SETTING: &str = "EPISTEMIC_GRAPH_ENDPOINT";

/// An endpoint: `unix:///path`, `tcp://127.0.0.1:port` or `tls://host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A UNIX socket.
    Unix(PathBuf),
    /// TCP without TLS, on this machine only: the engine itself offers no other.
    Loopback(SocketAddr),
    /// TLS, to any machine.
    Tls {
        /// A name or a literal address, without brackets.
        host: String,
        /// The port.
        port: u16,
    },
}

impl Endpoint {
    /// Reads an endpoint. Plain TCP leads to a literal loopback address only.
    pub fn parse(text: &str) -> Result<Self, EngineRefusal> {
        let refuse = |what| EngineRefusal::Setting { name: SETTING, what };
        if let Some(path) = text.strip_prefix("unix://") {
            return if path.starts_with('/') && !path.contains('\0') {
                Ok(Self::Unix(path.into()))
            } else {
                Err(refuse("needs an absolute path behind unix://"))
            };
        }
        if let Some(address) = text.strip_prefix("tls://") {
            return tls(address)
                .ok_or_else(|| refuse("needs a host and a port behind tls://, such as engine.example:9443"));
        }
        let address = text.strip_prefix("tcp://").ok_or_else(|| refuse("must begin with unix://, tcp:// or tls://"))?;
        let address: SocketAddr =
            address.parse().map_err(|_| refuse("needs an address and a port behind tcp://, such as 127.0.0.1:9000"))?;
        if !address.ip().is_loopback() {
            return Err(refuse("leads to another machine, which needs tls://"));
        }
        Ok(Self::Loopback(address))
    }
}

fn tls(address: &str) -> Option<Endpoint> {
    let (host, port) = address.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port > 0)?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').filter(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok())?,
        None => host,
    };
    let named = |host: &str| host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    let usable = host.parse::<std::net::IpAddr>().is_ok() || (!host.is_empty() && host.len() <= 253 && named(host));
    usable.then(|| Endpoint::Tls { host: host.to_owned(), port })
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Loopback(address) => write!(f, "tcp://{address}"),
            Self::Tls { host, port } if host.contains(':') => write!(f, "tls://[{host}]:{port}"),
            Self::Tls { host, port } => write!(f, "tls://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_read_and_written_alike() {
        for text in [
            "unix:///run/eg.sock",
            "tcp://127.0.0.1:9000",
            "tcp://[::1]:9000",
            "tls://engine.example:9443",
            "tls://10.0.0.1:1",
            "tls://[::1]:9",
        ] {
            assert_eq!(Endpoint::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn plain_tcp_stays_on_this_machine() {
        for text in [
            "tcp://10.0.0.1:9000",
            "tcp://localhost:9000",
            "unix://relative",
            "https://x",
            "tcp://127.0.0.1",
            "tls://x",
            "tls://:1",
            "tls://a b:1",
            "tls://x:0",
            "tls://user@host:1",
            "tls://[x]:1",
        ] {
            assert!(matches!(Endpoint::parse(text), Err(EngineRefusal::Setting { .. })), "{text}");
        }
    }
}
