//! The closed set of declarations and their checks.

use serde::{Deserialize, Serialize};

use super::kinds::{
    ApiKey, Basic, Bearer, ClientAuth, ClientCredentials, KeyPlace, NoAuth, RefreshToken, TokenExchange,
};
use super::logins::{Pkce, RedirectMode, SessionLogin, SessionToken};
use super::profile::TokenForm;
use super::slot::SecretSlot;
use super::url::{AuthUrl, issuer};
use super::{AuthRefusal, KeyFamily};
use crate::http::{HeaderName, HeaderValue};

/// One way to authenticate outbound requests (SDK-CONNECTOR-CONTROL-R028.4). In a configuration it is an object with a `type`,
/// for example `{"type": "bearer", "token_ref": "env://GITHUB_TOKEN"}`; unknown members are refused, and secrets are references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuthDeclaration {
    /// No credential.
    NoAuth(NoAuth),
    /// A token in `Authorization`.
    Bearer(Bearer),
    /// A key in a header field or a query parameter.
    ApiKey(ApiKey),
    /// A name and a password.
    Basic(Basic),
    /// OAuth 2 client credentials.
    ClientCredentials(ClientCredentials),
    /// An OAuth 2 refresh token.
    RefreshToken(RefreshToken),
    /// A login that opens a session.
    SessionLogin(SessionLogin),
    /// A login in a person's browser.
    Pkce(Pkce),
    /// The caller's token, exchanged.
    TokenExchange(TokenExchange),
}

impl Default for AuthDeclaration {
    fn default() -> Self {
        Self::NoAuth(NoAuth)
    }
}

macro_rules! into_declaration {
    ($($kind:ident),*) => {
        $(impl From<$kind> for AuthDeclaration {
            fn from(declaration: $kind) -> Self {
                Self::$kind(declaration)
            }
        })*
    };
}

into_declaration!(NoAuth, Bearer, ApiKey, Basic, ClientCredentials, RefreshToken, SessionLogin, Pkce, TokenExchange);

impl AuthDeclaration {
    /// The word of its `type`.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NoAuth(_) => "no_auth",
            Self::Bearer(_) => "bearer",
            Self::ApiKey(_) => "api_key",
            Self::Basic(_) => "basic",
            Self::ClientCredentials(_) => "client_credentials",
            Self::RefreshToken(_) => "refresh_token",
            Self::SessionLogin(_) => "session_login",
            Self::Pkce(_) => "pkce",
            Self::TokenExchange(_) => "token_exchange",
        }
    }

    /// Checks that it is complete and does not contradict itself; [`AuthRefusal::Configuration`] names the field.
    pub fn validate(&self) -> Result<(), AuthRefusal> {
        match self {
            Self::NoAuth(NoAuth) => Ok(()),
            Self::Bearer(bearer) => bearer.validate(),
            Self::ApiKey(key) => key.validate(),
            Self::Basic(basic) => basic.validate(),
            Self::ClientCredentials(client) => client.validate(),
            Self::RefreshToken(refresh) => refresh.validate(),
            Self::SessionLogin(login) => login.validate(),
            Self::Pkce(pkce) => pkce.validate(),
            Self::TokenExchange(exchange) => exchange.validate(),
        }
    }
}

const fn refused(field: &'static str, what: &'static str) -> AuthRefusal {
    AuthRefusal::Configuration { field, what }
}

fn header_text(field: &'static str, text: &str) -> Result<(), AuthRefusal> {
    HeaderValue::from_str(text).map(drop).map_err(|_| refused(field, "has characters a header field cannot carry"))
}

/// Fields the client itself sets, and which no declaration may.
fn header_name(field: &'static str, name: &str) -> Result<(), AuthRefusal> {
    let name: HeaderName = name.parse().map_err(|_| refused(field, "is not the name of a header field"))?;
    let reserved = ["host", "content-length", "connection", "transfer-encoding", "cookie", "te", "upgrade", "trailer"];
    if reserved.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
        return Err(refused(field, "is a header field that carries no credential"));
    }
    Ok(())
}

pub(super) fn plain(field: &'static str, text: &str, limit: usize, required: bool) -> Result<(), AuthRefusal> {
    if required && text.is_empty() {
        return Err(refused(field, "is missing"));
    }
    if text.len() > limit {
        return Err(refused(field, "is too long"));
    }
    if text.chars().any(char::is_control) {
        return Err(refused(field, "has control characters"));
    }
    Ok(())
}

/// Exactly one of the two, and a good one.
fn endpoint(issuer_text: &str, token_url: &str) -> Result<(), AuthRefusal> {
    match (issuer_text.is_empty(), token_url.is_empty()) {
        (false, true) => issuer("issuer", issuer_text).map(drop),
        (true, false) => AuthUrl::parse("token_url", token_url).map(drop),
        (true, true) => Err(refused("issuer", "is missing; give it or token_url")),
        (false, false) => Err(refused("token_url", "is given beside issuer")),
    }
}

