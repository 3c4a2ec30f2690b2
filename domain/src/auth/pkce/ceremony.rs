use std::fmt;

use super::{
    PersistReceipt, PkceAuthResult, PkceBinding, PkceChallenge, PkceEvidence, PkceRefusal, RedirectBinding,
    challenge_of,
};
use crate::auth::grant::authorization_url;
use crate::auth::{Discovery, Pkce};
use crate::base64::encode_url;
use crate::http::Url;
use crate::secret::Secret;

/// From the start to the receipt, in milliseconds (SDK-CONNECTOR-CONTROL-R046.2).
pub const TOTAL_DEADLINE_MS: i64 = 120_000;

/// The longest answer that is read, in bytes.
pub const MAX_REDIRECT_BYTES: usize = 8192;

/// Random bytes for one ceremony: 48 make the verifier of 64 characters.
#[derive(Clone, Copy)]
pub struct CeremonySeed {
    /// For the verifier.
    pub verifier: [u8; 48],
    /// For `state`.
    pub state: [u8; 32],
    /// For `nonce`.
    pub nonce: [u8; 32],
}

impl fmt::Debug for CeremonySeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CeremonySeed(REDACTED)")
    }
}

/// What to send to the token endpoint.
#[derive(Clone, Debug)]
pub struct CodeExchange {
    /// The code.
    pub code: Secret<String>,
    /// The verifier.
    pub verifier: Secret<String>,
    /// The redirect address of the authorization request.
    pub redirect_url: String,
    /// The nonce an ID token must carry.
    pub nonce: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// The person logs in.
    Waiting,
    /// The code is exchanged, the tokens are checked and kept.
    Exchanging,
    /// Kept.
    Ready(PersistReceipt),
    /// Over.
    Ended(PkceRefusal),
}

/// One login.
pub struct Ceremony {
    issuer: String,
    names_itself: bool,
    profile_revision: u32,
    token_ref: String,
    challenge: PkceChallenge,
    verifier: Secret<String>,
    state: Secret<String>,
    nonce: String,
    phase: Phase,
}

impl fmt::Debug for Ceremony {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ceremony")
            .field("challenge_ref", &self.challenge.binding.challenge_ref)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl Ceremony {
    /// Starts at `now_ms`. Refused when the issuer has no authorization endpoint or does not take S256.
    pub fn begin(
        config: &Pkce,
        issuer: &Discovery,
        binding: PkceBinding,
        redirect: RedirectBinding,
        seed: &CeremonySeed,
        now_ms: i64,
    ) -> Result<Self, PkceRefusal> {
        let endpoint = issuer.authorization.as_ref().filter(|_| issuer.challenges_s256);
        let endpoint = endpoint.ok_or(PkceRefusal::ProviderUnavailable)?;
        if redirect.mode != config.redirect_mode {
            return Err(PkceRefusal::InsecureRedirect);
        }
        let verifier = Secret::new(encode_url(&seed.verifier));
        let (state, nonce) = (Secret::new(encode_url(&seed.state)), encode_url(&seed.nonce));
        let authorization_url = authorization_url(
            endpoint,
            &[
                ("response_type", "code"),
                ("client_id", &config.client_id),
                ("redirect_uri", redirect.url.as_text()),
                ("scope", &config.scope),
                ("resource", &config.resource),
                ("state", state.expose()),
                ("nonce", &nonce),
                ("code_challenge", &challenge_of(verifier.expose())),
                ("code_challenge_method", "S256"),
            ],
        );
        let deadline_ms = now_ms.saturating_add(TOTAL_DEADLINE_MS);
        Ok(Self {
            issuer: issuer.issuer.clone(),
            names_itself: issuer.names_itself_in_callbacks,
            profile_revision: config.profile.revision,
            token_ref: config.token_ref.clone(),
            challenge: PkceChallenge { binding, redirect, deadline_ms, authorization_url },
            verifier,
            state,
            nonce,
            phase: Phase::Waiting,
        })
    }

    /// What the other side may see.
    pub const fn challenge(&self) -> &PkceChallenge {
        &self.challenge
    }

    /// What is left of the deadline, in milliseconds; 0 when it is over.
    pub fn remaining_ms(&self, now_ms: i64) -> u64 {
        match self.phase {
            Phase::Ended(_) => 0,
            _ => u64::try_from(self.challenge.deadline_ms.saturating_sub(now_ms)).unwrap_or(0),
        }
    }

    fn end<T>(&mut self, refusal: PkceRefusal) -> Result<T, PkceRefusal> {
        self.phase = Phase::Ended(refusal.clone());
        Err(refusal)
    }

    /// An answer arrives from a caller, as the complete redirect address. It is taken once; what does not fit ends the login.
    /// No token request may follow a refusal.
    pub fn answer(
        &mut self,
        from: &PkceBinding,
        redirect: &Secret<String>,
        now_ms: i64,
    ) -> Result<CodeExchange, PkceRefusal> {
        match &self.phase {
            Phase::Waiting => {}
            Phase::Ended(refusal) => return Err(refusal.clone()),
            // The login that came first stays; the repeated answer gets nothing.
            Phase::Ready(_) => return Err(PkceRefusal::StateMismatch),
            Phase::Exchanging => return self.end(PkceRefusal::StateMismatch),
        }
        if now_ms >= self.challenge.deadline_ms {
            return self.end(PkceRefusal::InputTimeout);
        }
        // Another caller cannot end the login of this one by guessing.
        if *from != self.challenge.binding {
            return Err(PkceRefusal::StateMismatch);
        }
        match self.read(redirect) {
            Ok(code) => {
                self.phase = Phase::Exchanging;
                Ok(CodeExchange {
                    code,
                    verifier: self.verifier.clone(),
                    redirect_url: self.challenge.redirect.url.as_text().to_owned(),
                    nonce: self.nonce.clone(),
                })
            }
            Err(refusal) => self.end(refusal),
        }
    }

    fn read(&self, redirect: &Secret<String>) -> Result<Secret<String>, PkceRefusal> {
        let text = redirect.expose().trim_matches(|c: char| c.is_ascii_whitespace());
        if text.len() > MAX_REDIRECT_BYTES || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(PkceRefusal::StateMismatch);
        }
        let url = Url::parse(text).map_err(|_| PkceRefusal::StateMismatch)?;
        if !self.challenge.redirect.fits(&url) {
            return Err(PkceRefusal::InsecureRedirect);
        }
        // A parameter given twice is given by two parties.
        let once = |name: &str| {
            let mut values = url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
            match (values.next(), values.next()) {
                (value, None) => Ok(value.map(Secret::new)),
                _ => Err(PkceRefusal::StateMismatch),
            }
        };
        let state = once("state")?.ok_or(PkceRefusal::StateMismatch)?;
        if !equal(state.expose(), self.state.expose()) {
            return Err(PkceRefusal::StateMismatch);
        }
        match once("iss")? {
            Some(named) if *named.expose() != self.issuer => return Err(PkceRefusal::StateMismatch),
            None if self.names_itself => return Err(PkceRefusal::StateMismatch),
            _ => {}
        }
        if let Some(error) = once("error")? {
            return Err(match error.expose().as_str() {
                "access_denied" => PkceRefusal::Cancelled,
                "interaction_required" | "login_required" | "consent_required" => PkceRefusal::InteractionRequired,
                _ => PkceRefusal::ProviderUnavailable,
            });
        }
        match once("code")? {
            Some(code) if (1..=4096).contains(&code.expose().len()) => Ok(code),
            _ => Err(PkceRefusal::ProviderUnavailable),
        }
    }

