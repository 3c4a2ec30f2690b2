//! Requests to token endpoints: grants and client authentication (RFC 6749, RFC 7521, RFC 8693).

use url::form_urlencoded::{Serializer, byte_serialize};

use super::material::sensitive;
use super::{AuthRefusal, AuthUrl};
use crate::base64;
use crate::http::{HeaderValue, Url};
use crate::json::{Json, JsonObject};
use crate::secret::Secret;

/// How long a client assertion is valid, in seconds.
const ASSERTION_SECONDS: i64 = 60;

/// What is asked for.
#[derive(Clone, Debug)]
pub enum Grant<'a> {
    /// RFC 6749, section 4.4.
    ClientCredentials {
        /// `audience`, or empty.
        audience: &'a str,
        /// `resource` (RFC 8707), or empty.
        resource: &'a str,
        /// `scope`, or empty.
        scope: &'a str,
    },
    /// RFC 6749, section 6.
    Refresh {
        /// The refresh token.
        token: &'a Secret<String>,
        /// `resource` (RFC 8707), or empty.
        resource: &'a str,
        /// `scope`, or empty.
        scope: &'a str,
    },
    /// RFC 6749, section 4.1.3, with RFC 7636.
    AuthorizationCode {
        /// The code.
        code: &'a Secret<String>,
        /// The redirect address of the authorization request, exactly.
        redirect_url: &'a str,
        /// The verifier.
        verifier: &'a Secret<String>,
        /// `resource` (RFC 8707) of the authorization request, or empty.
        resource: &'a str,
    },
    /// RFC 8693, section 2.1: an access token for an access token.
    Exchange {
        /// The token of the party that is acted for.
        subject: &'a Secret<String>,
        /// `audience`, or empty.
        audience: &'a str,
        /// `resource`, or empty.
        resource: &'a str,
        /// `scope`, or empty.
        scope: &'a str,
    },
}

