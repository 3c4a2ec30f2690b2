//! The signature algorithms of JSON Web Tokens that are used.

use serde::{Deserialize, Serialize};

/// An algorithm of RFC 7518 or RFC 8037. `none` is not one of them and cannot be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JwtAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    RS256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    RS384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    RS512,
    /// RSASSA-PSS with SHA-256.
    PS256,
    /// RSASSA-PSS with SHA-384.
    PS384,
    /// RSASSA-PSS with SHA-512.
    PS512,
    /// ECDSA with P-256 and SHA-256.
    ES256,
    /// ECDSA with P-384 and SHA-384.
    ES384,
    /// Ed25519.
    EdDSA,
    /// HMAC with SHA-256.
    HS256,
    /// HMAC with SHA-384.
    HS384,
    /// HMAC with SHA-512.
    HS512,
}

/// The kind of key an algorithm needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyFamily {
    /// RSA.
    Rsa,
    /// An elliptic curve.
    Ec,
    /// Ed25519.
    Ed,
    /// A shared secret.
    Hmac,
}

impl JwtAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 12] = [
        Self::RS256,
        Self::RS384,
        Self::RS512,
        Self::PS256,
        Self::PS384,
        Self::PS512,
        Self::ES256,
        Self::ES384,
        Self::EdDSA,
        Self::HS256,
        Self::HS384,
        Self::HS512,
    ];

    /// The name in a token's header.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RS256 => "RS256",
            Self::RS384 => "RS384",
            Self::RS512 => "RS512",
            Self::PS256 => "PS256",
            Self::PS384 => "PS384",
            Self::PS512 => "PS512",
            Self::ES256 => "ES256",
            Self::ES384 => "ES384",
            Self::EdDSA => "EdDSA",
            Self::HS256 => "HS256",
            Self::HS384 => "HS384",
            Self::HS512 => "HS512",
        }
    }

    /// The algorithm of a name; case matters.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    /// The kind of key it needs.
    pub const fn family(self) -> KeyFamily {
        match self {
            Self::RS256 | Self::RS384 | Self::RS512 | Self::PS256 | Self::PS384 | Self::PS512 => KeyFamily::Rsa,
            Self::ES256 | Self::ES384 => KeyFamily::Ec,
            Self::EdDSA => KeyFamily::Ed,
            Self::HS256 | Self::HS384 | Self::HS512 => KeyFamily::Hmac,
        }
    }
}