/// Scope tokens of RFC 6749, section 3.3.
fn scopes(text: &str) -> Result<(), AuthRefusal> {
    plain("scope", text, 4096, false)?;
    if text.bytes().any(|b| !matches!(b, 0x20 | 0x21 | 0x23..=0x5b | 0x5d..=0x7e)) {
        return Err(refused("scope", "has characters a scope cannot have"));
    }
    Ok(())
}

impl Bearer {
    fn validate(&self) -> Result<(), AuthRefusal> {
        self.token_ref.get("token_ref")?;
        plain("scheme", &self.scheme, 64, true)?;
        header_text("scheme", &self.scheme)
    }
}

impl ApiKey {
    fn validate(&self) -> Result<(), AuthRefusal> {
        self.key_ref.get("key_ref")?;
        plain("name", &self.name, 128, true)?;
        match self.place {
            KeyPlace::Header => {
                header_name("name", &self.name)?;
                header_text("prefix", &self.prefix)
            }
            KeyPlace::Query if self.prefix.is_empty() => Ok(()),
            KeyPlace::Query => Err(refused("prefix", "is for header fields")),
        }
    }
}

impl Basic {
    fn validate(&self) -> Result<(), AuthRefusal> {
        self.password_ref.get("password_ref")?;
        match (&self.username, &self.username_ref) {
            (Some(name), None) => {
                plain("username", name, 256, true)?;
                // RFC 7617, section 2: the first colon ends the name.
                if name.contains(':') { Err(refused("username", "has a colon")) } else { Ok(()) }
            }
            (None, Some(reference)) => reference.get("username_ref").map(drop),
            (Some(_), Some(_)) => Err(refused("username_ref", "is given beside username")),
            (None, None) => Err(refused("username", "is missing")),
        }
    }
}

impl ClientCredentials {
    /// Checks that it is complete and does not contradict itself.
    pub fn validate(&self) -> Result<(), AuthRefusal> {
        endpoint(&self.issuer, &self.token_url)?;
        plain("client_id", &self.client_id, 256, true)?;
        self.client_secret_ref.get("client_secret_ref")?;
        plain("audience", &self.audience, 2048, false)?;
        scopes(&self.scope)?;
        let assertion = self.client_auth == ClientAuth::PrivateKeyJwt;
        match self.key_algorithm {
            Some(_) if !assertion => Err(refused("key_algorithm", "is for private_key_jwt")),
            Some(algorithm) if algorithm.family() == KeyFamily::Hmac => {
                Err(refused("key_algorithm", "is not one with a private key"))
            }
            _ if self.key_id.is_some() && !assertion => Err(refused("key_id", "is for private_key_jwt")),
            _ => plain("key_id", self.key_id.as_deref().unwrap_or_default(), 256, false),
        }
    }
}

/// What a client proves itself with, where it may be a public one.
fn optional_secret(slot: Option<&SecretSlot>, method: ClientAuth) -> Result<(), AuthRefusal> {
    match slot {
        Some(slot) => slot.get("client_secret_ref").map(drop),
        None if method == ClientAuth::Post => Ok(()),
        None => Err(refused("client_secret_ref", "is missing")),
    }
}

impl RefreshToken {
    fn validate(&self) -> Result<(), AuthRefusal> {
        endpoint(&self.issuer, &self.token_url)?;
        plain("client_id", &self.client_id, 256, true)?;
        optional_secret(self.client_secret_ref.as_ref(), self.client_auth)?;
        self.refresh_token_ref.get("refresh_token_ref")?;
        plain("account", &self.account, 256, false)?;
        scopes(&self.scope)
    }
}

