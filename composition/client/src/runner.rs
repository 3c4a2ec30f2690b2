//! Retry, fallback and deadline for an operation that is not an HTTP call.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use scion_domain::refusal::Refusal;
use scion_domain::retry::{Attempt, Decision, RetryPolicy};
use scion_ports::{Clock, Entropy};

/// Runs operations under a [`RetryPolicy`] and one total deadline.
#[derive(Clone)]
pub struct Runner {
    policy: RetryPolicy,
    total: Duration,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("policy", &self.policy).field("total", &self.total).finish_non_exhaustive()
    }
}

/// How an operation ended that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFailure<E> {
    /// The last attempt was refused so.
    Refused(E),
    /// The deadline came first; `last` is the refusal before it, when there was one.
    Deadline {
        /// The refusal of the last attempt that ended.
        last: Option<E>,
    },
}

impl Runner {
    /// A runner. All attempts and waits of one operation share `total`.
    pub fn new(policy: RetryPolicy, total: Duration, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { policy, total, clock, entropy }
    }

    /// Runs an operation that may be done twice, until it succeeds, its refusal says that trying again does not help, the
    /// attempts are used, or the deadline is over. The attempt's number, from 1, is handed in.
    pub async fn run<T, E, F>(&self, mut operation: impl FnMut(u32) -> F) -> Result<T, RunFailure<E>>
    where
        E: Refusal,
        F: Future<Output = Result<T, E>>,
    {
        let deadline = self.clock.monotonic().saturating_add(self.total);
        let left = || deadline.saturating_sub(self.clock.monotonic());
        let mut last = None;
        for number in 1.. {
            let ended = {
                let attempt = std::pin::pin!(operation(number));
                match select(attempt, self.clock.sleep(left())).await {
                    Either::Left((ended, _)) => ended,
                    Either::Right(_) => return Err(RunFailure::Deadline { last }),
                }
            };
            let refusal = match ended {
                Ok(value) => return Ok(value),
                Err(refusal) => refusal,
            };
            let attempt = Attempt {
                number,
                retry: refusal.retry(),
                idempotent: true,
                not_sent: false,
                retry_after: None,
                remaining: Some(left()),
            };
            let mut random = [0; 8];
            self.entropy.fill(&mut random);
            match self.policy.decide(&attempt, u64::from_le_bytes(random)) {
                Decision::GiveUp(_) => return Err(RunFailure::Refused(refusal)),
                Decision::After(wait) => self.clock.sleep(wait).await,
            }
            last = Some(refusal);
        }
        Err(RunFailure::Deadline { last })
    }

    /// As [`Runner::run`]; when the operation fails for good, the fallback decides what to answer.
    pub async fn run_or<T, E, F, G>(
        &self,
        operation: impl FnMut(u32) -> F,
        fallback: impl FnOnce(RunFailure<E>) -> G,
    ) -> Result<T, RunFailure<E>>
    where
        E: Refusal,
        F: Future<Output = Result<T, E>>,
        G: Future<Output = Result<T, RunFailure<E>>>,
    {
        match self.run(operation).await {
            Ok(value) => Ok(value),
            Err(failure) => fallback(failure).await,
        }
    }
}
