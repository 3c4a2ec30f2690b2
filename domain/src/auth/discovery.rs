//! The discovery document of an issuer (OpenID Connect Discovery 1.0; RFC 8414).

use super::{AuthUrl, JwtAlgorithm};
use crate::http::Url;
use crate::json::{Json, JsonLimits, parse_with};

/// The largest document that is read, in bytes.
pub const MAX_DISCOVERY_BYTES: usize = 256 * 1024;

/// What an issuer says about itself, as far as it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// The issuer, exactly as it was asked for.
    pub issuer: String,
    /// Where people log in.
    pub authorization: Option<AuthUrl>,
    /// Where tokens come from.
    pub token: AuthUrl,
    /// The key set.
    pub jwks: Option<AuthUrl>,
    /// Where tokens are asked about.
    pub introspection: Option<AuthUrl>,
    /// Where tokens are given back.
    pub revocation: Option<AuthUrl>,
    /// The algorithms of ID tokens that are known here.
    pub algorithms: Vec<JwtAlgorithm>,
    /// Whether it names S256 among its challenge methods, or names none at all.
    pub challenges_s256: bool,
    /// Whether callbacks carry `iss` (RFC 9207).
    pub names_itself_in_callbacks: bool,
}

/// Where the document of an issuer is: `/.well-known/openid-configuration` below its path.
pub fn discovery_url(issuer: &AuthUrl) -> Url {
    let mut url = issuer.url().clone();
    let path = format!("{}/.well-known/openid-configuration", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

/// Reads a document that was fetched for an issuer; the word goes into a refusal. A document of another issuer is refused
/// (RFC 8414, section 3.3), so that none can stand in for it.
pub fn read_discovery(issuer: &AuthUrl, body: &[u8]) -> Result<Discovery, &'static str> {
    let limits = JsonLimits { max_bytes: MAX_DISCOVERY_BYTES, max_depth: 16, max_number_chars: 64 };
    let document = parse_with(body, limits).map_err(|_| "discovery document")?;
    let named = document.get("issuer").and_then(Json::as_str).ok_or("issuer")?;
    if named != issuer.as_text() {
        return Err("issuer");
    }
    let endpoint = |name: &'static str| match document.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => AuthUrl::parse(name, text).map(Some).map_err(|_| name),
        Some(_) => Err(name),
    };
    let words = |name: &str| -> Option<Vec<&str>> {
        document.get(name).and_then(Json::as_array).map(|list| list.iter().filter_map(Json::as_str).collect())
    };
    let algorithms = words("id_token_signing_alg_values_supported").unwrap_or_default();
    Ok(Discovery {
        issuer: named.to_owned(),
        authorization: endpoint("authorization_endpoint")?,
        token: endpoint("token_endpoint")?.ok_or("token_endpoint")?,
        jwks: endpoint("jwks_uri")?,
        introspection: endpoint("introspection_endpoint")?,
        revocation: endpoint("revocation_endpoint")?,
        algorithms: algorithms.into_iter().filter_map(JwtAlgorithm::parse).collect(),
        challenges_s256: words("code_challenge_methods_supported").is_none_or(|methods| methods.contains(&"S256")),
        names_itself_in_callbacks: document
            .get("authorization_response_iss_parameter_supported")
            .and_then(Json::as_bool)
            .unwrap_or(false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(text: &str) -> AuthUrl {
        AuthUrl::parse("issuer", text).unwrap()
    }

    #[test]
    fn the_document_is_below_the_path_of_the_issuer() {
        for (text, url) in [
            ("https://i.example", "https://i.example/.well-known/openid-configuration"),
            ("https://i.example/", "https://i.example/.well-known/openid-configuration"),
            ("https://i.example/realms/a", "https://i.example/realms/a/.well-known/openid-configuration"),
        ] {
            assert_eq!(discovery_url(&issuer(text)).as_str(), url);
        }
    }

    #[test]
    fn a_document_speaks_for_its_own_issuer_only() {
        let body = br#"{"issuer":"https://i.example","token_endpoint":"https://i.example/t","jwks_uri":"https://k.example/j",
            "id_token_signing_alg_values_supported":["RS256","none","XX"],"code_challenge_methods_supported":["plain"]}"#;
        let read = read_discovery(&issuer("https://i.example"), body).unwrap();
        assert_eq!(read.algorithms, [JwtAlgorithm::RS256]);
        assert!(!read.challenges_s256);
        assert_eq!(read_discovery(&issuer("https://i.example/"), body), Err("issuer"));
        for (body, what) in [
            (r#"{"issuer":"https://i.example"}"#, "token_endpoint"),
            (r#"{"issuer":"https://i.example","token_endpoint":"http://i.example/t"}"#, "token_endpoint"),
            (r#"{"issuer":"https://i.example","token_endpoint":"https://i.example/t","jwks_uri":7}"#, "jwks_uri"),
            ("x", "discovery document"),
        ] {
            assert_eq!(read_discovery(&issuer("https://i.example"), body.as_bytes()), Err(what));
        }
    }
}
