//! What a vendor's answer refuses, one variant for each thing a caller can do about it.

use super::{RateSnapshot, StatusCode};
use crate::refusals;

refusals! {
    /// Why an answer is not what was asked for. `problem` is the type of an RFC 9457 problem, `about:blank` for none; the
    /// vendor's own words are never part of it.
    pub enum ResponseRefusal {
        /// 400 and 422, and every other 4xx without a variant of its own.
        Rejected { host: String, status: u16, problem: String } => "response_rejected", CallerMistake, Never,
            "{host} rejects the request with status {status} ({problem})", "check the parameters of the call";
        /// 401, after the credential was renewed once where that is possible.
        Unauthorized { host: String, problem: String } => "response_unauthorized", Denied, Never,
            "{host} does not accept the credential ({problem})", "check the credential this connector is configured with";
        /// 403.
        Forbidden { host: String, problem: String } => "response_forbidden", Denied, Never,
            "{host} refuses this credential for the call ({problem})", "grant it the permission the call needs";
        /// 404 and 410.
        NotFound { host: String, problem: String } => "response_not_found", CallerMistake, Never,
            "{host} knows no such resource ({problem})", "check the path and the identifier";
        /// 409 and 412: the state is not the one the call expects.
        Conflict { host: String, status: u16, problem: String } => "response_conflict", CallerMistake, Never,
            "{host} answers with a conflict, status {status} ({problem})", "read the present state, then decide again";
        /// 429, or a 403 that the client counts as one. `wait_ms` is what the server asks for.
        RateLimited { host: String, wait_ms: Option<u64>, problem: String } => "response_rate_limited", Unavailable, Later,
            "{host} is asked too often ({problem})", "wait, and lower rate_limit";
        /// 408 and 5xx.
        Server { host: String, status: u16, problem: String } => "response_server", Unavailable, Later,
            "{host} failed with status {status} ({problem})", "try again later; if it stays, ask the vendor";
        /// A 3xx where content was asked for.
        Redirected { host: String, status: u16 } => "response_redirected", PeerMisbehaved, Never,
            "{host} answers with a redirect, status {status}, where content was asked for",
            "use the final address as the base URL, or let the client follow redirects";
        /// The body is not JSON.
        NotJson { host: String, status: u16 } => "response_not_json", PeerMisbehaved, Never,
            "the answer of {host}, status {status}, is not JSON", "check that the path is one of the API";
        /// The body is JSON of another shape.
        Shape { host: String, what: &'static str } => "response_shape", PeerMisbehaved, Never,
            "the answer of {host} is not {what}", "compare the type with the vendor's documentation";
        /// A 2xx whose body says that it failed, where the call asked to look.
        ErrorInBody { host: String, path: String } => "response_error_in_body", PeerMisbehaved, Never,
            "{host} answers with success and an error at `{path}`", "see the vendor's documentation of this call";
    }
}

impl ResponseRefusal {
    /// The refusal of a status; `None` for 1xx, 2xx and 3xx.
    pub fn of_status(
        host: &str,
        status: StatusCode,
        rate: Option<&RateSnapshot>,
        now_unix_ms: i64,
        problem: Option<&str>,
    ) -> Option<Self> {
        let host = host.to_owned();
        let problem = problem.unwrap_or("about:blank").to_owned();
        let code = status.as_u16();
        Some(match code {
            ..=399 => return None,
            401 => Self::Unauthorized { host, problem },
            403 => Self::Forbidden { host, problem },
            404 | 410 => Self::NotFound { host, problem },
            409 | 412 => Self::Conflict { host, status: code, problem },
            429 => Self::throttled(host, rate, now_unix_ms, problem),
            408 | 500.. => Self::Server { host, status: code, problem },
            _ => Self::Rejected { host, status: code, problem },
        })
    }

    /// [`ResponseRefusal::RateLimited`], whatever the status was.
    pub fn throttled(host: String, rate: Option<&RateSnapshot>, now_unix_ms: i64, problem: String) -> Self {
        let wait = rate.and_then(|rate| rate.asked_wait(now_unix_ms));
        let wait_ms = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        Self::RateLimited { host, wait_ms, problem }
    }

    /// The credential is not accepted, or not for this.
    pub const fn is_auth(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Forbidden { .. })
    }
}
