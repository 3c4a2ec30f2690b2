//! A checked destination.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::http::Url;

/// Where a request goes, once its URL passed the policy. Only the policy makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub(super) host: TargetHost,
    pub(super) port: u16,
    pub(super) tls: bool,
    pub(super) reach: Reach,
}

/// A name to resolve, or an address that passed already.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TargetHost {
    /// Lower case, ASCII, without the final dot: what the certificate must be for.
    Name(Box<str>),
    /// An address that may be dialled.
    Address(IpAddr),
}

/// Where the answers for a name may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    /// Anywhere: the policy does not pin.
    Unchecked,
    /// Public, or loopback where that is allowed.
    Public,
    /// This machine only.
    Loopback,
    /// Private space only.
    Listed,
    /// Public, private or loopback: the host of an endpoint.
    Endpoint,
    /// The same without TLS: private or loopback.
    PlainEndpoint,
}

impl Target {
    /// The host.
    pub fn host(&self) -> &TargetHost {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether TLS is spoken.
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// The name to resolve; `None` when the host is an address.
    pub fn name(&self) -> Option<&str> {
        match &self.host {
            TargetHost::Name(name) => Some(name),
            TargetHost::Address(_) => None,
        }
    }

    /// The address to dial when nothing has to be resolved.
    pub fn literal(&self) -> Option<SocketAddr> {
        match self.host {
            TargetHost::Address(address) => Some(SocketAddr::new(address, self.port)),
            TargetHost::Name(_) => None,
        }
    }
}

/// `host:port`, with brackets around IPv6.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            TargetHost::Name(name) => write!(f, "{name}:{}", self.port),
            TargetHost::Address(address) => write!(f, "{}", SocketAddr::new(*address, self.port)),
        }
    }
}

/// Whether two URLs have scheme, host and port in common. A final dot makes another host, as it does for a browser.
pub(super) fn same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme() && a.host() == b.host() && a.port_or_known_default() == b.port_or_known_default()
}
