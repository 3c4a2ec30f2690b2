//! Credentials of sources by name, from `SOURCE_CREDENTIALS` (SDK-CONNECTOR-CONTROL-R900).

use std::collections::BTreeMap;

use super::SecretRef;
use crate::http::{HeaderName, Url};
use crate::json::{Json, JsonObject, parse};
use crate::refusals;

/// The setting that holds the descriptors.
pub const SOURCE_CREDENTIALS: &str = "SOURCE_CREDENTIALS";

const MAX_BYTES: usize = 256 * 1024;
const MAX_SOURCES: usize = 1024;

refusals! {
    /// Why a descriptor builds no credential. None of them carries a reference or a value; a field is named when it is one the
    /// kind knows.
    pub enum SourceCredentialRefusal {
        /// The setting is not one JSON object of objects.
        Malformed => "source_credentials_malformed", CallerMistake, Never,
            "SOURCE_CREDENTIALS is not a JSON object of descriptors without repeated keys", "correct it";
        /// A bound.
        TooLarge { what: &'static str, limit: usize } => "source_credentials_too_large", CallerMistake, Never,
            "SOURCE_CREDENTIALS has more than {limit} {what}", "configure fewer";
        /// No such kind.
        Kind => "source_credential_kind", CallerMistake, Never,
            "the kind of a source credential is none of keyless, api_key, cookie_session, basic and oauth2", "name one of them";
        /// A field that the kind needs or does not have, or with a value it cannot have.
        Field { field: &'static str, what: &'static str } => "source_credential_field", CallerMistake, Never,
            "the {field} of a source credential {what}", "complete the descriptor";
        /// A value that must be a reference and is not.
        Literal { field: &'static str } => "source_credential_literal", CallerMistake, Never,
            "the {field} of a source credential is not an env://, openbao:// or file:// reference", "store the value and refer to it";
        /// Material that must not be written down here at all.
        Inline { field: &'static str } => "source_credential_inline", CallerMistake, Never,
            "a source credential holds {field} inline", "store it and name it by reference";
        /// An attempt to loosen TLS.
        TlsOverride => "source_credential_tls_override", Denied, Never,
            "a source credential cannot change how TLS is verified", "name a TLS profile with the right CA";
        /// A reference that was not resolved when it was needed; `code` says why.
        Unresolved { code: &'static str } => "source_credential_unresolved", CallerMistake, Never,
            "a secret of the source credential was not resolved ({code})", "see the code for what to do";
        /// A token that was not refreshed; `code` says why.
        NotRefreshed { code: &'static str } => "source_credential_not_refreshed", Unavailable, Later,
            "the token of the source credential was not refreshed ({code})", "see the code for what to do";
        /// The source has no descriptor.
        NotConfigured => "source_credential_not_configured", CallerMistake, Never,
            "the source has no credential configured", "add it to SOURCE_CREDENTIALS if it needs one";
    }
}

/// Where a key goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKeyPlace {
    /// A header field, after a prefix.
    Header {
        /// The field.
        name: HeaderName,
        /// What stands before the key, blank included.
        prefix: String,
    },
    /// A query parameter.
    Query {
        /// The parameter.
        name: String,
    },
}

/// A user name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceUser {
    /// That is no secret.
    Name(String),
    /// That is one.
    Reference(SecretRef),
}

/// A descriptor: everything but the secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SourceDescriptor {
    /// No credential.
    #[default]
    Keyless,
    /// A key.
    ApiKey {
        /// Where it goes.
        place: SourceKeyPlace,
        /// Where it is.
        key: SecretRef,
    },
    /// The cookie of a session somebody opened.
    CookieSession {
        /// The name of the cookie; without one the secret is the whole `Cookie` field.
        name: Option<String>,
        /// Where it is.
        cookie: SecretRef,
    },
    /// A name and a password (RFC 7617).
    Basic {
        /// The name.
        user: SourceUser,
        /// Where the password is.
        password: SecretRef,
    },
    /// A refresh token that is exchanged for access tokens (RFC 6749 section 6).
    OAuth2 {
        /// The token endpoint: https, or http to this machine.
        token_url: Url,
        /// The client id.
        client_id: String,
        /// Where the client's secret is; a public client has none.
        client_secret: Option<SecretRef>,
        /// Where the refresh token is.
        refresh_token: SecretRef,
        /// The scopes, separated by blanks.
        scope: String,
        /// The TLS profile of the exchange with the token endpoint.
        tls_profile: Option<String>,
    },
}

impl SourceDescriptor {
    /// The kind, as written in a descriptor.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Keyless => "keyless",
            Self::ApiKey { .. } => "api_key",
            Self::CookieSession { .. } => "cookie_session",
            Self::Basic { .. } => "basic",
            Self::OAuth2 { .. } => "oauth2",
        }
    }

    /// Reads one descriptor: `kind` and, by kind, `key_ref`, `in` (`header` or `query`), `name`, `prefix`; `cookie_ref`, `name`;
    /// `username` or `username_ref`, `password_ref`; `token_url`, `client_id`, `client_secret_ref`, `refresh_token_ref`, `scope`,
    /// `tls_profile`.
    pub fn read(members: &JsonObject) -> Result<Self, SourceCredentialRefusal> {
        refuse_forbidden(members)?;
        let fields = Fields(members);
        let kind = fields.text("kind")?.ok_or(SourceCredentialRefusal::Kind)?;
        let (known, descriptor): (&[&str], _) = match kind {
            "keyless" => (&[], Self::Keyless),
            "api_key" => (&["key_ref", "in", "name", "prefix"], fields.api_key()?),
            "cookie_session" => (&["cookie_ref", "name"], fields.cookie()?),
            "basic" => (&["username", "username_ref", "password_ref"], fields.basic()?),
            "oauth2" => (
                &["token_url", "client_id", "client_secret_ref", "refresh_token_ref", "scope", "tls_profile"],
                fields.oauth2()?,
            ),
            _ => return Err(SourceCredentialRefusal::Kind),
        };
        let unknown = members.keys().any(|member| member != "kind" && !known.contains(&member.as_str()));
        if unknown {
            return Err(SourceCredentialRefusal::Field {
                field: "descriptor",
                what: "has a member its kind does not have",
            });
        }
        Ok(descriptor)
    }
}