/// What the client proves itself with.
#[derive(Clone, Debug)]
pub enum ClientProof<'a> {
    /// Nothing: a public client.
    Public,
    /// Its secret, in the form.
    Post(&'a Secret<String>),
    /// Its secret, in `Authorization`.
    Basic(&'a Secret<String>),
    /// A signed assertion.
    Assertion(&'a Secret<String>),
}

/// A request to a token, introspection or revocation endpoint: a form and perhaps `Authorization`.
#[derive(Clone, Debug)]
pub struct FormRequest {
    /// `Authorization`, marked sensitive.
    pub authorization: Option<HeaderValue>,
    /// The body, `application/x-www-form-urlencoded`.
    pub body: Secret<String>,
}

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The request of a grant.
pub fn token_request(client_id: &str, proof: &ClientProof<'_>, grant: &Grant<'_>) -> Result<FormRequest, AuthRefusal> {
    let mut fields: Vec<(&str, &str)> = Vec::with_capacity(10);
    match grant {
        Grant::ClientCredentials { audience, resource, scope } => fields.extend([
            ("grant_type", "client_credentials"),
            ("audience", audience),
            ("resource", resource),
            ("scope", scope),
        ]),
        Grant::Refresh { token, resource, scope } => fields.extend([
            ("grant_type", "refresh_token"),
            ("refresh_token", token.expose()),
            ("resource", resource),
            ("scope", scope),
        ]),
        Grant::AuthorizationCode { code, redirect_url, verifier, resource } => fields.extend([
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", redirect_url),
            ("code_verifier", verifier.expose()),
            ("resource", resource),
        ]),
        Grant::Exchange { subject, audience, resource, scope } => fields.extend([
            ("grant_type", EXCHANGE),
            ("subject_token", subject.expose()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
            ("audience", audience),
            ("resource", resource),
            ("scope", scope),
        ]),
    }
    form(client_id, proof, fields)
}

/// A question about a token (RFC 7662), or its return (RFC 7009): both are the token and its kind.
pub fn about_token(
    client_id: &str,
    proof: &ClientProof<'_>,
    token: &Secret<String>,
    hint: &str,
) -> Result<FormRequest, AuthRefusal> {
    form(client_id, proof, vec![("token", token.expose()), ("token_type_hint", hint)])
}

fn form<'a>(
    client_id: &'a str,
    proof: &'a ClientProof<'a>,
    mut fields: Vec<(&str, &'a str)>,
) -> Result<FormRequest, AuthRefusal> {
    let mut authorization = None;
    match proof {
        ClientProof::Public => fields.push(("client_id", client_id)),
        ClientProof::Post(secret) => fields.extend([("client_id", client_id), ("client_secret", secret.expose())]),
        ClientProof::Basic(secret) => {
            // Both are form-encoded first (RFC 6749, section 2.3.1).
            let coded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = Secret::new(format!("{}:{}", coded(client_id), coded(secret.expose())));
            let value = Secret::new(format!("Basic {}", base64::encode(pair.expose().as_bytes())));
            authorization = Some(sensitive("client_secret_ref", &value)?);
        }
        ClientProof::Assertion(assertion) => fields.extend([
            ("client_id", client_id),
            ("client_assertion_type", JWT_BEARER),
            ("client_assertion", assertion.expose()),
        ]),
    }
    let mut out = Serializer::new(String::with_capacity(512));
    for (name, value) in fields {
        if !value.is_empty() {
            out.append_pair(name, value);
        }
    }
    Ok(FormRequest { authorization, body: Secret::new(out.finish()) })
}

/// The claims of a client assertion (RFC 7523, section 3), valid for a minute and for one use. The audience is the token endpoint, or
/// the issuer where the server wants that.
pub fn assertion_claims(client_id: &str, audience: &AuthUrl, id: &[u8; 16], now_ms: i64) -> JsonObject {
    let now = now_ms.div_euclid(1000);
    let claims: [(&str, Json); 6] = [
        ("iss", Json::from(client_id)),
        ("sub", Json::from(client_id)),
        ("aud", Json::from(audience.as_text())),
        ("jti", Json::from(base64::encode_url(id))),
        ("iat", Json::from(now)),
        ("exp", Json::from(now.saturating_add(ASSERTION_SECONDS))),
    ];
    claims.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The address a person's browser is sent to (RFC 6749, section 4.1.1; RFC 7636, section 4.3).
pub(super) fn authorization_url(endpoint: &AuthUrl, parameters: &[(&str, &str)]) -> Url {
    let mut url = endpoint.url().clone();
    url.query_pairs_mut().extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(request: &FormRequest) -> Vec<(String, String)> {
        url::form_urlencoded::parse(request.body.expose().as_bytes()).into_owned().collect()
    }

    fn has(request: &FormRequest, name: &str, value: &str) -> bool {
        fields(request).iter().any(|(n, v)| n == name && v == value)
    }

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
    #[test]
    fn a_client_proves_itself_in_four_ways() {
        let secret = Secret::new("p:w&d %".to_owned());
        let grant = Grant::ClientCredentials { audience: "", resource: "", scope: "a b" };
        let post = token_request("id", &ClientProof::Post(&secret), &grant).unwrap();
        assert!(has(&post, "client_secret", "p:w&d %") && has(&post, "scope", "a b") && post.authorization.is_none());
        assert!(!fields(&post).iter().any(|(name, _)| name == "audience"), "an empty field is left out");
        let basic = token_request("i d", &ClientProof::Basic(&secret), &grant).unwrap();
        let header = basic.authorization.clone().unwrap();
        assert!(header.is_sensitive());
        assert_eq!(header.to_str().unwrap(), format!("Basic {}", base64::encode(b"i+d:p%3Aw%26d+%25")));
        assert!(!fields(&basic).iter().any(|(name, _)| name.starts_with("client")));
        let assertion = token_request("id", &ClientProof::Assertion(&secret), &grant).unwrap();
        assert!(has(&assertion, "client_assertion_type", JWT_BEARER) && has(&assertion, "client_assertion", "p:w&d %"));
        let public = token_request("id", &ClientProof::Public, &grant).unwrap();
        assert!(has(&public, "client_id", "id"));
        assert!(!format!("{post:?}{basic:?}{assertion:?}").contains("p:w"));
    }

    #[test]
    fn an_exchange_names_both_kinds_of_token() {
        let (secret, subject) = (Secret::new("s".to_owned()), Secret::new("caller".to_owned()));
        let grant = Grant::Exchange { subject: &subject, audience: "vendor", resource: "", scope: "" };
        let request = token_request("id", &ClientProof::Post(&secret), &grant).unwrap();
        assert!(has(&request, "grant_type", EXCHANGE) && has(&request, "subject_token", "caller"));
        assert!(has(&request, "subject_token_type", ACCESS_TOKEN) && has(&request, "audience", "vendor"));
    }

    #[test]
    fn an_assertion_is_short_lived_and_for_the_token_endpoint() {
        let url = AuthUrl::parse("token_url", "https://i.example/t").unwrap();
        let claims = assertion_claims("id", &url, &[1; 16], 1_000_999);
        assert_eq!(claims["aud"], Json::from("https://i.example/t"));
        assert_eq!((&claims["iat"], &claims["exp"]), (&Json::from(1000i64), &Json::from(1060i64)));
        assert_eq!(claims["iss"], claims["sub"]);
    }
}
