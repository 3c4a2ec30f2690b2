//! HTTP routes and readiness beside the protocol, as connectors declare and listeners serve them
//! (SDK-CONNECTOR-CONTROL-R019.2).

use std::collections::BTreeSet;

use crate::http::{Bytes, Method, StatusCode};
use crate::json::JsonObject;
use crate::refusals;

/// Where the process says that it lives.
pub const HEALTH: &str = "/health";
/// Where the connector says whether it can work.
pub const READY: &str = "/ready";
/// Where the protocol is.
pub const MCP: &str = "/mcp";
/// Where the older transport opens its stream of events.
pub const SSE: &str = "/sse";
/// Where the older transport takes messages.
pub const MESSAGES: &str = "/messages";
/// Where measurements are, when they are served.
pub const METRICS: &str = "/metrics";
const WELL_KNOWN: &str = "/.well-known";

/// One request of a declared route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteRequest {
    /// The method; one of the route's.
    pub method: Method,
    /// The query, without `?`.
    pub query: String,
    /// The body, within the listener's bound.
    pub body: Bytes,
}

/// What a declared route answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteAnswer {
    /// The status.
    pub status: StatusCode,
    /// `content-type`.
    pub media_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// Whether a connector can do its work now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Whether it can.
    pub ready: bool,
    /// What belongs to it, shown to whoever asks: no secret, no payload.
    pub detail: JsonObject,
}

refusals! {
    /// Why a route cannot be served. A path is repeated up to 128 characters.
    pub enum RouteRefusal {
        /// It is no path from the root, exact and in visible ASCII.
        Path { path: String } => "route_path_invalid", CallerMistake, Never,
            "the route {path} is not a plain path from the root", "write a path such as /hooks, without a query, `..` or blanks";
        /// The server answers there itself.
        Reserved { path: String } => "route_path_reserved", CallerMistake, Never,
            "the server itself answers at {path}", "choose another path than /health, /ready, /mcp, /sse, /messages, /.well-known or, where metrics are served, /metrics";
        /// It answers no method.
        NoMethod { path: String } => "route_without_method", CallerMistake, Never,
            "the route {path} answers no method", "name the methods it answers";
        /// Two routes answer the same request.
        Twice { path: String } => "route_twice", CallerMistake, Never,
            "the route {path} is declared twice for one method", "keep one route for each path and method";
    }
}

/// Whether routes, each a path with its methods, can be served side by side. `metrics` says that the listener serves its
/// measurements, whose place is then taken too.
pub fn check_routes<'r>(
    routes: impl IntoIterator<Item = (&'r str, &'r [Method])>,
    metrics: bool,
) -> Result<(), RouteRefusal> {
    let mut seen = BTreeSet::new();
    for (path, methods) in routes {
        let told = || path.chars().take(128).collect();
        let plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#'));
        if !path.starts_with('/') || !plain || path.split('/').any(|part| part == "..") {
            return Err(RouteRefusal::Path { path: told() });
        }
        if is_reserved(path, metrics) {
            return Err(RouteRefusal::Reserved { path: told() });
        }
        if methods.is_empty() {
            return Err(RouteRefusal::NoMethod { path: told() });
        }
        if !methods.iter().all(|method| seen.insert((path, method.as_str()))) {
            return Err(RouteRefusal::Twice { path: told() });
        }
    }
    Ok(())
}

/// A reserved place includes everything below it.
fn is_reserved(path: &str, metrics: bool) -> bool {
    let under = |place: &str| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    [HEALTH, READY, MCP, SSE, MESSAGES, WELL_KNOWN].into_iter().any(under) || metrics && under(METRICS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    fn code(paths: &[&str], methods: &[Method], metrics: bool) -> Option<&'static str> {
        check_routes(paths.iter().map(|path| (*path, methods)), metrics).err().map(|refusal| refusal.code())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R019.2
    #[test]
    fn a_route_has_a_place_of_its_own() {
        let get = [Method::GET];
        for path in ["/", "/hooks", "/a/b/", "/healthy", "/mcps", "/message", "/metrics", "/a%20b"] {
            assert_eq!(code(&[path], &get, false), None, "{path}");
        }
        for path in ["", "hooks", "/a/../b", "/..", "/a?b", "/a#b", "/a b", "/ä", "/a\n"] {
            assert_eq!(code(&[path], &get, false), Some("route_path_invalid"), "{path}");
        }
        for path in [
            "/health",
            "/health/",
            "/ready",
            "/ready/now",
            "/mcp",
            "/mcp/",
            "/mcp/x",
            "/sse",
            "/messages",
            "/messages/",
            "/.well-known",
            "/.well-known/oauth-protected-resource",
        ] {
            assert_eq!(code(&[path], &get, false), Some("route_path_reserved"), "{path}");
        }
        for path in ["/metrics", "/metrics/"] {
            assert_eq!(code(&[path], &[Method::POST], true), Some("route_path_reserved"), "{path}");
        }
        assert_eq!(code(&["/a"], &[], false), Some("route_without_method"));
        assert_eq!(code(&["/a", "/a"], &get, false), Some("route_twice"));
        assert_eq!(code(&["/a"], &[Method::GET, Method::GET], false), Some("route_twice"));
        assert_eq!(code(&["/a", "/b"], &[Method::GET, Method::POST], false), None);
    }

    #[test]
    fn a_long_path_is_told_in_part() {
        let path = "x".repeat(100_000);
        assert!(
            check_routes([(path.as_str(), [Method::GET].as_slice())], false)
                .is_err_and(|refusal| refusal.to_string().len() < 300)
        );
    }
}