    /// Whether the exchange may go on; the deadline holds in each phase.
    pub fn check(&mut self, now_ms: i64) -> Result<(), PkceRefusal> {
        match &self.phase {
            Phase::Ended(refusal) => Err(refusal.clone()),
            _ if now_ms >= self.challenge.deadline_ms => self.end(PkceRefusal::Expired),
            _ => Ok(()),
        }
    }

    /// A phase failed.
    pub fn fail(&mut self, refusal: PkceRefusal) -> PkceRefusal {
        if let Phase::Ended(first) = &self.phase {
            return first.clone();
        }
        self.phase = Phase::Ended(refusal.clone());
        refusal
    }

    /// The tokens are kept. Only now the login is ready.
    pub fn persisted(&mut self, receipt: PersistReceipt, now_ms: i64) -> Result<PkceAuthResult, PkceRefusal> {
        self.check(now_ms)?;
        if self.phase != Phase::Exchanging {
            return self.end(PkceRefusal::StateMismatch);
        }
        self.phase = Phase::Ready(receipt.clone());
        Ok(PkceAuthResult {
            token_ref: self.token_ref.clone(),
            receipt,
            operation: self.challenge.binding.operation,
            evidence: self.evidence(),
        })
    }

    /// What is recorded, whatever the outcome.
    pub fn evidence(&self) -> PkceEvidence {
        let binding = &self.challenge.binding;
        PkceEvidence {
            issuer: self.issuer.clone(),
            profile_revision: self.profile_revision,
            redirect_mode: self.challenge.redirect.mode,
            binding_digest: binding.digest().to_hex(),
            challenge_ref: binding.challenge_ref.clone(),
            outcome: match &self.phase {
                Phase::Waiting | Phase::Exchanging => "pending",
                Phase::Ready(_) => "ready",
                Phase::Ended(refusal) => refusal.reason(),
            },
            deadline_ms: self.challenge.deadline_ms,
            token_ref: self.token_ref.clone(),
            receipt: match &self.phase {
                Phase::Ready(receipt) => Some(receipt.clone()),
                _ => None,
            },
            grant_ref: binding.grant_ref.clone(),
        }
    }
}

/// Compares without telling by its time how much is right.
fn equal(left: &str, right: &str) -> bool {
    left.len() == right.len()
        && left.bytes().zip(right.bytes()).fold(0u8, |differs, (left, right)| differs | (left ^ right)) == 0
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
