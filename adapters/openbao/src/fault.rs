//! What went wrong at the server, and the refusal it comes to.

use scion_domain::credential::CredentialRefusal;
use scion_domain::http::{HttpRefusal, StatusCode};
use scion_domain::refusal::{Refusal as _, Retry};

/// Why a call gave no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Unreachable, sealed, a standby, limited, failed, or too slow: a later call can succeed.
    Unavailable,
    /// The token is dead, or its policies say no.
    Denied,
    /// Nothing is there.
    Missing,
    /// A version that is gone; how.
    Gone(&'static str),
    /// Something is there, or was answered, that cannot be used; why.
    Unusable(&'static str),
    /// A secret of the login itself was not resolved.
    Bootstrap(CredentialRefusal),
}

impl Fault {
    /// The refusal of the reference that was being resolved.
    pub(crate) fn refusal(self, reference: String) -> CredentialRefusal {
        match self {
            Self::Unavailable => CredentialRefusal::Unavailable { reference },
            Self::Denied => CredentialRefusal::Denied { reference },
            Self::Missing => CredentialRefusal::Missing { reference },
            Self::Gone(what) => CredentialRefusal::VersionGone { reference, what },
            Self::Unusable(what) => CredentialRefusal::Unusable { reference, what },
            // Names the reference of the login, which is what has to be mended.
            Self::Bootstrap(refusal) => refusal,
        }
    }

    /// Of a status that is neither success nor 404. 400 and 405 are judged by the caller, which knows what it sent.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status.as_u16() {
            401 | 403 => Self::Denied,
            // 307: a standby that does not forward. 412: not replicated yet. 429: limited, or a standby; 472, 473: standbys.
            // 501: not initialised. 503: sealed.
            300..=399 | 408 | 412 | 425 | 429 | 472 | 473 | 500..=599 => Self::Unavailable,
            _ => Self::Unusable("cannot be read with this request"),
        }
    }
}

impl From<HttpRefusal> for Fault {
    fn from(refusal: HttpRefusal) -> Self {
        let code = refusal.entry().code;
        if refusal.retry() == Retry::Never {
            // Policy, TLS or a profile: waiting mends nothing, and the refusal of the reference does not say it.
            tracing::warn!(code, "no exchange with the secret store is possible");
        } else {
            tracing::debug!(code, "no exchange with the secret store");
        }
        match refusal {
            HttpRefusal::TooLarge { .. } => Self::Unusable("comes in an answer larger than a secret may be"),
            HttpRefusal::Malformed { .. } => Self::Unusable("comes in an answer that is not HTTP"),
            _ => Self::Unavailable,
        }
    }
}
