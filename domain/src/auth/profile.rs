//! What the tokens of a provider are (SDK-CONNECTOR-CONTROL-R046.1).

use serde::{Deserialize, Serialize};

/// What a token of one role is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenForm {
    /// A text without meaning to us. It acquires no claims: nothing is read out of it, not even its expiry.
    #[default]
    Opaque,
    /// A JSON Web Token signed by the issuer; checked before it is kept.
    Jwt,
}

/// What the tokens of a provider are, per role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderTokenProfile {
    /// Grows when the profile changes.
    #[serde(default = "one")]
    pub revision: u32,
    /// The access token.
    #[serde(default)]
    pub access: TokenForm,
    /// The audience of an access token that is a JWT; required then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_audience: Option<String>,
    /// The refresh token.
    #[serde(default)]
    pub refresh: TokenForm,
    /// Whether an ID token (always a JWT, for this client, with the nonce of the ceremony) must come along.
    #[serde(default)]
    pub id_token: bool,
    /// Whether the issuer is asked about an opaque access token before it is kept (RFC 7662).
    #[serde(default)]
    pub introspection: bool,
    /// The algorithms that JWTs may be signed with; `RS256` when silent. Never a shared-secret one.
    #[serde(default = "rs256")]
    pub algorithms: Vec<super::JwtAlgorithm>,
}

const fn one() -> u32 {
    1
}

fn rs256() -> Vec<super::JwtAlgorithm> {
    vec![super::JwtAlgorithm::RS256]
}

impl Default for ProviderTokenProfile {
    /// Opaque tokens, no ID token, no introspection.
    fn default() -> Self {
        Self {
            revision: one(),
            access: TokenForm::Opaque,
            access_audience: None,
            refresh: TokenForm::Opaque,
            id_token: false,
            introspection: false,
            algorithms: rs256(),
        }
    }
}

impl ProviderTokenProfile {
    /// OpenID Connect: an ID token comes along; the access token stays opaque.
    pub fn oidc() -> Self {
        Self { id_token: true, ..Self::default() }
    }

    /// OpenID Connect whose access tokens are JWTs for an audience.
    pub fn jwt(audience: &str) -> Self {
        Self { access: TokenForm::Jwt, access_audience: Some(audience.to_owned()), ..Self::oidc() }
    }

    /// Opaque tokens that the issuer is asked about.
    pub fn introspected() -> Self {
        Self { introspection: true, ..Self::default() }
    }
}
