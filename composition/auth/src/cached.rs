//! Tokens with one renewal at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use scion_domain::auth::{AuthRefusal, Flight, Outcome, Reason, Step};
use scion_domain::secret::Secret;
use scion_ports::Clock;
use tokio::sync::watch;

/// A token and when it expires.
#[derive(Clone, Debug)]
pub(crate) struct Minted {
    pub value: Secret<String>,
    pub expires_at_ms: i64,
}

/// Gets a new token.
#[async_trait]
pub(crate) trait Mint: Send + Sync + 'static {
    /// `held` is the token that expired or was refused.
    async fn mint(&self, held: Option<&Secret<String>>) -> Result<Minted, AuthRefusal>;
}

type Answer = Option<Result<(), AuthRefusal>>;

/// Renewals that may fail one after the other before an authority is left alone for a while.
const FAILURES: u32 = 3;

/// The first and the longest such while, in milliseconds; it doubles with each further failure.
const PAUSE_MS: (i64, i64) = (1_000, 32_000);

/// Renewals that refused tokens may cause within [`FORCED_WINDOW_MS`]. A server that refuses every token, right or wrong, must not be
/// able to make each call a login: no renewal fails then, so no pause would ever begin.
const FORCED: usize = 5;

/// In milliseconds.
const FORCED_WINDOW_MS: i64 = 60_000;

#[derive(Default)]
struct State {
    flight: Flight,
    value: Option<Secret<String>>,
    answer: Option<watch::Receiver<Answer>>,
    failures: u32,
    /// Until when the authority is left alone, and what it said last. Calls without end must not become logins without end: vendors
    /// lock accounts for that.
    pause: Option<(i64, AuthRefusal)>,
    /// When tokens were renewed because a server refused them, within the window; and the generation that was refused last.
    forced: VecDeque<i64>,
    forced_for: Option<u64>,
}

impl State {
    fn failed(&mut self, refusal: &AuthRefusal, now: i64) {
        // Others were decided here: the authority was not asked, or did not say no.
        if !matches!(refusal, AuthRefusal::Rejected { .. } | AuthRefusal::Unreachable { .. }) {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        if let Some(further) = self.failures.checked_sub(FAILURES) {
            let pause = (PAUSE_MS.0 << further.min(16)).min(PAUSE_MS.1);
            self.pause = Some((now.saturating_add(pause), refusal.clone()));
        }
    }

    /// Whether the refusal of a generation may lead to a renewal. All callers whose token was of this generation share one.
    fn may_force(&mut self, generation: u64, now: i64) -> bool {
        if generation != self.flight.generation() || self.forced_for == Some(generation) {
            return true;
        }
        // A time ahead of now is from before the clock was set back.
        self.forced.retain(|at| (0..FORCED_WINDOW_MS).contains(&now.saturating_sub(*at)));
        if self.forced.len() >= FORCED {
            return false;
        }
        self.forced.push_back(now);
        self.forced_for = Some(generation);
        true
    }

    /// The last refusal, while the authority is left alone. A clock that was set back ends it.
    fn paused(&self, now: i64) -> Option<AuthRefusal> {
        let (until, refusal) = self.pause.as_ref()?;
        (1..=PAUSE_MS.1).contains(&until.saturating_sub(now)).then(|| refusal.clone())
    }
}

struct Inner {
    mint: Arc<dyn Mint>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

/// The token of one credential, shared by all callers.
#[derive(Clone)]
pub(crate) struct CachedTokens {
    inner: Arc<Inner>,
}

/// Ends a renewal that panicked: without it everybody would wait for ever.
struct Unfinished {
    inner: Arc<Inner>,
    ticket: u64,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let now = self.inner.clock.unix_millis();
        self.inner.lock().flight.finish(self.ticket, Outcome::Unreachable, now);
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a task of its own: a caller that goes away, the first one included, must not lose a rotated token.
    fn renew(self: &Arc<Self>, ticket: u64, held: Option<Secret<String>>, answer: watch::Sender<Answer>) {
        let inner = self.clone();
        tokio::spawn(async move {
            let unfinished = Unfinished { inner: inner.clone(), ticket };
            let minted = inner.mint.mint(held.as_ref()).await;
            let now = inner.clock.unix_millis();
            let result = {
                let mut state = inner.lock();
                match minted {
                    Ok(minted) => {
                        (state.failures, state.pause) = (0, None);
                        state.value = Some(minted.value);
                        let expires_at_ms = minted.expires_at_ms;
                        state.flight.finish(ticket, Outcome::Renewed { expires_at_ms }, now);
                        Ok(())
                    }
                    Err(refusal) => {
                        let outcome = match refusal {
                            AuthRefusal::Rejected { .. } | AuthRefusal::Login { .. } => Outcome::Rejected,
                            _ => Outcome::Unreachable,
                        };
                        state.flight.finish(ticket, outcome, now);
                        state.failed(&refusal, now);
                        Err(refusal)
                    }
                }
            };
            drop(unfinished);
            answer.send_replace(Some(result));
        });
    }
}

impl CachedTokens {
    pub(crate) fn new(mint: Arc<dyn Mint>, clock: Arc<dyn Clock>) -> Self {
        Self { inner: Arc::new(Inner { mint, clock, state: Mutex::default() }) }
    }

