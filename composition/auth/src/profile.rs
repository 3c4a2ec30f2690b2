//! What a provider's tokens are, applied before they are kept.

use scion_domain::auth::{AuthUrl, ClaimRules, Pkce, PkceRefusal, TokenForm, TokenResponse};
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with};

use crate::endpoint::TokenEndpoint;
use crate::keys::{CheckRefusal, IssuerKeys};

/// What the profile is applied with.
pub(crate) struct ProfileCheck<'a> {
    pub config: &'a Pkce,
    pub keys: &'a IssuerKeys,
    pub endpoint: &'a TokenEndpoint,
    pub introspection: Option<&'a AuthUrl>,
    pub now_ms: i64,
}

fn refused(refusal: CheckRefusal) -> PkceRefusal {
    match refusal {
        CheckRefusal::Token(refusal) => PkceRefusal::of_token(&refusal),
        CheckRefusal::Issuer(refusal) => PkceRefusal::of_authority(&refusal),
    }
}

impl ProfileCheck<'_> {
    /// Checks the tokens of an answer; answers how long the access token is valid, in milliseconds. An opaque token is not looked
    /// into.
    pub(crate) async fn apply(&self, tokens: &TokenResponse, nonce: &str) -> Result<u64, PkceRefusal> {
        let profile = &self.config.profile;
        let rules = |audience: &str, nonce: Option<&str>| ClaimRules {
            issuer: self.config.issuer.clone(),
            audience: audience.to_owned(),
            nonce: nonce.map(str::to_owned),
        };
        if profile.id_token {
            let token = tokens.id_token.as_ref().ok_or(PkceRefusal::ProviderUnavailable)?;
            let rules = rules(&self.config.client_id, Some(nonce));
            self.keys.check(token, &profile.algorithms, &rules).await.map_err(refused)?;
        }
        let mut ttl_ms = tokens.ttl_ms;
        if let (TokenForm::Jwt, Some(audience)) = (profile.access, &profile.access_audience) {
            let claims =
                self.keys.check(&tokens.access, &profile.algorithms, &rules(audience, None)).await.map_err(refused)?;
            self.party(&claims)?;
            ttl_ms = ttl_ms.min(self.left(&claims));
        }
        if let (TokenForm::Jwt, Some(token)) = (profile.refresh, &tokens.refresh) {
            self.keys.check_without_audience(token, &profile.algorithms).await.map_err(refused)?;
        }
        if profile.introspection {
            self.ask(tokens).await?;
        }
        Ok(ttl_ms)
    }

    /// A token that names another client was not made for this one.
    fn party(&self, claims: &JsonObject) -> Result<(), PkceRefusal> {
        let other = ["client_id", "azp"]
            .iter()
            .filter_map(|name| claims.get(*name))
            .any(|party| party.as_str() != Some(&self.config.client_id));
        if other { Err(PkceRefusal::StateMismatch) } else { Ok(()) }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest integer there is")]
    fn left(&self, claims: &JsonObject) -> u64 {
        let exp = claims.get("exp").and_then(Json::as_number).map_or(0.0, scion_domain::json::JsonNumber::as_f64);
        u64::try_from(((exp * 1000.0) as i64).saturating_sub(self.now_ms)).unwrap_or(0)
    }

    /// Asks the issuer about the access token (RFC 7662).
    async fn ask(&self, tokens: &TokenResponse) -> Result<(), PkceRefusal> {
        let url = self.introspection.ok_or(PkceRefusal::ProviderUnavailable)?;
        let asked = self.endpoint.about(url, &tokens.access, "access_token").await;
        let (status, body) = asked.map_err(|refusal| PkceRefusal::of_authority(&refusal))?;
        let limits = JsonLimits { max_bytes: 1 << 20, max_depth: 16, max_number_chars: 64 };
        let Ok(Json::Object(claims)) = parse_with(&body, limits) else { return Err(PkceRefusal::ProviderUnavailable) };
        if status != 200 {
            return Err(PkceRefusal::ProviderUnavailable);
        }
        if claims.get("active").and_then(Json::as_bool) != Some(true) {
            return Err(PkceRefusal::Revoked);
        }
        if claims.get("iss").is_some_and(|issuer| issuer.as_str() != Some(&self.config.issuer)) {
            return Err(PkceRefusal::StateMismatch);
        }
        self.party(&claims)
    }
}
