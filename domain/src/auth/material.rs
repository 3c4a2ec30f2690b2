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
