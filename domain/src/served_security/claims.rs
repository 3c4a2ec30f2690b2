//! From the claims of a token to what a listener decides with (`wire/mcp-surface.md` 0.4).

use std::collections::BTreeSet;

use super::{TokenRefusal, VerifiedToken};
use crate::auth::JwtRefusal;
use crate::json::{Json, JsonObject};

const TENANT: [&str; 5] = ["tenant_id", "tenant", "org_id", "tid", "org"];

impl VerifiedToken {
    /// What checked claims say. Claims of other types than they must have say nothing.
    pub fn from_claims(claims: JsonObject) -> Self {
        let text = |name: &str| claims.get(name).and_then(Json::as_str).map(str::to_owned);
        let present = |name: &&str| claims.get(*name).is_some_and(|value| *value != Json::Null);
        // The first one there decides: a broken one is not made up for by another.
        let tenant = TENANT.into_iter().find(|name| present(name)).and_then(text);
        let scopes = ["scope", "scp"].into_iter().filter_map(|name| claims.get(name)).flat_map(words).collect();
        let audiences = match claims.get("aud") {
            Some(Json::String(one)) => BTreeSet::from([one.clone()]),
            Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            _ => BTreeSet::new(),
        };
        #[expect(clippy::cast_possible_truncation, reason = "a float beyond the range becomes its end")]
        let expires_at = claims.get("exp").and_then(Json::as_number).map(|at| at.as_f64().floor() as i64);
        let (subject, client) = (text("sub"), text("client_id").or_else(|| text("azp")));
        Self { subject, tenant, client, scopes, audiences, expires_at, claims }
    }
}

/// A text of words, or a list of texts.
fn words(value: &Json) -> Vec<String> {
    match value {
        Json::String(text) => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Json::Array(list) => list.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

impl From<JwtRefusal> for TokenRefusal {
    fn from(refusal: JwtRefusal) -> Self {
        match refusal {
            JwtRefusal::Expired => Self::Expired,
            JwtRefusal::Claim { claim: "aud" } => Self::Audience,
            _ => Self::Invalid,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn read(claims: &str) -> VerifiedToken {
        VerifiedToken::from_claims(parse(claims).unwrap().as_object().unwrap().clone())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R014.18
    #[test]
    fn the_first_tenant_claim_decides() {
        for (claims, tenant) in [
            (r#"{"org":"e","tid":"d","org_id":"c","tenant":"b","tenant_id":"a"}"#, Some("a")),
            (r#"{"org":"e","tid":"d","org_id":"c","tenant":"b"}"#, Some("b")),
            (r#"{"org":"e","tid":"d","org_id":"c"}"#, Some("c")),
            (r#"{"org":"e","tid":"d"}"#, Some("d")),
            (r#"{"org":"e","tenant_id":null}"#, Some("e")),
            (r#"{"org":"e","tenant_id":7}"#, None),
            ("{}", None),
        ] {
            assert_eq!(read(claims).tenant.as_deref(), tenant, "{claims}");
        }
    }

    #[test]
    fn scopes_and_audiences_come_as_text_or_list() {
        let token = read(r#"{"scope":"a b","scp":["c",7],"aud":["x","y"],"azp":"p","sub":"s","exp":12.9}"#);
        assert_eq!(token.scopes.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(token.audiences.len(), 2);
        assert_eq!(
            (token.client.as_deref(), token.subject.as_deref(), token.expires_at),
            (Some("p"), Some("s"), Some(12))
        );
        let broken = read(r#"{"scope":7,"aud":{"x":1},"sub":7,"client_id":"c","azp":"p"}"#);
        assert!(broken.scopes.is_empty() && broken.audiences.is_empty() && broken.subject.is_none());
        assert_eq!(broken.client.as_deref(), Some("c"));
    }
}
