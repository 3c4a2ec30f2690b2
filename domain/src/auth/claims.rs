//! What the claims of a token must say (RFC 7519, section 4.1; `wire/mcp-surface.md` 0.4).

use super::JwtRefusal;
use crate::json::{Json, JsonObject};

/// How far ahead `nbf` and `iat` may lie, in seconds.
pub const SKEW_SECONDS: f64 = 30.0;

/// What is expected of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRules {
    /// The issuer, exactly.
    pub issuer: String,
    /// One of the audiences must be this.
    pub audience: String,
    /// The nonce of the ceremony, for an ID token.
    pub nonce: Option<String>,
}

/// Whether the times of a token are good at `now` (seconds since the Unix epoch): `exp` is required and not past; `nbf` and
/// `iat`, when they are there, are at most 30 s ahead.
pub fn check_times(claims: &JsonObject, now: f64) -> Result<(), JwtRefusal> {
    let time = |name: &'static str| match claims.get(name) {
        None => Ok(None),
        Some(Json::Number(number)) if number.as_f64().is_finite() => Ok(Some(number.as_f64())),
        Some(_) => Err(JwtRefusal::Claim { claim: name }),
    };
    if time("exp")?.ok_or(JwtRefusal::Claim { claim: "exp" })? < now {
        return Err(JwtRefusal::Expired);
    }
    for name in ["nbf", "iat"] {
        if time(name)?.is_some_and(|at| at > now + SKEW_SECONDS) {
            return Err(JwtRefusal::NotYet);
        }
    }
    Ok(())
}

/// Checks issuer, audience, nonce and times.
pub fn check_claims(claims: &JsonObject, rules: &ClaimRules, now: f64) -> Result<(), JwtRefusal> {
    let text = |name: &str| claims.get(name).and_then(Json::as_str);
    if text("iss") != Some(rules.issuer.as_str()) {
        return Err(JwtRefusal::Claim { claim: "iss" });
    }
    let (meant, several) = match claims.get("aud") {
        Some(Json::String(one)) => (*one == rules.audience, false),
        Some(Json::Array(many)) => {
            if many.iter().any(|one| one.as_str().is_none()) {
                return Err(JwtRefusal::Claim { claim: "aud" });
            }
            (many.iter().any(|one| one.as_str() == Some(&rules.audience)), many.len() > 1)
        }
        _ => (false, false),
    };
    if !meant {
        return Err(JwtRefusal::Claim { claim: "aud" });
    }
    if let Some(nonce) = &rules.nonce {
        if text("nonce") != Some(nonce.as_str()) {
            return Err(JwtRefusal::Claim { claim: "nonce" });
        }
        // OpenID Connect Core, section 3.1.3.7, items 4 and 5.
        let party = claims.get("azp");
        if (several && party.is_none()) || party.is_some_and(|azp| azp.as_str() != Some(&rules.audience)) {
            return Err(JwtRefusal::Claim { claim: "azp" });
        }
    }
    check_times(claims, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use crate::test_vectors::{load, section};

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
    #[test]
    fn every_claim_time_of_the_vectors() {
        for case in section(&load("references.json"), "claim_times") {
            let claims = case.get("claims").unwrap().as_object().unwrap();
            let now = case.get("now").unwrap().as_number().unwrap().as_f64();
            let current = case.get("current").unwrap().as_bool().unwrap();
            assert_eq!(check_times(claims, now).is_ok(), current, "{case:?}");
        }
    }

    fn check(claims: &str, nonce: Option<&str>) -> Result<(), JwtRefusal> {
        let rules = ClaimRules {
            issuer: "https://i.example".to_owned(),
            audience: "me".to_owned(),
            nonce: nonce.map(str::to_owned),
        };
        check_claims(parse(claims).unwrap().as_object().unwrap(), &rules, 1000.0)
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R046.2
    #[test]
    fn issuer_audience_and_nonce_are_exact() {
        let good = r#"{"iss":"https://i.example","aud":"me","exp":1001,"nonce":"n"}"#;
        assert_eq!(check(good, None), Ok(()));
        assert_eq!(check(good, Some("n")), Ok(()));
        for (claims, nonce, claim) in [
            (r#"{"aud":"me","exp":1001}"#, None, "iss"),
            (r#"{"iss":"https://i.example/","aud":"me","exp":1001}"#, None, "iss"),
            (r#"{"iss":"https://i.example","exp":1001}"#, None, "aud"),
            (r#"{"iss":"https://i.example","aud":["you"],"exp":1001}"#, None, "aud"),
            (r#"{"iss":"https://i.example","aud":["me",7],"exp":1001}"#, None, "aud"),
            (r#"{"iss":"https://i.example","aud":"me"}"#, None, "exp"),
            (r#"{"iss":"https://i.example","aud":"me","exp":1001}"#, Some("n"), "nonce"),
            (r#"{"iss":"https://i.example","aud":["me","you"],"exp":1001,"nonce":"n"}"#, Some("n"), "azp"),
            (r#"{"iss":"https://i.example","aud":"me","azp":"you","exp":1001,"nonce":"n"}"#, Some("n"), "azp"),
        ] {
            assert_eq!(check(claims, nonce), Err(JwtRefusal::Claim { claim }), "{claims}");
        }
        let several = r#"{"iss":"https://i.example","aud":["me","you"],"azp":"me","exp":1001,"nonce":"n"}"#;
        assert_eq!(check(several, Some("n")), Ok(()));
    }
}
