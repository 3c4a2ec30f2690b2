use crate::auth::{AuthRefusal, JwtRefusal};
use crate::refusals;

refusals! {
    /// Why a login did not happen (SDK-CONNECTOR-CONTROL-R046.4). Closed; [`PkceRefusal::reason`] is the register's word.
    pub enum PkceRefusal {
        /// Nobody has logged in, and no login may begin.
        NoCredential => "pkce_no_credential", CallerMistake, Never,
            "no login is stored for this account", "log in first";
        /// A login is needed and allowed; somebody has to take part.
        InteractionRequired => "pkce_interaction_required", CallerMistake, Never,
            "a person has to log in", "open the address of the challenge";
        /// No browser could be started.
        BrowserLaunchFailed => "pkce_browser_launch_failed", Unavailable, Never,
            "no browser could be started", "use the headless mode";
        /// The callback cannot be received.
        CallbackUnavailable => "pkce_callback_unavailable", Unavailable, Later,
            "no listener for the callback could be opened on this machine", "use the headless mode";
        /// The person did not finish in time.
        InputTimeout => "pkce_input_timeout", Unavailable, Later,
            "the login was not finished in time", "start again";
        /// The answer belongs to another login, or came twice.
        StateMismatch => "pkce_state_mismatch", Denied, Never,
            "the answer does not belong to this login, or came twice", "start again, and hand over nothing but its own answer";
        /// The answer came to another address than the one it was bound to.
        InsecureRedirect => "pkce_insecure_redirect", Denied, Never,
            "the answer came to another address than this login's", "register the redirect address with the provider";
        /// The provider does not answer, or not as its protocol and its declared token profile say.
        ProviderUnavailable => "pkce_provider_unavailable", Unavailable, Later,
            "the provider does not answer, or not as its token profile says", "check the provider and the declared profile";
        /// The tokens could not be kept.
        PersistenceFailed => "pkce_persistence_failed", Unavailable, Later,
            "the tokens could not be kept", "check the token store, then log in again";
        /// Somebody ended it: the person at the provider, or the caller.
        Cancelled => "pkce_cancelled", Denied, Never, "the login was cancelled", "start again";
        /// The total deadline passed.
        Expired => "pkce_expired", Unavailable, Later, "the login took longer than its deadline", "start again";
        /// The provider or the host took the authority back.
        Revoked => "pkce_revoked", Denied, Never, "the authority for this login was revoked", "log in again";
    }
}

impl PkceRefusal {
    /// The register's word for it.
    pub fn reason(&self) -> &'static str {
        let code = self.entry().code;
        code.strip_prefix("pkce_").unwrap_or(code)
    }

    /// What a refusal of an authority means to a login.
    pub const fn of_authority(refusal: &AuthRefusal) -> Self {
        match refusal {
            AuthRefusal::Rejected { .. } => Self::Revoked,
            _ => Self::ProviderUnavailable,
        }
    }

    /// What a refused token means to a login: one of another login, or a provider that breaks its profile.
    pub fn of_token(refusal: &JwtRefusal) -> Self {
        match refusal {
            JwtRefusal::Claim { claim: "nonce" } => Self::StateMismatch,
            _ => Self::ProviderUnavailable,
        }
    }
}
