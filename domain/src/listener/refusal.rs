use crate::http::StatusCode;
use crate::refusals;

refusals! {
    /// Why a request is not let in.
    pub enum ListenerRefusal {
        /// The peer is not one of the trusted proxies, or unknown.
        Peer => "listener_peer", Denied, Never,
            "peer rejected", "reach the server through its proxy, or add the proxy's network to the trusted ones";
        /// The host is absent, repeated, unreadable or not listed.
        Host => "listener_host", CallerMistake, Never,
            "host rejected", "use one of the server's own names, or add this one to the allowed hosts";
        /// The origin is repeated or not listed.
        Origin => "listener_origin", Denied, Never,
            "origin rejected", "add the origin of the page to the allowed origins if it is meant";
        /// The content length is repeated or no number.
        ContentLength => "listener_content_length", CallerMistake, Never,
            "invalid content length", "send one Content-Length of decimal digits, or none";
        /// The declared or received body is over the bound.
        TooLarge => "listener_body_too_large", CallerMistake, Never,
            "request body too large", "send less, or raise the bound of the server";
        /// The body was not complete in time.
        BodyTimeout => "listener_body_timeout", CallerMistake, Later,
            "request body timeout", "send the body faster";
    }
}

refusals! {
    /// Why a listener is not started.
    pub enum ListenerConfigRefusal {
        /// A number outside its bounds, which are inclusive.
        OutOfRange { field: &'static str, low: u64, high: u64 } => "listener_out_of_range", CallerMistake, Never,
            "{field} is not between {low} and {high}", "choose a value inside the bounds";
        /// A value nobody knows.
        Unknown { field: &'static str, known: &'static str } => "listener_unknown_value", CallerMistake, Never,
            "{field} is not one of {known}", "use one of these words";
        /// An entry of a list that cannot be read; `entry` counts from 0.
        Entry { field: &'static str, entry: usize, what: &'static str } => "listener_entry", CallerMistake, Never,
            "entry {entry} of {field} is not {what}", "fix the entry";
        /// The host to bind is neither a name nor an address.
        Host => "listener_bind_host", CallerMistake, Never,
            "host is neither a name nor an address", "write 127.0.0.1, or the address to bind";
        /// One of the two files of a certificate is missing.
        TlsPair => "listener_tls_pair", CallerMistake, Never,
            "a certificate needs its key, and a key its certificate", "set tls_certfile and tls_keyfile";
        /// A file of the certificate cannot be read.
        TlsFile { field: &'static str } => "listener_tls_file", CallerMistake, Never,
            "the file of {field} cannot be read", "check the path and its permissions";
        /// Own TLS and TLS of a proxy at once.
        TlsTwice => "listener_tls_twice", CallerMistake, Never,
            "TLS is spoken here and terminated by a proxy at once", "choose one of the two";
        /// Networks of proxies without a proxy.
        CidrsUnused => "listener_cidrs_unused", CallerMistake, Never,
            "trusted_proxy_cidrs is set, but tls_terminated is not", "set tls_terminated, or drop the networks";
        /// Other machines reach a listener that lacks this.
        Exposed { needs: &'static str } => "listener_exposed", Denied, Never,
            "a listener other machines can reach needs {needs}", "add it, or bind 127.0.0.1";
    }
}

/// The answer to a request that is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalAnswer {
    /// The status.
    pub status: StatusCode,
    /// Compact JSON. `content-type: application/json`, `content-length` and `cache-control: no-store` go with it.
    pub body: &'static str,
    /// How a websocket is closed instead.
    pub websocket_close: u16,
    /// The reason of that.
    pub reason: &'static str,
}

impl ListenerRefusal {
    /// The answer on the wire.
    pub const fn answer(&self) -> RefusalAnswer {
        let (status, body) = match self {
            Self::Peer => (StatusCode::FORBIDDEN, r#"{"error":"peer rejected"}"#),
            Self::Host => (StatusCode::BAD_REQUEST, r#"{"error":"host rejected"}"#),
            Self::Origin => (StatusCode::FORBIDDEN, r#"{"error":"origin rejected"}"#),
            Self::ContentLength => (StatusCode::BAD_REQUEST, r#"{"error":"invalid content length"}"#),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, r#"{"error":"request body too large"}"#),
            Self::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, r#"{"error":"request body timeout"}"#),
        };
        RefusalAnswer { status, body, websocket_close: 4403, reason: self.entry().message }
    }
}