    /// A server refused the token of a generation: whether there is a newer one now. At most five renewals a minute come from this;
    /// further ones are answered with `false`, and the token stays in use.
    pub(crate) async fn rejected(&self, generation: u64) -> Result<bool, AuthRefusal> {
        if !self.inner.lock().may_force(generation, self.inner.clock.unix_millis()) {
            tracing::warn!("renewed tokens are refused again and again; the next renewal waits");
            return Ok(false);
        }
        let (now, _) = self.get(Reason::Rejected(generation)).await?;
        Ok(now > generation)
    }

    /// The token to use now and its generation.
    pub(crate) async fn get(&self, reason: Reason) -> Result<(u64, Secret<String>), AuthRefusal> {
        let mut answer = {
            let mut state = self.inner.lock();
            let now = self.inner.clock.unix_millis();
            match state.flight.ask(reason, now) {
                Step::Use(generation) => return present(&state, generation),
                Step::Lead(ticket) => {
                    if let Some(refusal) = state.paused(now) {
                        state.flight.finish(ticket, Outcome::Unreachable, now);
                        return or_present(&state, reason, now, refusal);
                    }
                    let (sender, receiver) = watch::channel(None);
                    state.answer = Some(receiver.clone());
                    self.inner.renew(ticket, state.value.clone(), sender);
                    receiver
                }
                Step::Wait(_) => state.answer.clone().ok_or_else(broken)?,
            }
        };
        let result = match answer.wait_for(Option::is_some).await {
            Ok(result) => result.clone().unwrap_or_else(|| Err(broken())),
            Err(_) => Err(broken()),
        };
        let state = self.inner.lock();
        match result {
            Ok(()) => present(&state, state.flight.generation()),
            Err(refusal) => or_present(&state, reason, self.inner.clock.unix_millis(), refusal),
        }
    }
}

/// A renewal failed: the token at hand while it is valid, unless a server refused it.
fn or_present(
    state: &State,
    reason: Reason,
    now: i64,
    refusal: AuthRefusal,
) -> Result<(u64, Secret<String>), AuthRefusal> {
    match state.flight.still_valid(now) {
        Some(generation) if !matches!(reason, Reason::Rejected(_)) => present(state, generation),
        _ => Err(refusal),
    }
}

fn present(state: &State, generation: u64) -> Result<(u64, Secret<String>), AuthRefusal> {
    state.value.clone().map(|value| (generation, value)).ok_or_else(broken)
}

/// Only after a panic inside a renewal.
fn broken() -> AuthRefusal {
    AuthRefusal::Unreachable { authority: "the renewal".to_owned() }
}
