use crate::refusals;

refusals! {
    /// Why an exchange did not happen, or did not end.
    pub enum HttpRefusal {
        /// The URL is not one that can be requested.
        Url { what: &'static str } => "http_url", CallerMistake, Never,
            "the URL {what}", "use an absolute https address without user info";
        /// Policy refuses the destination; `reason` is the code of the egress refusal.
        Destination { host: String, reason: &'static str } => "http_destination_refused", Denied, Never,
            "{host} may not be dialled ({reason})", "name the host in allowed_private_hosts if it is meant";
        /// No address was found, or nobody answered there, before anything was sent.
        Connect { host: String } => "http_connect_failed", Unavailable, Later,
            "{host} cannot be reached", "check the address and that the server is up";
        /// The certificate or the handshake was refused.
        Tls { host: String } => "http_tls_failed", PeerMisbehaved, Never,
            "the TLS certificate or handshake of {host} is not acceptable", "name a TLS profile with the right CA for this host";
        /// A bound of time; `phase` is `connect`, `redirected connect`, `idle` or `total`. Only with `connect` is it certain that
        /// nothing was sent.
        Timeout { host: String, phase: &'static str } => "http_timeout", Unavailable, Later,
            "{host} took longer than the {phase} limit", "raise the limit, or check the server";
        /// The connection broke after the request went out.
        Broken { host: String } => "http_broken", PeerMisbehaved, Later,
            "{host} broke the exchange off", "try again where the operation allows it";
        /// The answer is not HTTP, or lies about its length or its encoding.
        Malformed { host: String, what: &'static str } => "http_malformed", PeerMisbehaved, Never,
            "the answer of {host} has a malformed {what}", "report it to the operator of the server";
        /// A bound of size; `what` is `body`, `headers`, `header bytes`, `interim answers` or `redirects`.
        TooLarge { host: String, what: &'static str, limit: u64 } => "http_too_large", PeerMisbehaved, Never,
            "the answer of {host} exceeds the limit of {limit} for its {what}", "ask for less, or raise the limit";
        /// A redirect that must not be followed.
        Redirect { host: String, reason: &'static str } => "http_redirect_refused", Denied, Never,
            "{host} redirects to a place that may not be followed ({reason})", "use the final address as the base URL";
        /// A profile of that name is not configured.
        UnknownProfile { kind: &'static str, name: String } => "http_unknown_profile", CallerMistake, Never,
            "there is no {kind} profile named {name}", "configure the profile, or fix its name";
        /// The material of a profile cannot be used.
        Profile { kind: &'static str, name: String, what: &'static str } => "http_profile_unusable", CallerMistake, Never,
            "the {kind} profile {name} has an unusable {what}", "fix the file or reference the profile names";
    }
}

impl HttpRefusal {
    /// Whether the request certainly never reached the server, so that any method may be tried again.
    pub fn before_sending(&self) -> bool {
        matches!(
            self,
            Self::Url { .. }
                | Self::Destination { .. }
                | Self::Connect { .. }
                | Self::Tls { .. }
                | Self::Timeout { phase: "connect", .. }
                | Self::UnknownProfile { .. }
                | Self::Profile { .. }
        )
    }
}
