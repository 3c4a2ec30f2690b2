use std::collections::BTreeSet;

use crate::refusals;
use crate::surface::{CallScope, CallerIdentity, PresentedToken};

/// The member of a tool's `_meta` that says it acts for its caller; there only when it does.
pub const ACTOR_META_KEY: &str = "team.knuckles/requiresActor";

/// The user a call acts for, as a verified access token says (SDK-CONNECTOR-CONTROL-R902).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ActorContext<'a> {
    /// Tenant, subject and client.
    pub identity: &'a CallerIdentity,
    /// What the user let the client do.
    pub scopes: &'a BTreeSet<String>,
    /// Whom the token is for.
    pub audience: &'a str,
}

impl<'a> ActorContext<'a> {
    /// The actor of a request. It needs a verified token; the host's word for a caller is not enough. `expected` is the audience
    /// that such tokens must be for; without one, that of the listener, which the transport has checked.
    pub fn of(scope: &'a CallScope, expected: Option<&'a str>) -> Result<Self, ActorRefusal> {
        let (Some(identity), Some(token)) = (&scope.caller, &scope.token) else { return Err(ActorRefusal::Required) };
        if token.verified.subject.as_deref() != Some(identity.principal.as_str()) {
            return Err(ActorRefusal::Required);
        }
        let audience = audience_of(token, expected).ok_or(ActorRefusal::Audience)?;
        Ok(Self { identity, scopes: &token.verified.scopes, audience })
    }
}

/// The audience of a token that is meant: the expected one, or its first.
pub fn audience_of<'a>(token: &'a PresentedToken, expected: Option<&str>) -> Option<&'a str> {
    let mut audiences = token.verified.audiences.iter().map(String::as_str);
    audiences.find(|audience| expected.is_none_or(|expected| expected == *audience))
}

refusals! {
    /// Why a tool that acts for its caller does not run.
    pub enum ActorRefusal {
        /// No verified token says who calls.
        Required => "identity_required", Denied, Never,
            "the tool acts for its caller, and no verified token says who that is",
            "call over HTTP with an access token of the user";
        /// The token is for another service.
        Audience => "IDENTITY_AUDIENCE_MISMATCH", Denied, Never,
            "the caller's token is for another audience", "ask the authorization server for a token of this connector";
    }
}

refusals! {
    /// Why there is no token in the caller's name.
    pub enum DelegationRefusal {
        /// Nobody configured an exchange of tokens.
        Disabled => "delegation_disabled", CallerMistake, Never,
            "tokens of callers are not exchanged here", "configure the exchange of tokens for this connector";
        /// The call has no token that could be exchanged.
        LoginRequired => "login_required", Denied, Never,
            "the call carries no verified token of a user", "log in and call with an access token";
        /// The authorization server does not give one.
        Refused => "delegation_refused", Denied, Never,
            "the authorization server gives no token in the caller's name",
            "check the user's rights and this client's right to exchange tokens";
        /// It does not answer as it should, or cannot be asked.
        Unavailable => "delegation_unavailable", Unavailable, Later,
            "tokens of callers cannot be exchanged now", "try again later; check how the exchange is configured";
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::id::TenantId;
    use crate::json::parse;
    use crate::secret::Secret;
    use crate::served_security::VerifiedToken;

    fn scope(claims: &str) -> CallScope {
        let caller = CallerIdentity::new(TenantId::parse("acme").unwrap(), "ada", "assistant").unwrap();
        let verified = VerifiedToken::from_claims(parse(claims).unwrap().as_object().unwrap().clone());
        let token = Arc::new(PresentedToken { text: Secret::new("text".to_owned()), verified });
        CallScope::default().with_caller(Some(caller)).with_token(Some(token))
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R902.1
    #[test]
    fn an_actor_is_what_a_verified_token_says() {
        let good = scope(r#"{"sub":"ada","aud":["desk","other"],"scope":"read"}"#);
        let actor = ActorContext::of(&good, Some("desk")).unwrap();
        assert_eq!((actor.identity.principal.as_str(), actor.audience), ("ada", "desk"));
        assert!(actor.scopes.contains("read") && ActorContext::of(&good, None).is_ok());
        assert_eq!(ActorContext::of(&good, Some("vendor")).unwrap_err(), ActorRefusal::Audience);
        for claims in [r#"{"sub":"eve","aud":"desk"}"#, r#"{"aud":"desk"}"#] {
            assert_eq!(ActorContext::of(&scope(claims), None).unwrap_err(), ActorRefusal::Required);
        }
        assert_eq!(ActorContext::of(&scope(r#"{"sub":"ada"}"#), None).unwrap_err(), ActorRefusal::Audience);
        let host = CallScope { token: None, ..good };
        assert_eq!(ActorContext::of(&host, None).unwrap_err(), ActorRefusal::Required, "a host's word is no token");
    }
}
