//! The decision about one request.

use std::net::IpAddr;

use super::{
    Authority, BodyBudget, ListenerBoundary, ListenerRefusal, MAX_HEADER_VALUE_BYTES, Origin, declared_length,
};
use crate::http::{HeaderMap, HeaderName, header};

/// What is known of a request before its body is read.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'r> {
    /// The address the connection comes from.
    pub peer: Option<IpAddr>,
    /// The authority of the request target: `:authority` of HTTP/2, or an absolute form. It stands for a missing `Host`
    /// and must equal one that is there.
    pub authority: Option<&'r str>,
    /// The header fields.
    pub headers: &'r HeaderMap,
}

impl ListenerBoundary {
    /// Lets a request in or refuses it, in the order peer, host, origin, body. The budget is for reading the body.
    pub fn admit(&self, request: RequestFacts<'_>) -> Result<BodyBudget, ListenerRefusal> {
        self.check_peer(request.peer)?;
        self.check_host(request)?;
        self.check_origin(request.headers)?;
        let declared = declared_length(request.headers)?;
        BodyBudget::new(self.max_request_bytes, self.body_timeout, declared)
    }

    /// Behind a terminating proxy only the proxy may connect.
    pub fn check_peer(&self, peer: Option<IpAddr>) -> Result<(), ListenerRefusal> {
        let trusted = |peer| self.proxies.iter().any(|network| network.contains(peer));
        if self.proxies.is_empty() || peer.is_some_and(trusted) { Ok(()) } else { Err(ListenerRefusal::Peer) }
    }

    /// The request must be for exactly one authority, and for one of ours.
    pub fn check_host(&self, request: RequestFacts<'_>) -> Result<(), ListenerRefusal> {
        let field = single(request.headers, &header::HOST).map_err(|Unusable| ListenerRefusal::Host)?;
        let parse = |text: Option<&str>| match text {
            Some(text) => Authority::parse(text).map(Some).ok_or(ListenerRefusal::Host),
            None => Ok(None),
        };
        let host = match (parse(request.authority)?, parse(field)?) {
            (Some(target), Some(host)) if target == host => host,
            (Some(host), None) | (None, Some(host)) => host,
            _ => return Err(ListenerRefusal::Host),
        };
        if self.hosts.binary_search(&host).is_ok() { Ok(()) } else { Err(ListenerRefusal::Host) }
    }

    /// A page may call only from a listed origin; a caller without one is no page.
    pub fn check_origin(&self, headers: &HeaderMap) -> Result<(), ListenerRefusal> {
        let field = single(headers, &header::ORIGIN).map_err(|Unusable| ListenerRefusal::Origin)?;
        let Some(text) = field else { return Ok(()) };
        let listed = Origin::parse(text).is_some_and(|origin| self.origins.binary_search(&origin).is_ok());
        if listed { Ok(()) } else { Err(ListenerRefusal::Origin) }
    }
}

/// A field that is repeated, too long, or not text.
#[derive(Debug)]
struct Unusable;

fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Unusable> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() || value.len() > MAX_HEADER_VALUE_BYTES {
        return Err(Unusable);
    }
    value.to_str().map(Some).map_err(|_| Unusable)
}
