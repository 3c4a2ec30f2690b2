//! The declarations of logins: of a program that opens a session, and of a person in a browser.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::profile::ProviderTokenProfile;
use super::slot::SecretSlot;

/// Where a session's token is in the answer of a login, and where it goes in requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionToken {
    /// A text at a dotted path of the JSON answer, sent in a header field after a prefix.
    Json {
        /// The dotted path.
        path: String,
        /// The header field.
        header: String,
        /// What stands before it, blank included.
        #[serde(default)]
        prefix: String,
    },
    /// A cookie of the answer, sent as `Cookie`.
    Cookie {
        /// Its name.
        name: String,
    },
}

/// How the login request carries its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginBody {
    /// A JSON object.
    #[default]
    Json,
    /// An HTML form.
    Form,
}

/// A login that opens a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionLogin {
    /// The absolute URL of the login.
    pub login_url: String,
    /// How the fields are sent.
    #[serde(default)]
    pub body: LoginBody,
    /// Fields that are no secrets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Fields that are.
    pub secret_fields: BTreeMap<String, SecretSlot>,
    /// Where the session's token is.
    pub token: SessionToken,
    /// How long a session is used, in seconds, 1 to 86,400; 3,600 when silent.
    #[serde(default = "hour")]
    pub lifetime_seconds: u32,
}

const fn hour() -> u32 {
    3600
}

impl SessionLogin {
    /// A login at a URL, whose answer holds a token at a dotted path of its JSON, sent as a bearer token.
    pub fn json(login_url: &str, token_path: &str) -> Self {
        let token = SessionToken::Json {
            path: token_path.to_owned(),
            header: "authorization".to_owned(),
            prefix: "Bearer ".to_owned(),
        };
        Self::new(login_url, token)
    }

    /// A login at a URL, whose answer sets a cookie.
    pub fn cookie(login_url: &str, name: &str) -> Self {
        Self::new(login_url, SessionToken::Cookie { name: name.to_owned() })
    }

    fn new(login_url: &str, token: SessionToken) -> Self {
        Self {
            login_url: login_url.to_owned(),
            body: LoginBody::default(),
            fields: BTreeMap::new(),
            secret_fields: BTreeMap::new(),
            token,
            lifetime_seconds: hour(),
        }
    }

    /// A field that is no secret.
    #[must_use]
    pub fn field(mut self, name: &str, value: &str) -> Self {
        self.fields.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A secret field in an environment variable.
    #[must_use]
    pub fn env(mut self, field: &str, name: &str) -> Self {
        self.secret_fields.insert(field.to_owned(), SecretSlot::env(name));
        self
    }

    /// A secret field behind a reference.
    #[must_use]
    pub fn reference(mut self, field: &str, text: &str) -> Self {
        self.secret_fields.insert(field.to_owned(), SecretSlot::reference(text));
        self
    }

    /// The header field and the prefix of the session's token.
    #[must_use]
    pub fn send_as(mut self, field: &str, before: &str) -> Self {
        if let SessionToken::Json { header, prefix, .. } = &mut self.token {
            field.clone_into(header);
            before.clone_into(prefix);
        }
        self
    }

    /// Sends the fields as a form.
    #[must_use]
    pub const fn form(mut self) -> Self {
        self.body = LoginBody::Form;
        self
    }
}

/// How the answer of a browser login comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedirectMode {
    /// A listener on 127.0.0.1 takes the callback (RFC 8252, section 7.3).
    #[default]
    Loopback,
    /// A person hands over the complete redirect address.
    Headless,
}

/// A login in a person's browser with PKCE (SDK-CONNECTOR-CONTROL-R046.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pkce {
    /// The issuer; its discovery document names the endpoints.
    pub issuer: String,
    /// The client id.
    pub client_id: String,
    /// Where the client's secret is; a public client has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_ref: Option<SecretSlot>,
    /// The scopes, separated by blanks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// The resource the tokens are for (RFC 8707), or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// How the answer comes back.
    #[serde(default)]
    pub redirect_mode: RedirectMode,
    /// For the headless mode: the registered redirect address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_url: Option<String>,
    /// The account under which tokens are kept: a name, not a value.
    pub token_ref: String,
    /// What the provider's tokens are.
    #[serde(default)]
    pub profile: ProviderTokenProfile,
    /// A key that is used instead of any login when it is set (SDK-CONNECTOR-CONTROL-R014.11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_ref: Option<SecretSlot>,
}

impl Pkce {
    /// A loopback login of a public client, with opaque tokens kept under an account.
    pub fn issuer(issuer: &str, client_id: &str, token_ref: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            client_secret_ref: None,
            scope: String::new(),
            resource: String::new(),
            redirect_mode: RedirectMode::Loopback,
            redirect_url: None,
            token_ref: token_ref.to_owned(),
            profile: ProviderTokenProfile::default(),
            api_key_ref: None,
        }
    }

    /// The scopes, separated by blanks.
    #[must_use]
    pub fn scope(mut self, scope: &str) -> Self {
        scope.clone_into(&mut self.scope);
        self
    }

    /// The resource the tokens are for (RFC 8707).
    #[must_use]
    pub fn resource(mut self, resource: &str) -> Self {
        resource.clone_into(&mut self.resource);
        self
    }

    /// What the provider's tokens are.
    #[must_use]
    pub fn profile(mut self, profile: ProviderTokenProfile) -> Self {
        self.profile = profile;
        self
    }

    /// A person hands over the redirect to this registered address.
    #[must_use]
    pub fn headless(mut self, redirect_url: &str) -> Self {
        self.redirect_mode = RedirectMode::Headless;
        self.redirect_url = Some(redirect_url.to_owned());
        self
    }

    /// A key in an environment variable that takes precedence when it is set.
    #[must_use]
    pub fn api_key_env(mut self, name: &str) -> Self {
        self.api_key_ref = Some(SecretSlot::env(name));
        self
    }
}
