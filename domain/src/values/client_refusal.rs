//! What the client of a vendor system can fail with (SDK-CONNECTOR-CONTROL-R780.2).

use crate::refusals;

refusals! {
    /// Why a client call failed. The peer's exceptions `AuthError`, `UnauthorizedError` (an `AuthError`), `ApiError`,
    /// `MissingParameterError`, `ParameterError` and `LoginRequiredError`; [`ClientRefusal::is_auth`] keeps their one
    /// line of inheritance. No variant carries what the vendor said.
    pub enum ClientRefusal {
        /// Authentication failed.
        Auth => "client_auth", Denied, Never,
            "the vendor system does not accept the credential", "check the credential this connector is configured with";
        /// Authenticated, and still refused (HTTP 401 or 403).
        Unauthorized => "client_unauthorized", Denied, Never,
            "the vendor system refuses this credential for the call", "grant it the permission the tool documents";
        /// The vendor system answered with a failure.
        Api { status: u16 } => "client_api", PeerMisbehaved, Later,
            "the vendor system answered with status {status}", "try again later; if it stays, ask the vendor";
        /// A parameter is missing.
        MissingParameter { parameter: &'static str } => "client_missing_parameter", CallerMistake, Never,
            "the parameter `{parameter}` is missing", "give it";
        /// A parameter is not usable.
        Parameter { parameter: &'static str } => "client_parameter", CallerMistake, Never,
            "the parameter `{parameter}` is not usable", "see the schema of the tool";
        /// The caller has to log in first.
        LoginRequired => "client_login_required", Denied, Never,
            "the caller is not logged in", "log in, then call again";
    }
}

impl ClientRefusal {
    /// Whether it is a failure of authentication: [`ClientRefusal::Auth`] or its special case
    /// [`ClientRefusal::Unauthorized`].
    pub const fn is_auth(&self) -> bool {
        matches!(self, Self::Auth | Self::Unauthorized)
    }
}

#[cfg(test)]
mod tests {
    use super::ClientRefusal;

    /// Proves: SDK-CONNECTOR-CONTROL-R780.2, SDK-CONNECTOR-CONTROL-R780
    #[test]
    fn six_kinds_and_one_line_of_inheritance() {
        let parameter = "id";
        let all = [
            ClientRefusal::Auth,
            ClientRefusal::Unauthorized,
            ClientRefusal::Api { status: 500 },
            ClientRefusal::MissingParameter { parameter },
            ClientRefusal::Parameter { parameter },
            ClientRefusal::LoginRequired,
        ];
        assert_eq!(ClientRefusal::CATALOGUE.len(), all.len());
        assert_eq!(all.map(|refusal| refusal.is_auth()), [true, true, false, false, false, false]);
    }
}
