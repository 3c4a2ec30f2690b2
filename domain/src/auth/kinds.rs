//! The declarations, one struct each. Constructors take the names that cannot be left out; builders add the rest.

use serde::{Deserialize, Serialize};

use super::slot::SecretSlot;

/// No credential: requests go out as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoAuth;

/// A token in `Authorization`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// Where the token is.
    pub token_ref: SecretSlot,
    /// The word before it, `Bearer` when silent; some vendors want `Token` or `SSWS`.
    #[serde(default = "bearer", skip_serializing_if = "is_bearer")]
    pub scheme: String,
}

fn bearer() -> String {
    "Bearer".to_owned()
}

fn is_bearer(scheme: &str) -> bool {
    scheme == "Bearer"
}

impl Bearer {
    /// The token in an environment variable.
    pub fn env(name: &str) -> Self {
        Self { token_ref: SecretSlot::env(name), scheme: bearer() }
    }

    /// The token behind a reference, such as `openbao://kv/desk-mcp/api#token`.
    pub fn reference(text: &str) -> Self {
        Self { token_ref: SecretSlot::reference(text), scheme: bearer() }
    }

    /// Another word before the token.
    #[must_use]
    pub fn scheme(mut self, scheme: &str) -> Self {
        scheme.clone_into(&mut self.scheme);
        self
    }
}

/// Where a key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// A header field.
    Header,
    /// A query parameter. Only for vendors that know nothing better: addresses end up in logs on their side.
    Query,
}

/// A key in a header field or a query parameter. Cookies are stripped both ways, so that no session becomes an identity
/// (SDK-CONNECTOR-CONTROL-R028.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    /// Where it goes.
    #[serde(rename = "in")]
    pub place: KeyPlace,
    /// The name of the field or parameter.
    pub name: String,
    /// Where the key is.
    pub key_ref: SecretSlot,
    /// What stands before the key in a header field, blank included; nothing when silent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
}

impl ApiKey {
    /// In a header field.
    pub fn header(name: &str) -> Self {
        Self { place: KeyPlace::Header, name: name.to_owned(), key_ref: SecretSlot::default(), prefix: String::new() }
    }

    /// In a query parameter.
    pub fn query(name: &str) -> Self {
        Self { place: KeyPlace::Query, ..Self::header(name) }
    }

    /// The key in an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str) -> Self {
        self.key_ref = SecretSlot::env(name);
        self
    }

    /// The key behind a reference.
    #[must_use]
    pub fn reference(mut self, text: &str) -> Self {
        self.key_ref = SecretSlot::reference(text);
        self
    }

    /// What stands before the key.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }
}

/// A name and a password (RFC 7617).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Basic {
    /// The name, when it is no secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Where the name is, when it is one. Exactly one of the two is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username_ref: Option<SecretSlot>,
    /// Where the password is.
    pub password_ref: SecretSlot,
}

impl Basic {
    /// For a user whose name is no secret.
    pub fn user(name: &str) -> Self {
        Self { username: Some(name.to_owned()), username_ref: None, password_ref: SecretSlot::default() }
    }

    /// For a user whose name is behind a reference.
    pub fn user_reference(text: &str) -> Self {
        Self { username: None, username_ref: Some(SecretSlot::reference(text)), password_ref: SecretSlot::default() }
    }

    /// The password in an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str) -> Self {
        self.password_ref = SecretSlot::env(name);
        self
    }

    /// The password behind a reference.
    #[must_use]
    pub fn reference(mut self, text: &str) -> Self {
        self.password_ref = SecretSlot::reference(text);
        self
    }
}

/// How a client proves itself to a token endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuth {
    /// Id and secret in the form (`client_secret_post`, RFC 6749 section 2.3.1).
    #[default]
    Post,
    /// Id and secret in `Authorization` (`client_secret_basic`).
    Basic,
    /// A signed assertion (`private_key_jwt`, RFC 7523); the secret is the private key as PEM.
    PrivateKeyJwt,
}

/// The client and where its tokens come from; shared by all OAuth grants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientCredentials {
    /// The issuer; its discovery document names the token endpoint. Exactly one of `issuer` and `token_url`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub issuer: String,
    /// The token endpoint.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token_url: String,
    /// The client id, 1 to 256 characters without control characters.
    pub client_id: String,
    /// Where the client's secret (or private key) is.
    pub client_secret_ref: SecretSlot,
    /// `audience`, when the authority wants one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub audience: String,
    /// The scopes, separated by blanks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// How the client proves itself.
    #[serde(default)]
    pub client_auth: ClientAuth,
    /// For `private_key_jwt`: the algorithm, `RS256` when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_algorithm: Option<super::JwtAlgorithm>,
    /// For `private_key_jwt`: the `kid` of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
}

impl ClientCredentials {
    /// From an issuer with a discovery document.
    pub fn issuer(issuer: &str, client_id: &str) -> Self {
        Self { issuer: issuer.to_owned(), client_id: client_id.to_owned(), ..Self::default() }
    }