/// The descriptors of all sources. One that cannot be read does not take the others down.
pub type SourceDescriptors = BTreeMap<String, Result<SourceDescriptor, SourceCredentialRefusal>>;

/// Reads `SOURCE_CREDENTIALS`: a JSON object of descriptors by source name, at most 256 KiB and 1,024 sources.
pub fn read_source_credentials(text: &str) -> Result<SourceDescriptors, SourceCredentialRefusal> {
    if text.len() > MAX_BYTES {
        return Err(SourceCredentialRefusal::TooLarge { what: "bytes", limit: MAX_BYTES });
    }
    if text.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let document = parse(text).map_err(|_| SourceCredentialRefusal::Malformed)?;
    let members = document.as_object().ok_or(SourceCredentialRefusal::Malformed)?;
    if members.len() > MAX_SOURCES {
        return Err(SourceCredentialRefusal::TooLarge { what: "sources", limit: MAX_SOURCES });
    }
    let read = |(name, value): (&String, &Json)| {
        let descriptor = value.as_object().ok_or(SourceCredentialRefusal::Malformed).and_then(SourceDescriptor::read);
        (name.clone(), descriptor)
    };
    Ok(members.iter().map(read).collect())
}

/// Material and switches that are refused whatever the kind.
fn refuse_forbidden(members: &JsonObject) -> Result<(), SourceCredentialRefusal> {
    const INLINE: [(&str, &str); 12] = [
        ("access_token", "an access token"),
        ("api_key", "a key"),
        ("client_secret", "a client secret"),
        ("cookie", "a cookie"),
        ("cookies", "cookies"),
        ("headers", "header fields"),
        ("key", "a key"),
        ("password", "a password"),
        ("refresh_token", "a refresh token"),
        ("secret", "a secret"),
        ("session", "a session"),
        ("token", "a token"),
    ];
    const TLS: [&str; 9] = [
        "insecure",
        "insecure_skip_verify",
        "ssl_verify",
        "tls_insecure",
        "tls_skip_verify",
        "tls_verify",
        "verify",
        "verify_ssl",
        "verify_tls",
    ];
    for member in members.keys() {
        let member = member.to_ascii_lowercase().replace('-', "_");
        if TLS.contains(&member.as_str()) {
            return Err(SourceCredentialRefusal::TlsOverride);
        }
        if let Some((_, field)) = INLINE.iter().find(|(name, _)| *name == member) {
            return Err(SourceCredentialRefusal::Inline { field });
        }
    }
    Ok(())
}

struct Fields<'m>(&'m JsonObject);

