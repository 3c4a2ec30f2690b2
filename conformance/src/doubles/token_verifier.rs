//! Wrong token verifiers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion_domain::json::{JsonObject, parse};
use scion_domain::secret::Secret;
use scion_domain::served_security::{TokenRefusal, VerifiedToken};
use scion_ports::TokenVerifier;

use crate::suites::token_verifier::{TokenKind, TokenVerifierFixture};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifierFlaw {
    /// Nothing; the reference.
    None,
    /// Accepts nothing.
    RefusesAll,
    /// Accepts one sort of tokens that it must refuse.
    Accepts(TokenKind),
    /// Accepts tokens while the authority is silent.
    AcceptsInSilence,
    /// Calls tokens bad while the authority is silent.
    BlamesTheToken,
    /// Asks the authority for every token.
    AlwaysAsks,
}

impl VerifierFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::RefusesAll,
        Self::Accepts(TokenKind::Expired),
        Self::Accepts(TokenKind::OtherAudience),
        Self::Accepts(TokenKind::OtherIssuer),
        Self::Accepts(TokenKind::Forged),
        Self::Accepts(TokenKind::NoExpiry),
        Self::Accepts(TokenKind::NoAudience),
        Self::AcceptsInSilence,
        Self::BlamesTheToken,
        Self::AlwaysAsks,
    ];
}

/// Tokens of this fixture are the names of their kinds.
struct FlawedVerifier {
    flaw: VerifierFlaw,
    silent: bool,
    asked: AtomicUsize,
    questions: Arc<AtomicUsize>,
}

fn verified() -> VerifiedToken {
    let claims = r#"{"sub":"ada","tenant_id":"acme","scope":"read","aud":"desk","exp":4000000000}"#;
    let claims: JsonObject = parse(claims).ok().and_then(|json| json.as_object().cloned()).unwrap_or_default();
    VerifiedToken::from_claims(claims)
}

#[async_trait]
impl TokenVerifier for FlawedVerifier {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        if self.asked.fetch_add(1, Ordering::SeqCst) == 0 || self.flaw == VerifierFlaw::AlwaysAsks {
            self.questions.fetch_add(1, Ordering::SeqCst);
        }
        if self.silent {
            return match self.flaw {
                VerifierFlaw::AcceptsInSilence => Ok(verified()),
                VerifierFlaw::BlamesTheToken => Err(TokenRefusal::Invalid),
                _ => Err(TokenRefusal::Unavailable),
            };
        }
        let accepted = match self.flaw {
            VerifierFlaw::RefusesAll => false,
            VerifierFlaw::Accepts(kind) if *token.expose() == format!("{kind:?}") => true,
            _ => *token.expose() == format!("{:?}", TokenKind::Good),
        };
        if accepted { Ok(verified()) } else { Err(TokenRefusal::Invalid) }
    }
}

/// A fixture of flawed verifiers.
#[derive(Debug)]
pub struct FlawedVerifiers {
    flaw: VerifierFlaw,
    questions: Arc<AtomicUsize>,
}

impl FlawedVerifiers {
    /// With a flaw.
    pub fn new(flaw: VerifierFlaw) -> Self {
        Self { flaw, questions: Arc::default() }
    }

    fn open(&self, silent: bool) -> Arc<dyn TokenVerifier> {
        let questions = self.questions.clone();
        Arc::new(FlawedVerifier { flaw: self.flaw, silent, asked: AtomicUsize::new(0), questions })
    }
}

#[async_trait]
impl TokenVerifierFixture for FlawedVerifiers {
    async fn verifier(&self) -> Arc<dyn TokenVerifier> {
        self.open(false)
    }

    async fn unreachable(&self) -> Option<Arc<dyn TokenVerifier>> {
        Some(self.open(true))
    }

    async fn token(&self, kind: TokenKind) -> Option<Secret<String>> {
        Some(Secret::new(format!("{kind:?}")))
    }

    fn questions(&self) -> usize {
        self.questions.load(Ordering::SeqCst)
    }
}
