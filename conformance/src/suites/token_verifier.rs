//! The suite of [`TokenVerifier`]. O3 is kept by the types: neither a refusal nor a verified token can show any text.

use std::sync::Arc;

use async_trait::async_trait;
use scion_domain::secret::Secret;
use scion_domain::served_security::TokenRefusal;
use scion_ports::TokenVerifier;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// What a good token says: its subject, its tenant, one of its scopes, and whom it is for.
pub const SUBJECT: &str = "ada";
#[allow(missing_docs, reason = "see SUBJECT")]
pub const TENANT: &str = "acme";
#[allow(missing_docs, reason = "see SUBJECT")]
pub const SCOPE: &str = "read";
#[allow(missing_docs, reason = "see SUBJECT")]
pub const AUDIENCE: &str = "desk";

/// The tokens of a storm, and the most questions that they may cause.
pub const STORM: u32 = 100;
#[allow(missing_docs, reason = "see STORM")]
pub const STORM_QUESTIONS: usize = 5;

/// A token to present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Good, with the texts above.
    Good,
    /// Good once; expired now.
    Expired,
    /// For another audience.
    OtherAudience,
    /// From another issuer.
    OtherIssuer,
    /// Not signed by the issuer, or never given out.
    Forged,
    /// Without an expiry.
    NoExpiry,
    /// Without an audience.
    NoAudience,
    /// Says it is signed with a key of this number, which nobody has.
    UnknownKey(u32),
}

/// Makes verifiers and tokens to test.
#[async_trait]
pub trait TokenVerifierFixture: Send + Sync {
    /// A fresh verifier.
    async fn verifier(&self) -> Arc<dyn TokenVerifier>;

    /// A verifier whose authority does not answer; `None` when there is no authority behind this kind.
    async fn unreachable(&self) -> Option<Arc<dyn TokenVerifier>>;

    /// A token; `None` when there is none of this sort among the tokens of this kind.
    async fn token(&self, kind: TokenKind) -> Option<Secret<String>>;

    /// How often the authority was asked so far.
    fn questions(&self) -> usize;
}

/// Runs every check.
pub async fn run(fixture: &dyn TokenVerifierFixture) -> Report {
    let mut report = Report::new("TokenVerifier");
    report.add("O1", "a_good_token_says_who_calls", good(fixture).await);
    report.add("O1", "an_expired_token_is_refused", refused(fixture, TokenKind::Expired).await);
    report.add("O1", "a_token_for_another_audience_is_refused", refused(fixture, TokenKind::OtherAudience).await);
    report.add("O1", "a_token_of_another_issuer_is_refused", refused(fixture, TokenKind::OtherIssuer).await);
    report.add("O1", "a_forged_token_is_refused", refused(fixture, TokenKind::Forged).await);
    report.add("O1", "a_token_without_an_expiry_is_refused", refused(fixture, TokenKind::NoExpiry).await);
    report.add("O1", "a_token_without_an_audience_is_refused", refused(fixture, TokenKind::NoAudience).await);
    report.add("O2", "a_silent_authority_is_unavailable", silent(fixture).await);
    report.add("O4", "a_storm_of_unknown_keys_asks_few_questions", storm(fixture).await);
    report
}

async fn good(fixture: &dyn TokenVerifierFixture) -> Checked {
    let Some(token) = fixture.token(TokenKind::Good).await else { return Err("the fixture has no good token".into()) };
    let verified = must!(fixture.verifier().await.verify(&token).await, "verify");
    ensure!(verified.subject.as_deref() == Some(SUBJECT), "another subject");
    ensure!(verified.tenant.as_deref() == Some(TENANT), "another tenant");
    ensure!(verified.scopes.contains(SCOPE), "the scope is missing");
    ensure!(verified.audiences.contains(AUDIENCE), "the audience is missing");
    Ok(())
}

async fn refused(fixture: &dyn TokenVerifierFixture, kind: TokenKind) -> Checked {
    let Some(token) = fixture.token(kind).await else { return Ok(()) };
    match fixture.verifier().await.verify(&token).await {
        Err(TokenRefusal::Unavailable) => Err("the authority answers, and the refusal says it does not".into()),
        Err(_) => Ok(()),
        Ok(_) => Err("the token was accepted".into()),
    }
}

async fn silent(fixture: &dyn TokenVerifierFixture) -> Checked {
    let Some(verifier) = fixture.unreachable().await else { return Ok(()) };
    let Some(token) = fixture.token(TokenKind::Good).await else { return Err("the fixture has no good token".into()) };
    match verifier.verify(&token).await {
        Err(TokenRefusal::Unavailable) => Ok(()),
        Err(other) => Err(format!("a silent authority was reported as {other}")),
        Ok(_) => Err("the token was accepted while its authority is silent".into()),
    }
}

async fn storm(fixture: &dyn TokenVerifierFixture) -> Checked {
    let verifier = fixture.verifier().await;
    let before = fixture.questions();
    for number in 0..STORM {
        let Some(token) = fixture.token(TokenKind::UnknownKey(number)).await else { return Ok(()) };
        ensure!(verifier.verify(&token).await.is_err(), "a token of an unknown key was accepted");
    }
    let asked = fixture.questions() - before;
    ensure!(asked <= STORM_QUESTIONS, "{STORM} tokens of unknown keys caused {asked} questions");
    Ok(())
}
