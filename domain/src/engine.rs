//! What an `epistemic-graph` engine refuses, by its own closed list of codes.

mod codes;

use crate::refusals;

/// A code of the engine. Its free text is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EngineCode {
    text: &'static str,
    retryable: bool,
}

/// A code this release does not know.
const UNLISTED: EngineCode = EngineCode { text: "UNLISTED", retryable: false };

impl EngineCode {
    /// The code of a reply; one that is not on the list becomes `UNLISTED`.
    pub fn of(text: &str) -> Self {
        codes::CODES
            .binary_search_by(|(code, _)| (*code).cmp(text))
            .map_or(UNLISTED, |at| Self { text: codes::CODES[at].0, retryable: codes::CODES[at].1 })
    }

    /// The code itself.
    pub const fn as_str(self) -> &'static str {
        self.text
    }

    /// Whether the engine declares that trying again later helps.
    pub const fn is_retryable(self) -> bool {
        self.retryable
    }

    /// The engine hides many ordinary conditions behind this code, so that it says nothing about what happened.
    pub fn is_opaque(self) -> bool {
        self.text == "INTERNAL"
    }
}

impl std::fmt::Display for EngineCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text)
    }
}

refusals! {
    /// Why the engine did not do what it was asked.
    pub enum EngineRefusal {
        /// Nothing listens at the endpoint.
        Unreachable { endpoint: String } => "engine_unreachable", Unavailable, Later,
            "no engine answers at {endpoint}", "start the engine, or check EPISTEMIC_GRAPH_ENDPOINT";
        /// The certificate or the handshake is not acceptable.
        Tls { endpoint: String } => "engine_tls_failed", PeerMisbehaved, Never,
            "the TLS certificate or handshake of {endpoint} is not acceptable",
            "name the engine's authority in GRAPH_SERVICE_TLS_CA, and the name on its certificate in GRAPH_SERVICE_TLS_SERVER_NAME";
        /// The connection ended before the reply. Reading the state tells what happened.
        Closed { method: &'static str } => "engine_connection_closed", Unavailable, Later,
            "the engine closed the connection during {method}", "try again; a write is settled by reading its state";
        /// The time of the request is over.
        Timeout { method: &'static str, seconds: u64 } => "engine_timeout", Unavailable, Later,
            "the engine did not answer {method} within {seconds} s", "find out why the engine is slow, or allow more time";
        /// The engine says no.
        Refused { method: &'static str, code: EngineCode } => "engine_refused", Denied, Never,
            "the engine refuses {method} ({code})", "look up the code in the engine's documentation";
        /// The engine cannot now.
        Busy { method: &'static str, code: EngineCode } => "engine_busy", Unavailable, Later,
            "the engine cannot do {method} now ({code})", "try again later";
        /// The engine gives a reason that says nothing. Whether the request took effect is not known from it.
        Opaque { method: &'static str } => "engine_outcome_unknown", Unavailable, Never,
            "the engine does not say what became of {method}", "read the state it would have changed";
        /// This engine does not have the method.
        MethodNotServed { method: &'static str } => "engine_method_not_served", CallerMistake, Never,
            "this engine does not serve {method}", "use an engine that does, or the embedded store";
        /// The reply is not what the protocol says.
        Malformed { method: &'static str } => "engine_reply_malformed", PeerMisbehaved, Never,
            "the engine's reply to {method} is not what its protocol says", "check that the engine is version 2.27.7";
        /// The request is larger than the engine takes.
        TooLarge { method: &'static str, limit: usize } => "engine_request_too_large", CallerMistake, Never,
            "the request {method} has more than {limit} bytes", "send less at a time";
        /// A setting is not usable.
        Setting { name: &'static str, what: &'static str } => "engine_setting_invalid", CallerMistake, Never,
            "{name} {what}", "correct the setting";
        /// The secret behind a setting cannot be had.
        Secret { name: &'static str } => "engine_secret_unresolved", CallerMistake, Never,
            "the secret behind {name} cannot be resolved", "check the reference and that the secret is set";
    }
}

impl EngineRefusal {
    /// The refusal a code of a reply stands for.
    pub fn of_code(method: &'static str, text: &str) -> Self {
        let code = EngineCode::of(text);
        match code.as_str() {
            "METHOD_NOT_YET_SERVED" => Self::MethodNotServed { method },
            _ if code.is_opaque() => Self::Opaque { method },
            _ if code.is_retryable() => Self::Busy { method, code },
            _ => Self::Refused { method, code },
        }
    }

    /// The engine's own code, where it gave one.
    pub fn engine_code(&self) -> Option<EngineCode> {
        match self {
            Self::Refused { code, .. } | Self::Busy { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether the request may have taken effect: no answer that settles it has come.
    pub const fn is_unsettled(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::Timeout { .. } | Self::Opaque { .. } | Self::Malformed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_sorted_and_each_there_once() {
        assert!(codes::CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(codes::CODES.len(), 290);
        assert_eq!(codes::CODES.iter().filter(|(_, retryable)| *retryable).count(), 10);
    }

    #[test]
    fn a_code_decides_what_helps() {
        let of = |text| EngineRefusal::of_code("KvGet", text);
        assert!(matches!(of("METHOD_NOT_YET_SERVED"), EngineRefusal::MethodNotServed { .. }));
        assert!(matches!(of("INTERNAL"), EngineRefusal::Opaque { .. }));
        assert!(matches!(of("BUSY"), EngineRefusal::Busy { .. }));
        assert!(matches!(of("ACCESS_DENIED"), EngineRefusal::Refused { .. }));
        assert_eq!(of("a peer's own text").engine_code().map(EngineCode::as_str), Some("UNLISTED"));
        assert!(of("INTERNAL").is_unsettled() && !of("ACCESS_DENIED").is_unsettled());
    }
}
