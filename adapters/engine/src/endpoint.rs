//! Where the engine listens.

use std::net::SocketAddr;
use std::path::PathBuf;

use scion_domain::engine::EngineRefusal;

/// The name of the setting, for refusals.
const SETTING: &str = "EPISTEMIC_GRAPH_ENDPOINT";

/// An endpoint: `unix:///path` or `tcp://127.0.0.1:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// A UNIX socket.
    Unix(PathBuf),
    /// TCP without TLS, on this machine only: the engine itself offers no other.
    Loopback(SocketAddr),
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
        let address = text.strip_prefix("tcp://").ok_or_else(|| refuse("must begin with unix:// or tcp://"))?;
        let address: SocketAddr =
            address.parse().map_err(|_| refuse("needs an address and a port behind tcp://, such as 127.0.0.1:9000"))?;
        if !address.ip().is_loopback() {
            return Err(refuse("leads to another machine, which needs TLS"));
        }
        Ok(Self::Loopback(address))
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Loopback(address) => write!(f, "tcp://{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_read_and_written_alike() {
        for text in ["unix:///run/eg.sock", "tcp://127.0.0.1:9000", "tcp://[::1]:9000"] {
            assert_eq!(Endpoint::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn plain_tcp_stays_on_this_machine() {
        for text in ["tcp://10.0.0.1:9000", "tcp://localhost:9000", "unix://relative", "https://x", "tcp://127.0.0.1"] {
            assert!(matches!(Endpoint::parse(text), Err(EngineRefusal::Setting { .. })), "{text}");
        }
    }
}
