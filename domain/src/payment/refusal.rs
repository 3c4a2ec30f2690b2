use super::{Amount, PaymentLimit};
use crate::refusals;

refusals! {
    /// Why a payment a server asks for is not made. After any of these no payment header is sent.
    pub enum PaymentRefused {
        /// The amount does not fit what is left of a limit.
        OverBudget { amount: Amount, currency: String, limit: PaymentLimit } => "payment_over_budget", Denied, Never,
            "{amount} {currency} is more than the {limit} limit leaves", "raise the limit if the price is acceptable";
        /// Nobody approved it, or the approval was used before.
        NotApproved { amount: Amount, currency: String } => "payment_not_approved", Denied, Never,
            "{amount} {currency} was not approved", "approve the payment, then make the same request again";
        /// The call belongs to no request of an actor whom one could ask.
        NoContext => "payment_no_context", Denied, Never,
            "the call has no context in which a payment could be approved", "make the call from a served operation";
        /// No offer of the challenge is one that can be read, priced in the budget's currency, and paid.
        UnsupportedScheme => "payment_unsupported_scheme", Denied, Never,
            "no offer of the server can be paid here", "declare the asset and use a payer for its scheme";
    }
}

impl PaymentRefused {
    /// The closed word of the register: `over_budget`, `not_approved`, `no_context` or `unsupported_scheme`.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::OverBudget { .. } => "over_budget",
            Self::NotApproved { .. } => "not_approved",
            Self::NoContext => "no_context",
            Self::UnsupportedScheme => "unsupported_scheme",
        }
    }
}

refusals! {
    /// Why a payment that may be made was not made, or led nowhere.
    pub enum PaymentFailure {
        /// The gate said no.
        Refused { refused: PaymentRefused } => "payment_refused", Denied, Never,
            "{refused}", "see the refusal's own code";
        /// What has been spent today cannot be read or written, so that no limit can be kept.
        Ledger { code: &'static str } => "payment_ledger_unusable", Unavailable, Later,
            "the record of what was spent today cannot be used ({code})", "check the store; nothing was paid";
        /// The approval service does not answer.
        Approvals { code: &'static str } => "payment_approvals_unusable", Unavailable, Later,
            "approvals cannot be asked for ({code})", "check the approval service; nothing was paid";
        /// The payer could not pay.
        Payer { refusal: PayerRefusal } => "payment_payer_failed", Unavailable, Later,
            "{refusal}", "check the payer; nothing was sent to the server";
        /// The server asks again although the payment was sent.
        Rejected { amount: Amount, currency: String } => "payment_rejected", PeerMisbehaved, Never,
            "the server asks again after {amount} {currency} was sent", "look the payment up with its transaction id; it counts as spent";
    }
}

impl From<PaymentRefused> for PaymentFailure {
    fn from(refused: PaymentRefused) -> Self {
        Self::Refused { refused }
    }
}

refusals! {
    /// Why a payer cannot pay.
    pub enum PayerRefusal {
        /// The wallet or account refuses.
        Declined => "payer_declined", Denied, Never,
            "the payer declines", "check the account behind the payer";
        /// It does not answer.
        Unreachable => "payer_unreachable", Unavailable, Later,
            "the payer does not answer", "try again later";
        /// What it made cannot be sent as a header field.
        Unusable => "payer_unusable", PeerMisbehaved, Never,
            "the payer made a header that cannot be sent", "report it to the operator of the payer";
    }
}
