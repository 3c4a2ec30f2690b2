//! Served security: who may call a connector that listens on the network (SDK-CONNECTOR-CONTROL-R014.18).
//!
//! A listener has a [`ServedSecurityProfile`] or, for a written reason, a [`ServedSecurityOverride`]; there is no third way. The
//! decisions here are pure: [`bearer`] reads the credential, a `TokenVerifier` looks into it, [`ServedSecurityProfile::caller`] decides,
//! and [`Unauthenticated::answer`] is what goes back. All of it comes before any work.

mod answer;
mod bearer;
mod claims;
mod profile;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::json::JsonObject;
use crate::refusals;

pub use answer::{AccessDenied, SecurityAnswer, Unauthenticated};
pub use bearer::{MAX_TOKEN_BYTES, bearer, is_bearer_text};
pub use profile::{ProtectedResource, ServedSecurityOverride, ServedSecurityProfile};

/// A token that a verifier found good. What is in it came from the authority, not from the parameters of a call.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    /// `sub`.
    pub subject: Option<String>,
    /// The tenant: the first of `tenant_id`, `tenant`, `org_id`, `tid`, `org` that is there.
    pub tenant: Option<String>,
    /// `client_id` or `azp`.
    pub client: Option<String>,
    /// The token's scopes.
    pub scopes: BTreeSet<String>,
    /// The audiences it is for.
    pub audiences: BTreeSet<String>,
    /// When it expires, in seconds since the Unix epoch.
    pub expires_at: Option<i64>,
    /// All claims.
    pub claims: JsonObject,
}

impl std::fmt::Debug for VerifiedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Claims are personal data.
        f.debug_struct("VerifiedToken").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

refusals! {
    /// Why a bearer token is not accepted.
    pub enum TokenRefusal {
        /// It is not a token of this kind, or nobody knows it.
        Invalid => "token_invalid", Denied, Never,
            "the access token is not valid", "get a new one from the authorization server";
        /// Its time is over.
        Expired => "token_expired", Denied, Never,
            "the access token has expired", "get a new one from the authorization server";
        /// It is for another service.
        Audience => "token_audience_mismatch", Denied, Never,
            "the access token is for another audience", "ask the authorization server for a token of this connector";
        /// The authority that would know does not answer.
        Unavailable => "token_authority_unavailable", Unavailable, Later,
            "the authorization server does not answer", "try again later";
    }
}

refusals! {
    /// Why a connector does not listen on the network.
    pub enum ServedSecurityRefusal {
        /// Tokens for anybody would be good here.
        NoAudience => "served_audience_missing", CallerMistake, Never,
            "a network transport needs the audience its tokens must be for", "set --token-audience to this server's own name or URL";
        /// Nobody would look at tokens.
        NoProvider => "served_provider_missing", CallerMistake, Never,
            "a network transport needs a way to check who calls", "set --auth-type to static, jwt or remote-oauth, or serve on stdio";
        /// The reason of an override says nothing.
        Reason => "served_override_unexplained", CallerMistake, Never,
            "serving without a check of callers needs a written reason of at least 10 characters", "write down why, or set --auth-type";
        /// A scope or an audience is not one word.
        Word { what: &'static str } => "served_security_word", CallerMistake, Never,
            "{what} is empty, too long, or holds a space or a control character", "correct the setting";
        /// The way to check callers is not one of those there are.
        Kind => "served_auth_kind", CallerMistake, Never,
            "the way to check callers is not known", "set --auth-type to static, jwt or remote-oauth";
        /// This server does not stand in for an authorization server.
        Proxy { kind: &'static str } => "served_auth_proxy", CallerMistake, Never,
            "this server does not stand in for an authorization server ({kind})",
            "set --auth-type remote-oauth with --remote-auth-servers and --remote-base-url, and register clients there";
        /// A setting is missing, contradicts another one, or cannot be used.
        Setting { setting: &'static str, what: &'static str } => "served_security_setting", CallerMistake, Never,
            "{setting} {what}", "correct the setting";
        /// A secret could not be read.
        Secret { setting: &'static str, code: &'static str } => "served_security_secret", CallerMistake, Never,
            "the secret of {setting} cannot be used ({code})", "check the reference and what it leads to";
        /// A URL of the metadata is not one.
        Url { what: &'static str } => "served_security_url", CallerMistake, Never,
            "{what} is not an https URL, or http on this machine, without user info and fragment", "correct the setting";
    }
}
