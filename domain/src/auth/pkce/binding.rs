use sha2::{Digest as _, Sha256};

use crate::auth::{AuthUrl, RedirectMode};
use crate::base64::encode_url;
use crate::http::Url;
use crate::id::Digest256;

use super::PkceRefusal;

/// To whom and to what a login belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PkceBinding {
    /// The connector that needs the login.
    pub connector: String,
    /// The authenticated caller or client, as the server verified it.
    pub caller: String,
    /// Digest of the operation that waits for it.
    pub operation: Digest256,
    /// The broker's reference of this challenge.
    pub challenge_ref: String,
    /// The host's grant, by its opaque reference.
    pub grant_ref: Option<String>,
}

impl PkceBinding {
    /// One digest over all of it.
    pub fn digest(&self) -> Digest256 {
        let mut hasher = Sha256::new();
        hasher.update(b"scion:pkce-binding:1");
        let grant = self.grant_ref.as_deref().unwrap_or_default();
        for part in [&self.connector, &self.caller, &self.challenge_ref, grant] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.update(self.operation.as_bytes());
        Digest256::from_bytes(hasher.finalize().into())
    }
}

/// The S256 challenge of a verifier (RFC 7636, section 4.2).
pub fn challenge_of(verifier: &str) -> String {
    encode_url(&Sha256::digest(verifier.as_bytes()))
}

/// The address an answer must come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectBinding {
    /// How it comes.
    pub mode: RedirectMode,
    /// The address, without query.
    pub url: AuthUrl,
}

impl RedirectBinding {
    /// Takes an address for a mode. A loopback address is on 127.0.0.1 or `::1`, never `localhost` (RFC 8252, section 8.3).
    pub fn new(mode: RedirectMode, text: &str) -> Result<Self, PkceRefusal> {
        let url = AuthUrl::parse("redirect_url", text).map_err(|_| PkceRefusal::InsecureRedirect)?;
        let loopback = url.url().scheme() == "http" && matches!(url.url().host_str(), Some("127.0.0.1" | "[::1]"));
        if (mode == RedirectMode::Loopback && !loopback) || url.url().query().is_some() {
            return Err(PkceRefusal::InsecureRedirect);
        }
        Ok(Self { mode, url })
    }

    /// Whether an answer came to this address: scheme, host, port and path are the same.
    pub fn fits(&self, answer: &Url) -> bool {
        let own = self.url.url();
        answer.scheme() == own.scheme()
            && answer.host() == own.host()
            && answer.port_or_known_default() == own.port_or_known_default()
            && answer.path() == own.path()
            && answer.username().is_empty()
            && answer.password().is_none()
    }
}

/// What the other side of a ceremony may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PkceChallenge {
    /// To whom and to what it belongs.
    pub binding: PkceBinding,
    /// Where the answer comes to.
    pub redirect: RedirectBinding,
    /// When it ends, in milliseconds since the Unix epoch.
    pub deadline_ms: i64,
    /// Where the person logs in. It carries `state`, `nonce` and the challenge, none of which is a credential alone.
    pub authorization_url: Url,
}
