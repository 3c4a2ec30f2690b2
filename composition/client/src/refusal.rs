//! One type for everything a call can be refused with.

use scion_domain::auth::AuthRefusal;
use scion_domain::http::{CallRefusal, HttpRefusal, Method, Problem, ResponseRefusal, problem_of_exchange};
use scion_domain::outbound::OutboundSettingRefusal;
use scion_domain::pagination::http::WalkRefusal;
use scion_domain::payment::PaymentFailure;
use scion_domain::refusal::Refusal;

/// Why a call failed. Each part keeps its own code, blame and next step; none holds a secret or a vendor's words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientRefusal {
    /// The client itself does not make the call.
    Call(CallRefusal),
    /// The request cannot be authenticated.
    Auth(AuthRefusal),
    /// No answer came.
    Exchange(HttpRefusal),
    /// The answer is not what was asked for.
    Response(ResponseRefusal),
    /// The pages cannot be walked.
    Walk(WalkRefusal),
    /// The server asks for a payment that was not made, or led nowhere.
    Payment(PaymentFailure),
    /// The program has no way out as its operator configured it.
    Settings(OutboundSettingRefusal),
}

impl ClientRefusal {
    fn inner(&self) -> &dyn Refusal {
        match self {
            Self::Call(refusal) => refusal,
            Self::Auth(refusal) => refusal,
            Self::Exchange(refusal) => refusal,
            Self::Response(refusal) => refusal,
            Self::Walk(refusal) => refusal,
            Self::Payment(PaymentFailure::Refused { refused }) => refused,
            Self::Payment(failure) => failure,
            Self::Settings(refusal) => refusal,
        }
    }

    /// The vendor does not accept the credential, or not for this call.
    pub fn is_auth(&self) -> bool {
        match self {
            Self::Auth(refusal) => matches!(refusal, AuthRefusal::Rejected { .. }),
            Self::Response(refusal) => refusal.is_auth(),
            _ => false,
        }
    }

    /// The problem (RFC 9457) of a call that brought no answer, in the peer's types; the URL in it is redacted.
    pub fn exchange_problem(&self, method: &Method, url: &str) -> Option<Problem> {
        match self {
            Self::Exchange(refusal) => Some(problem_of_exchange(refusal, method, url)),
            _ => None,
        }
    }
}

/// For an enum of refusals with an `inner`: it answers as the refusal inside does, and is made from each of its parts.
macro_rules! answers_as_inner {
    ($whole:ident: $($part:ident => $variant:ident),*) => {
        impl std::fmt::Display for $whole {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self.inner(), f)
            }
        }

        impl std::error::Error for $whole {}

        impl scion_domain::refusal::Refusal for $whole {
            fn code(&self) -> &'static str {
                self.inner().code()
            }

            fn blame(&self) -> scion_domain::refusal::Blame {
                self.inner().blame()
            }

            fn retry(&self) -> scion_domain::refusal::Retry {
                self.inner().retry()
            }

            fn next_step(&self) -> &'static str {
                self.inner().next_step()
            }
        }

        $(impl From<$part> for $whole {
            fn from(refusal: $part) -> Self {
                Self::$variant(refusal)
            }
        })*
    };
}
pub(crate) use answers_as_inner;

answers_as_inner!(ClientRefusal: CallRefusal => Call, AuthRefusal => Auth, HttpRefusal => Exchange, ResponseRefusal => Response, WalkRefusal => Walk, PaymentFailure => Payment, OutboundSettingRefusal => Settings);