impl<'m> Fields<'m> {
    fn text(&self, field: &'static str) -> Result<Option<&'m str>, SourceCredentialRefusal> {
        let Some(value) = self.0.get(field) else { return Ok(None) };
        let usable = |text: &&str| (1..=2048).contains(&text.len()) && !text.chars().any(char::is_control);
        match value.as_str().filter(usable) {
            Some(text) => Ok(Some(text)),
            None => Err(SourceCredentialRefusal::Field { field, what: "is not a usable text" }),
        }
    }

    fn needed(&self, field: &'static str) -> Result<&'m str, SourceCredentialRefusal> {
        self.text(field)?.ok_or(SourceCredentialRefusal::Field { field, what: "is missing" })
    }

    fn reference(&self, field: &'static str) -> Result<Option<SecretRef>, SourceCredentialRefusal> {
        let Some(value) = self.0.get(field) else { return Ok(None) };
        let text = value.as_str().ok_or(SourceCredentialRefusal::Literal { field })?;
        SecretRef::parse(text).map(Some).map_err(|_| SourceCredentialRefusal::Literal { field })
    }

    fn needed_reference(&self, field: &'static str) -> Result<SecretRef, SourceCredentialRefusal> {
        self.reference(field)?.ok_or(SourceCredentialRefusal::Field { field, what: "is missing" })
    }

    fn api_key(&self) -> Result<SourceDescriptor, SourceCredentialRefusal> {
        let key = self.needed_reference("key_ref")?;
        let prefix = self.text("prefix")?;
        let place = match self.text("in")?.unwrap_or("header") {
            "header" => {
                let name = self.text("name")?.unwrap_or("x-api-key");
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| SourceCredentialRefusal::Field {
                    field: "name",
                    what: "is not the name of a header field",
                })?;
                if prefix.is_some_and(|prefix| !prefix.is_ascii()) {
                    return Err(SourceCredentialRefusal::Field { field: "prefix", what: "is not ASCII" });
                }
                SourceKeyPlace::Header { name, prefix: prefix.unwrap_or_default().to_owned() }
            }
            "query" if prefix.is_none() => SourceKeyPlace::Query { name: self.needed("name")?.to_owned() },
            "query" => {
                return Err(SourceCredentialRefusal::Field { field: "prefix", what: "is for header fields only" });
            }
            _ => return Err(SourceCredentialRefusal::Field { field: "in", what: "is neither header nor query" }),
        };
        Ok(SourceDescriptor::ApiKey { place, key })
    }

    fn cookie(&self) -> Result<SourceDescriptor, SourceCredentialRefusal> {
        let name = self.text("name")?;
        if name.is_some_and(|name| HeaderName::from_bytes(name.as_bytes()).is_err()) {
            return Err(SourceCredentialRefusal::Field { field: "name", what: "is not the name of a cookie" });
        }
        let cookie = self.needed_reference("cookie_ref")?;
        Ok(SourceDescriptor::CookieSession { name: name.map(str::to_owned), cookie })
    }

    fn basic(&self) -> Result<SourceDescriptor, SourceCredentialRefusal> {
        let user = match (self.text("username")?, self.reference("username_ref")?) {
            (Some(name), None) if !name.contains(':') => SourceUser::Name(name.to_owned()),
            (Some(_), None) => {
                return Err(SourceCredentialRefusal::Field { field: "username", what: "has a colon (RFC 7617)" });
            }
            (None, Some(reference)) => SourceUser::Reference(reference),
            _ => {
                return Err(SourceCredentialRefusal::Field { field: "username", what: "is given twice or not at all" });
            }
        };
        Ok(SourceDescriptor::Basic { user, password: self.needed_reference("password_ref")? })
    }

    fn oauth2(&self) -> Result<SourceDescriptor, SourceCredentialRefusal> {
        let token_url = super::provider::provider_endpoint(self.needed("token_url")?).map_err(|_| {
            SourceCredentialRefusal::Field {
                field: "token_url",
                what: "is not an https address (or http to this machine)",
            }
        })?;
        Ok(SourceDescriptor::OAuth2 {
            token_url,
            client_id: self.needed("client_id")?.to_owned(),
            client_secret: self.reference("client_secret_ref")?,
            refresh_token: self.needed_reference("refresh_token_ref")?,
            scope: self.text("scope")?.unwrap_or_default().to_owned(),
            tls_profile: self.text("tls_profile")?.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal as _;

    fn read(text: &str) -> Result<SourceDescriptor, SourceCredentialRefusal> {
        SourceDescriptor::read(parse(text).unwrap().as_object().unwrap())
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R900.1
    #[test]
    fn five_kinds_are_read() {
        let kinds = [
            (r#"{"kind": "keyless"}"#, "keyless"),
            (r#"{"kind": "api_key", "key_ref": "env://K"}"#, "api_key"),
            (r#"{"kind": "api_key", "key_ref": "env://K", "in": "query", "name": "key"}"#, "api_key"),
            (
                r#"{"kind": "cookie_session", "cookie_ref": "file:///run/secrets/cookie", "name": "sid"}"#,
                "cookie_session",
            ),
            (r#"{"kind": "basic", "username": "ada", "password_ref": "openbao://apps/desk#PASSWORD"}"#, "basic"),
            (r#"{"kind": "basic", "username_ref": "env://U", "password_ref": "env://P"}"#, "basic"),
            (
                r#"{"kind": "oauth2", "token_url": "https://id.example/token", "client_id": "c",
                    "client_secret_ref": "env://S", "refresh_token_ref": "env://R", "scope": "a b", "tls_profile": "corp"}"#,
                "oauth2",
            ),
        ];
        for (text, kind) in kinds {
            assert_eq!(read(text).map(|descriptor| descriptor.kind()), Ok(kind));
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R900.4
    #[test]
    fn material_switches_and_anything_but_references_are_refused() {
        let cases = [
            (r#"{"kind": "api_key", "key_ref": "hunter2"}"#, "source_credential_literal"),
            (r#"{"kind": "api_key", "key_ref": 5}"#, "source_credential_literal"),
            (r#"{"kind": "api_key", "key_ref": "vault://a/b#c"}"#, "source_credential_literal"),
            (r#"{"kind": "api_key", "key_ref": "${K}"}"#, "source_credential_literal"),
            (r#"{"kind": "api_key", "key": "hunter2"}"#, "source_credential_inline"),
            (r#"{"kind": "cookie_session", "cookie": "sid=hunter2"}"#, "source_credential_inline"),
            (r#"{"kind": "oauth2", "refresh_token": "hunter2"}"#, "source_credential_inline"),
            (r#"{"kind": "oauth2", "Refresh-Token": "hunter2"}"#, "source_credential_inline"),
            (r#"{"kind": "basic", "username": "a", "password": "hunter2"}"#, "source_credential_inline"),
            (r#"{"kind": "keyless", "verify": false}"#, "source_credential_tls_override"),
            (r#"{"kind": "keyless", "verify_ssl": true}"#, "source_credential_tls_override"),
            (r#"{"kind": "keyless", "tls_verify": "no"}"#, "source_credential_tls_override"),
            (r#"{"kind": "hunter2"}"#, "source_credential_kind"),
            (r"{}", "source_credential_kind"),
            (r#"{"kind": "keyless", "hunter2": 1}"#, "source_credential_field"),
            (r#"{"kind": "api_key", "name": "x"}"#, "source_credential_field"),
            (r#"{"kind": "api_key", "key_ref": "env://K", "name": "bad name"}"#, "source_credential_field"),
            (r#"{"kind": "api_key", "key_ref": "env://K", "in": "cookie"}"#, "source_credential_field"),
            (r#"{"kind": "api_key", "key_ref": "env://K", "in": "query"}"#, "source_credential_field"),
            (
                r#"{"kind": "api_key", "key_ref": "env://K", "in": "query", "name": "k", "prefix": "x"}"#,
                "source_credential_field",
            ),
            (r#"{"kind": "cookie_session", "cookie_ref": "env://C", "name": "a=b"}"#, "source_credential_field"),
            (r#"{"kind": "basic", "password_ref": "env://P"}"#, "source_credential_field"),
            (r#"{"kind": "basic", "username": "a:b", "password_ref": "env://P"}"#, "source_credential_field"),
            (
                r#"{"kind": "oauth2", "token_url": "http://id.example", "client_id": "c", "refresh_token_ref": "env://R"}"#,
                "source_credential_field",
            ),
        ];
        for (text, code) in cases {
            let refusal = read(text).unwrap_err();
            assert_eq!(refusal.code(), code, "{text}");
            assert!(!format!("{refusal} {refusal:?}").contains("hunter2"), "{text}");
        }
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R900.1
    #[test]
    fn one_bad_descriptor_leaves_the_others_alone() {
        let text = r#"{"good": {"kind": "api_key", "key_ref": "env://K"}, "bad": {"kind": "x"}, "worse": 5}"#;
        let all = read_source_credentials(text).unwrap();
        assert!(all["good"].is_ok());
        assert_eq!(all["bad"], Err(SourceCredentialRefusal::Kind));
        assert_eq!(all["worse"], Err(SourceCredentialRefusal::Malformed));
        assert!(read_source_credentials(" ").unwrap().is_empty());
        for bad in ["hunter2", "[]", r#"{"a": {}, "a": {}}"#] {
            assert_eq!(read_source_credentials(bad), Err(SourceCredentialRefusal::Malformed));
        }
        let long = " ".repeat(MAX_BYTES + 1);
        assert!(matches!(read_source_credentials(&long), Err(SourceCredentialRefusal::TooLarge { what: "bytes", .. })));
        let many: Vec<String> = (0..=MAX_SOURCES).map(|n| format!("\"{n}\":{{}}")).collect();
        let refused = read_source_credentials(&format!("{{{}}}", many.join(",")));
        assert!(matches!(refused, Err(SourceCredentialRefusal::TooLarge { what: "sources", .. })));
    }
}
