use super::AuthRefusal;
use crate::base64;
use crate::http::{HeaderName, HeaderValue};
use crate::secret::Secret;

/// What to add to a request. Values are marked sensitive or wrapped, so that printing shows none of them.
#[derive(Clone, Debug, Default)]
pub struct AuthMaterial {
    /// Header fields, each value marked sensitive.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Query parameters.
    pub query: Vec<(String, Secret<String>)>,
    /// Whether cookies are stripped both ways, so that no session becomes an identity (SDK-CONNECTOR-CONTROL-R028.3).
    pub strip_cookies: bool,
    /// Grows whenever the credential behind it changes.
    pub generation: u64,
}

impl AuthMaterial {
    /// One header field whose value is a prefix and a secret. `field` names the secret in a refusal.
    pub fn header(name: &str, prefix: &str, secret: &Secret<String>, field: &'static str) -> Result<Self, AuthRefusal> {
        let name: HeaderName = name
            .parse()
            .map_err(|_| AuthRefusal::Configuration { field: "name", what: "is not the name of a header field" })?;
        let value = Secret::new(format!("{prefix}{}", secret.expose()));
        Ok(Self { headers: vec![(name, sensitive(field, &value)?)], ..Self::default() })
    }

    /// A name and a password in `Authorization` (RFC 7617).
    pub fn basic(name: &Secret<String>, password: &Secret<String>) -> Result<Self, AuthRefusal> {
        if name.expose().contains(':') {
            return Err(AuthRefusal::Configuration { field: "username_ref", what: "leads to a name with a colon" });
        }
        let pair = Secret::new(format!("{}:{}", name.expose(), password.expose()));
        let coded = Secret::new(base64::encode(pair.expose().as_bytes()));
        Self::header("authorization", "Basic ", &coded, "password_ref")
    }
}

/// A header value that printing hides.
pub(super) fn sensitive(field: &'static str, value: &Secret<String>) -> Result<HeaderValue, AuthRefusal> {
    let what = "leads to a value with characters a header field cannot carry";
    let mut value = HeaderValue::from_str(value.expose()).map_err(|_| AuthRefusal::Configuration { field, what })?;
    value.set_sensitive(true);
    Ok(value)
}
