//! Served security: who may call a connector that listens on the network (SDK-CONNECTOR-CONTROL-R014.18).

use std::collections::BTreeSet;

use crate::json::JsonObject;
use crate::refusals;

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
