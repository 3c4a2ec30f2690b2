//! Who may have a credential resolved: the demand, the grant an authority answers, and the comparison of the two
//! (SDK-CONNECTOR-CONTROL-R035).

mod binding;
mod demand;
mod evidence;

pub use binding::{AccessReceipts, BindingFacts, CredentialAccessBinding, CurrentGrant};
pub use demand::{AccessDemand, TokenProfilePin};
pub use evidence::{AccessOutcome, CredentialEvidence, GrantEvidence};

use crate::refusals;

refusals! {
    /// The closed reasons for which a credential is not resolved under an access authority. None of them names a value.
    pub enum CredentialAccessRefusal {
        /// The reference or a requested scope is outside what is granted.
        ScopeDenied => "scope_denied", Denied, Never,
            "the credential or one of the scopes is outside the grant", "ask for less, or have the grant widened";
        /// The grant is for somebody or something else; `what` is the first part that differs.
        BindingMismatch { what: &'static str } => "binding_mismatch", Denied, Never,
            "the grant is for another {what}", "have this caller granted what it asks for";
        /// The grant has run out.
        GrantExpired => "grant_expired", Denied, Never,
            "the grant has expired", "have it renewed";
        /// The grant was taken back.
        Revoked => "revoked", Denied, Never,
            "the grant was revoked", "have it granted again";
        /// The authority does not answer, or what it decides cannot be recorded.
        AuthorityUnavailable => "authority_unavailable", Unavailable, Later,
            "the access authority does not answer", "check the authority; nothing is resolved without it";
        /// Access is granted and the credential was not resolved all the same; `cause` is the code of the credential refusal.
        CredentialUnavailable { cause: &'static str } => "credential_unavailable", Unavailable, Later,
            "the granted credential was not resolved ({cause})", "see the cause for what to do";
    }
}

refusals! {
    /// Why the facts of an authority or of a caller cannot be used.
    pub enum AccessFactRefusal {
        /// A text is empty, too long, or has control characters.
        Text { fact: &'static str } => "access_fact_text", CallerMistake, Never,
            "the access fact {fact} is empty, longer than 256 bytes or has control characters", "give it a plain name";
        /// Too many scopes.
        Scopes { limit: usize } => "access_fact_scopes", CallerMistake, Never,
            "there are more than {limit} scopes", "split the demand";
    }
}

/// The most scopes of a demand or a grant.
const MAX_SCOPES: usize = 64;

fn check_text(fact: &'static str, text: &str) -> Result<(), AccessFactRefusal> {
    if (1..=256).contains(&text.len()) && !text.chars().any(char::is_control) {
        return Ok(());
    }
    Err(AccessFactRefusal::Text { fact })
}

fn check_scopes(scopes: &std::collections::BTreeSet<String>) -> Result<(), AccessFactRefusal> {
    if scopes.len() > MAX_SCOPES {
        return Err(AccessFactRefusal::Scopes { limit: MAX_SCOPES });
    }
    scopes.iter().try_for_each(|scope| check_text("scope", scope))
}