    /// From a token endpoint.
    pub fn token_url(url: &str, client_id: &str) -> Self {
        Self { token_url: url.to_owned(), client_id: client_id.to_owned(), ..Self::default() }
    }

    /// The secret (or private key) in an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str) -> Self {
        self.client_secret_ref = SecretSlot::env(name);
        self
    }

    /// The secret (or private key) behind a reference.
    #[must_use]
    pub fn reference(mut self, text: &str) -> Self {
        self.client_secret_ref = SecretSlot::reference(text);
        self
    }

    /// The scopes, separated by blanks.
    #[must_use]
    pub fn scope(mut self, scope: &str) -> Self {
        scope.clone_into(&mut self.scope);
        self
    }

    /// The audience.
    #[must_use]
    pub fn audience(mut self, audience: &str) -> Self {
        audience.clone_into(&mut self.audience);
        self
    }

    /// How the client proves itself.
    #[must_use]
    pub const fn client_auth(mut self, method: ClientAuth) -> Self {
        self.client_auth = method;
        self
    }

    /// Proves itself by signed assertions.
    #[must_use]
    pub fn private_key(mut self, algorithm: super::JwtAlgorithm, key_id: &str) -> Self {
        self.client_auth = ClientAuth::PrivateKeyJwt;
        self.key_algorithm = Some(algorithm);
        self.key_id = (!key_id.is_empty()).then(|| key_id.to_owned());
        self
    }
}

/// A refresh token that is exchanged for access tokens. The first one comes from a reference; its successors are kept in the
/// token store under `account`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefreshToken {
    /// The issuer, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub issuer: String,
    /// The token endpoint, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token_url: String,
    /// The client id.
    pub client_id: String,
    /// Where the client's secret is; a public client has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretSlot>,
    /// How the client proves itself.
    #[serde(default)]
    pub client_auth: ClientAuth,
    /// Where the first refresh token is.
    pub refresh_token_ref: SecretSlot,
    /// The scopes, separated by blanks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// The account of the token store; one of the connector, the authority, the client, the scope and the reference when silent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
}

impl RefreshToken {
    /// At a token endpoint.
    pub fn token_url(url: &str, client_id: &str) -> Self {
        Self {
            issuer: String::new(),
            token_url: url.to_owned(),
            client_id: client_id.to_owned(),
            client_secret_ref: None,
            client_auth: ClientAuth::default(),
            refresh_token_ref: SecretSlot::default(),
            scope: String::new(),
            account: String::new(),
        }
    }

    /// From an issuer with a discovery document.
    pub fn issuer(issuer: &str, client_id: &str) -> Self {
        Self { issuer: issuer.to_owned(), token_url: String::new(), ..Self::token_url("", client_id) }
    }

    /// The first refresh token in an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str) -> Self {
        self.refresh_token_ref = SecretSlot::env(name);
        self
    }

    /// The first refresh token behind a reference.
    #[must_use]
    pub fn reference(mut self, text: &str) -> Self {
        self.refresh_token_ref = SecretSlot::reference(text);
        self
    }

    /// The client's secret behind a reference.
    #[must_use]
    pub fn client_secret(mut self, text: &str) -> Self {
        self.client_secret_ref = Some(SecretSlot::reference(text));
        self
    }

    /// The account of the token store.
    #[must_use]
    pub fn account(mut self, account: &str) -> Self {
        account.clone_into(&mut self.account);
        self
    }
}

/// Acts for the caller: the caller's token is exchanged for one of the vendor (RFC 8693).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenExchange {
    /// The issuer, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub issuer: String,
    /// The token endpoint, or nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub token_url: String,
    /// The client id.
    pub client_id: String,
    /// Where the client's secret is.
    pub client_secret_ref: SecretSlot,
    /// How the client proves itself.
    #[serde(default)]
    pub client_auth: ClientAuth,
    /// For whom the new token is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub audience: String,
    /// The resource the new token is for, an absolute URL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// The scopes, separated by blanks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// A fixed subject token; the token of the caller when silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_token_ref: Option<SecretSlot>,
}

impl TokenExchange {
    /// At a token endpoint, for an audience.
    pub fn token_url(url: &str, client_id: &str, audience: &str) -> Self {
        Self {
            issuer: String::new(),
            token_url: url.to_owned(),
            client_id: client_id.to_owned(),
            client_secret_ref: SecretSlot::default(),
            client_auth: ClientAuth::default(),
            audience: audience.to_owned(),
            resource: String::new(),
            scope: String::new(),
            subject_token_ref: None,
        }
    }

    /// The client's secret in an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str) -> Self {
        self.client_secret_ref = SecretSlot::env(name);
        self
    }

    /// The client's secret behind a reference.
    #[must_use]
    pub fn reference(mut self, text: &str) -> Self {
        self.client_secret_ref = SecretSlot::reference(text);
        self
    }

    /// The scopes, separated by blanks.
    #[must_use]
    pub fn scope(mut self, scope: &str) -> Self {
        scope.clone_into(&mut self.scope);
        self
    }
}
