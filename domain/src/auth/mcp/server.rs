//! The metadata of an authorization server (RFC 8414; OpenID Connect Discovery 1.0), for a client that has not met it before.

use std::collections::BTreeSet;

use crate::auth::{AuthUrl, ClientAuth, Discovery, MAX_DISCOVERY_BYTES, read_discovery};
use crate::http::Url;
use crate::json::{Json, JsonLimits, parse_with};

/// What an authorization server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationServer {
    /// Its endpoints.
    pub endpoints: Discovery,
    /// Where clients register themselves (RFC 7591).
    pub registration: Option<AuthUrl>,
    /// Whether a client may be an address with its metadata.
    pub metadata_documents: bool,
    /// Whether it says that it takes S256. Silence is no: a client may not log in then (MCP, PKCE).
    pub names_s256: bool,
    /// How clients prove themselves, the methods that are known here; empty when it does not say.
    pub methods: Vec<ClientMethod>,
    /// The scopes it knows.
    pub scopes: Option<BTreeSet<String>>,
}

/// Where the document of an issuer may be, in the order of MCP: RFC 8414 first, with the path behind the well-known part; then OpenID
/// Connect, with the path behind and before it.
pub fn server_metadata_urls(issuer: &AuthUrl) -> Vec<Url> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let path = issuer.url().path().trim_end_matches('/');
    let paths = if path.is_empty() {
        vec![OAUTH.to_owned(), OPENID.to_owned()]
    } else {
        vec![format!("{OAUTH}{path}"), format!("{OPENID}{path}"), format!("{path}{OPENID}")]
    };
    paths
        .into_iter()
        .map(|path| {
            let mut url = issuer.url().clone();
            url.set_path(&path);
            url
        })
        .collect()
}

/// Reads a document that was fetched for an issuer; the word goes into a refusal. A document of another issuer is refused
/// (RFC 8414, section 3.3).
pub fn read_authorization_server(issuer: &AuthUrl, body: &[u8]) -> Result<AuthorizationServer, &'static str> {
    let endpoints = read_discovery(issuer, body)?;
    let limits = JsonLimits { max_bytes: MAX_DISCOVERY_BYTES, max_depth: 16, max_number_chars: 64 };
    let document = parse_with(body, limits).map_err(|_| "discovery document")?;
    let words = |name: &str| -> Option<Vec<&str>> {
        document.get(name).and_then(Json::as_array).map(|list| list.iter().filter_map(Json::as_str).collect())
    };
    let registration = match document.get("registration_endpoint") {
        Some(Json::String(text)) => AuthUrl::parse("registration_endpoint", text).ok(),
        _ => None,
    };
    let methods = words("token_endpoint_auth_methods_supported").unwrap_or_default();
    Ok(AuthorizationServer {
        endpoints,
        registration,
        metadata_documents: document.get("client_id_metadata_document_supported") == Some(&Json::Bool(true)),
        names_s256: words("code_challenge_methods_supported").is_some_and(|methods| methods.contains(&"S256")),
        methods: methods.into_iter().filter_map(ClientMethod::parse).collect(),
        scopes: words("scopes_supported").and_then(super::scopes),
    })
}

/// How a client proves itself (RFC 7591, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientMethod {
    /// Not at all: a public client.
    Public,
    /// In this way.
    Proof(ClientAuth),
}

impl ClientMethod {
    /// A method by its word; `None` for one that is not known here.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "none" => Self::Public,
            "client_secret_post" => Self::Proof(ClientAuth::Post),
            "client_secret_basic" => Self::Proof(ClientAuth::Basic),
            "private_key_jwt" => Self::Proof(ClientAuth::PrivateKeyJwt),
            _ => return None,
        })
    }

    /// The proof, where there is one.
    pub const fn proof(self) -> Option<ClientAuth> {
        match self {
            Self::Public => None,
            Self::Proof(auth) => Some(auth),
        }
    }
}

impl AuthorizationServer {
    /// How a client with a secret proves itself: as the server says first, and as RFC 8414 takes for granted when it is silent.
    pub fn secret_method(&self) -> Result<ClientAuth, &'static str> {
        if self.methods.is_empty() {
            return Ok(ClientAuth::Basic);
        }
        [ClientAuth::Basic, ClientAuth::Post]
            .into_iter()
            .find(|method| self.methods.contains(&ClientMethod::Proof(*method)))
            .ok_or("token_endpoint_auth_methods_supported")
    }

    /// How a client asks to prove itself when it registers: not at all where that is enough, since its secret would lie on a
    /// person's machine.
    pub fn registered_method(&self) -> Option<ClientAuth> {
        if self.methods.is_empty() || self.methods.contains(&ClientMethod::Public) {
            return None;
        }
        self.secret_method().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(text: &str) -> AuthUrl {
        AuthUrl::parse("issuer", text).unwrap()
    }

    #[test]
    fn documents_are_looked_for_in_the_order_of_mcp() {
        let all = |text: &str| {
            let urls = server_metadata_urls(&issuer(text));
            urls.iter().map(|url| url.path().to_owned()).collect::<Vec<_>>()
        };
        let (oauth, openid) = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
        assert_eq!(all("https://as.example/"), [oauth, openid]);
        let with_path = [format!("{oauth}/tenant1"), format!("{openid}/tenant1"), format!("/tenant1{openid}")];
        assert_eq!(all("https://as.example/tenant1"), with_path);
    }

    #[test]
    fn a_document_is_read_as_far_as_it_is_used() {
        let of = |more: &str| {
            let body = format!(
                r#"{{"issuer":"https://as.example","token_endpoint":"https://as.example/t","authorization_endpoint":"https://as.example/a"{more}}}"#
            );
            read_authorization_server(&issuer("https://as.example"), body.as_bytes()).unwrap()
        };
        let silent = of("");
        assert!(!silent.names_s256, "silence about S256 is no");
        assert_eq!((silent.secret_method(), silent.registered_method()), (Ok(ClientAuth::Basic), None));
        let strict = of(
            r#","code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["client_secret_post","tls_client_auth"],
               "client_id_metadata_document_supported":true,"registration_endpoint":"https://as.example/r""#,
        );
        assert!(strict.names_s256 && strict.metadata_documents && strict.registration.is_some());
        assert_eq!(
            (strict.secret_method(), strict.registered_method()),
            (Ok(ClientAuth::Post), Some(ClientAuth::Post))
        );
        assert!(of(r#","token_endpoint_auth_methods_supported":["none"]"#).secret_method().is_err());
    }

    #[test]
    fn a_document_of_another_issuer_is_refused() {
        let body = br#"{"issuer":"https://evil.example","token_endpoint":"https://evil.example/t"}"#;
        assert_eq!(read_authorization_server(&issuer("https://as.example"), body), Err("issuer"));
    }
}