impl SessionLogin {
    fn validate(&self) -> Result<(), AuthRefusal> {
        AuthUrl::parse("login_url", &self.login_url)?;
        if self.secret_fields.is_empty() || self.fields.len() + self.secret_fields.len() > 32 {
            return Err(refused("secret_fields", "has not between 1 and 32 fields"));
        }
        for (name, slot) in &self.secret_fields {
            plain("secret_fields", name, 128, true)?;
            slot.get("secret_fields")?;
            if self.fields.contains_key(name) {
                return Err(refused("secret_fields", "has a name that stands in fields too"));
            }
        }
        for (name, value) in &self.fields {
            plain("fields", name, 128, true)?;
            plain("fields", value, 2048, false)?;
        }
        if !(1..=86_400).contains(&self.lifetime_seconds) {
            return Err(refused("lifetime_seconds", "is not between 1 and 86400"));
        }
        match &self.token {
            SessionToken::Json { path, header, prefix } => {
                plain("token", path, 512, true)?;
                header_name("token", header)?;
                header_text("token", prefix)
            }
            SessionToken::Cookie { name } => {
                plain("token", name, 128, true)?;
                let token = name.bytes().all(|b| b.is_ascii_graphic() && !br#"()<>@,;:\"/[]?={}"#.contains(&b));
                if token { Ok(()) } else { Err(refused("token", "is not the name of a cookie")) }
            }
        }
    }
}

impl Pkce {
    /// Checks that it is complete and does not contradict itself.
    pub fn validate(&self) -> Result<(), AuthRefusal> {
        issuer("issuer", &self.issuer)?;
        plain("client_id", &self.client_id, 256, true)?;
        optional_secret(self.client_secret_ref.as_ref(), ClientAuth::Post)?;
        scopes(&self.scope)?;
        plain("resource", &self.resource, 2048, false)?;
        plain("token_ref", &self.token_ref, 256, true)?;
        if let Some(slot) = &self.api_key_ref {
            slot.get("api_key_ref")?;
        }
        match (self.redirect_mode, &self.redirect_url) {
            (RedirectMode::Loopback, None) => {}
            (RedirectMode::Headless, Some(url)) => drop(AuthUrl::parse("redirect_url", url)?),
            (RedirectMode::Loopback, Some(_)) => return Err(refused("redirect_url", "is for the headless mode")),
            (RedirectMode::Headless, None) => return Err(refused("redirect_url", "is missing")),
        }
        let profile = &self.profile;
        if profile.algorithms.is_empty() || profile.algorithms.iter().any(|a| a.family() == KeyFamily::Hmac) {
            return Err(refused("profile", "names no algorithm with public keys"));
        }
        if (profile.access == TokenForm::Jwt) != profile.access_audience.is_some() {
            return Err(refused("profile", "needs access_audience for access tokens that are JWTs, and only for them"));
        }
        let scoped = self.scope.split(' ').any(|scope| scope == "openid");
        if profile.id_token && !scoped {
            return Err(refused("scope", "lacks openid, so that no ID token comes along"));
        }
        Ok(())
    }
}

impl TokenExchange {
    fn validate(&self) -> Result<(), AuthRefusal> {
        endpoint(&self.issuer, &self.token_url)?;
        plain("client_id", &self.client_id, 256, true)?;
        self.client_secret_ref.get("client_secret_ref")?;
        plain("audience", &self.audience, 2048, false)?;
        if !self.resource.is_empty() {
            AuthUrl::parse("resource", &self.resource)?;
        }
        if let Some(slot) = &self.subject_token_ref {
            slot.get("subject_token_ref")?;
        }
        if self.client_auth == ClientAuth::PrivateKeyJwt {
            return Err(refused("client_auth", "is post or basic here"));
        }
        scopes(&self.scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{JwtAlgorithm, ProviderTokenProfile};
    use crate::test_vectors::{load, section};

    fn read(text: &str) -> Result<AuthDeclaration, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R011, SDK-CONNECTOR-CONTROL-R028.4
    #[test]
    fn every_client_credentials_case_of_the_vectors() {
        for case in section(&load("references.json"), "client_credentials") {
            let input = serde_json::to_string(case.get("input").unwrap()).unwrap();
            let read = serde_json::from_str::<ClientCredentials>(&input).map_err(|error| error.to_string());
            let checked = read.and_then(|client| client.validate().map(|()| client).map_err(|error| error.to_string()));
            if let Some(ok) = case.get("ok") {
                let client = checked.unwrap();
                let text = |name: &str| ok.get(name).and_then(|value| value.as_str()).unwrap().to_owned();
                assert_eq!(client.issuer, text("issuer"));
                assert_eq!(client.token_url, text("token_url"));
                assert_eq!(client.client_id, text("client_id"));
                assert_eq!(client.client_secret_ref, SecretSlot::reference(&text("client_secret_ref")));
                assert_eq!((client.audience, client.scope), (text("audience"), text("scope")));
            } else {
                let refusal = checked.unwrap_err();
                assert!(!refusal.contains("hunter2"), "{refusal}");
            }
        }
    }

    fn every_kind() -> Vec<AuthDeclaration> {
        vec![
            NoAuth.into(),
            Bearer::env("T").into(),
            Bearer::reference("openbao://kv/desk/api#token").scheme("SSWS").into(),
            ApiKey::header("X-Key").env("K").prefix("key ").into(),
            ApiKey::query("key").reference("env://K").into(),
            Basic::user("u").env("P").into(),
            Basic::user_reference("env://U").reference("env://P").into(),
            ClientCredentials::issuer("https://i.example", "c").env("S").scope("a b").audience("x").into(),
            ClientCredentials::token_url("https://i.example/t", "c")
                .reference("env://K")
                .private_key(JwtAlgorithm::ES256, "k1")
                .into(),
            RefreshToken::token_url("https://i.example/t", "c").env("R").client_secret("env://S").account("a").into(),
            RefreshToken::issuer("https://i.example", "c").reference("env://R").into(),
            SessionLogin::json("https://v.example/login", "data.token").field("user", "u").env("password", "P").into(),
            SessionLogin::cookie("https://v.example/login", "sid").reference("password", "env://P").form().into(),
            Pkce::issuer("https://i.example", "c", "desk").api_key_env("K").into(),
            Pkce::issuer("https://i.example", "c", "desk")
                .scope("openid mail")
                .profile(ProviderTokenProfile::jwt("https://api.example"))
                .headless("https://v.example/done")
                .into(),
            TokenExchange::token_url("https://i.example/t", "c", "vendor").env("S").scope("read").into(),
        ]
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R028.4
    #[test]
    fn every_declaration_survives_a_configuration_and_names_references_only() {
        for declaration in every_kind() {
            declaration.validate().unwrap();
            let text = serde_json::to_string(&declaration).unwrap();
            assert!(text.contains(&format!("\"type\":\"{}\"", declaration.kind())), "{text}");
            assert_eq!(read(&text).unwrap(), declaration);
            let more = text.replacen('{', "{\"surplus\":1,", 1);
            assert!(read(&more).is_err(), "{more}");
        }
        assert_eq!(AuthDeclaration::default().kind(), "no_auth");
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R028.4
    #[test]
    fn a_secret_in_the_place_of_a_reference_is_dropped_and_refused() {
        let literal: AuthDeclaration = Bearer::reference("hunter2-hunter2").into();
        assert!(!format!("{literal:?}").contains("hunter2"));
        assert!(serde_json::to_string(&literal).is_err());
        let refusal = literal.validate().unwrap_err();
        assert_eq!(refusal, refused("token_ref", "is not a secret reference"));
        for text in [
            r#"{"type":"bearer","token_ref":"hunter2"}"#,
            r#"{"type":"api_key","in":"header","name":"X","key_ref":"hunter2"}"#,
            r#"{"type":"client_credentials","client_id":"c","client_secret_ref":"hunter2"}"#,
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        for number in ["48151623", "-48151623", "48151623.5"] {
            let error = read(&format!("{{\"type\":\"bearer\",\"token_ref\":{number}}}")).unwrap_err().to_string();
            assert!(!error.contains("48151623"), "{error}");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R028.4
    #[test]
    fn incomplete_and_contradicting_declarations_name_the_field() {
        let with = |declaration: AuthDeclaration, field: &str| match declaration.validate() {
            Err(AuthRefusal::Configuration { field: found, .. }) => assert_eq!(found, field, "{declaration:?}"),
            other => panic!("{declaration:?}: {other:?}"),
        };
        with(ApiKey::header("X-Key").into(), "key_ref");
        with(ApiKey::header("Cookie").env("K").into(), "name");
        with(ApiKey::header("Proxy-Authorization").env("K").into(), "name");
        with(ApiKey::header("a b").env("K").into(), "name");
        with(ApiKey::query("k").env("K").prefix("x ").into(), "prefix");
        with(Bearer::env("1BAD").into(), "token_ref");
        with(Bearer::env("T").scheme("a\r\nb").into(), "scheme");
        with(Basic::user("").env("P").into(), "username");
        with(Basic::user("a:b").env("P").into(), "username");
        with(Basic::user("a").into(), "password_ref");
        with(ClientCredentials::issuer("https://i.example", "c").into(), "client_secret_ref");
        with(ClientCredentials::issuer("", "c").env("S").into(), "issuer");
        with(ClientCredentials::issuer("https://i.example", "c").env("S").scope("a\"b").into(), "scope");
        with(
            ClientCredentials::issuer("https://i.example", "c").env("S").private_key(JwtAlgorithm::HS256, "").into(),
            "key_algorithm",
        );
        with(RefreshToken::token_url("https://i.example/t", "c").into(), "refresh_token_ref");
        with(SessionLogin::json("https://v.example", "t").into(), "secret_fields");
        with(SessionLogin::json("http://v.example", "t").env("p", "P").into(), "login_url");
        with(SessionLogin::cookie("https://v.example", "a=b").env("p", "P").into(), "token");
        with(Pkce::issuer("https://i.example", "c", "").into(), "token_ref");
        with(Pkce::issuer("https://i.example", "c", "t").headless("http://v.example").into(), "redirect_url");
        with(Pkce::issuer("https://i.example", "c", "t").profile(ProviderTokenProfile::oidc()).into(), "scope");
        with(TokenExchange::token_url("ftp://i", "c", "a").env("S").into(), "token_url");
    }
}
