//! What goes back to a caller that is not let in (`wire/mcp-surface.md` 0.4).

use super::{ServedSecurityProfile, TokenRefusal};
use crate::http::StatusCode;

/// Why a request carries no usable credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unauthenticated {
    /// There is none.
    NoCredential,
    /// It is not valid, or no longer.
    Invalid,
    /// Whoever could tell does not answer.
    Unavailable,
}

impl From<TokenRefusal> for Unauthenticated {
    fn from(refusal: TokenRefusal) -> Self {
        match refusal {
            TokenRefusal::Unavailable => Self::Unavailable,
            // A caller does not learn which check it failed.
            _ => Self::Invalid,
        }
    }
}

/// An answer before any work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityAnswer {
    /// The status.
    pub status: StatusCode,
    /// `www-authenticate`.
    pub challenge: Option<String>,
    /// The body: JSON, or empty.
    pub body: &'static str,
}

const INVALID: &str = r#"{"error":"invalid_token","error_description":"the access token is not valid"}"#;

impl Unauthenticated {
    /// The answer on the wire. The challenge says where the metadata of the resource is (RFC 9728, section 5.1).
    pub fn answer(self, profile: &ServedSecurityProfile) -> SecurityAnswer {
        let metadata =
            profile.resource.as_ref().map(|resource| format!("resource_metadata=\"{}\"", resource.metadata_url()));
        let challenge = |error: Option<&str>| {
            let parts: Vec<&str> = error.into_iter().chain(metadata.as_deref()).collect();
            if parts.is_empty() { "Bearer".to_owned() } else { format!("Bearer {}", parts.join(", ")) }
        };
        match self {
            Self::NoCredential => {
                SecurityAnswer { status: StatusCode::UNAUTHORIZED, challenge: Some(challenge(None)), body: "" }
            }
            Self::Invalid => SecurityAnswer {
                status: StatusCode::UNAUTHORIZED,
                challenge: Some(challenge(Some(
                    "error=\"invalid_token\", error_description=\"the access token is not valid\"",
                ))),
                body: INVALID,
            },
            Self::Unavailable => SecurityAnswer {
                status: StatusCode::SERVICE_UNAVAILABLE,
                challenge: None,
                body: r#"{"error":"temporarily_unavailable"}"#,
            },
        }
    }
}

/// The caller is known but may not: JSON-RPC error −32001 `access denied`, whatever was missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessDenied {
    /// What was missing, for the log of the server only.
    pub missing: &'static str,
}

impl AccessDenied {
    /// The code of the JSON-RPC error.
    pub const CODE: i32 = -32001;
    /// Its message.
    pub const MESSAGE: &'static str = "access denied";
}
