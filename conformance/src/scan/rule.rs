//! The rules.

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Certificates or host names are not verified.
    VerificationOff,
    /// A verifier or callback of its own decides about certificates.
    OwnVerifier,
    /// Warnings about unverified connections are silenced.
    WarningsSilenced,
    /// A TLS context is built outside the TLS profiles.
    OwnTlsContext,
    /// An HTTP client is built outside the governed one.
    RawClient,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 5] =
        [Self::VerificationOff, Self::OwnVerifier, Self::WarningsSilenced, Self::OwnTlsContext, Self::RawClient];

    /// The stable word for reports.
    pub const fn code(self) -> &'static str {
        match self {
            Self::VerificationOff => "tls_verification_off",
            Self::OwnVerifier => "tls_own_verifier",
            Self::WarningsSilenced => "tls_warnings_silenced",
            Self::OwnTlsContext => "tls_own_context",
            Self::RawClient => "http_raw_client",
        }
    }

    /// Why it is a finding.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::VerificationOff => {
                "TLS verification is switched off, so anyone on the path can read and change the exchange"
            }
            Self::OwnVerifier => "certificates are judged by code of the connector",
            Self::WarningsSilenced => "warnings about unverified TLS connections are silenced",
            Self::OwnTlsContext => "a TLS context is built outside the TLS profiles",
            Self::RawClient => "an HTTP client is built that skips egress checks, bounds and TLS profiles",
        }
    }

    /// What to do instead.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::VerificationOff | Self::OwnVerifier => "name a TLS profile with the CA of the server",
            Self::WarningsSilenced => "remove the filter and verify the connection",
            Self::OwnTlsContext => "name a TLS profile",
            Self::RawClient => "use the governed client",
        }
    }
}
