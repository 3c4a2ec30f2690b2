//! When to try again: pure decisions over values the caller brings (attempt, failure, remaining time, a random number).
//!
//! [`Backoff`] paces a supervised task that is tried for ever; [`RetryPolicy`] decides about one operation that has an end.

mod backoff;
mod policy;

#[cfg(test)]
mod tests;

use crate::refusals;

pub use backoff::Backoff;
pub use policy::{Attempt, Decision, GiveUp, RetryPolicy};

refusals! {
    /// Why a pace cannot work.
    pub enum RetryRefusal {
        /// The first delay is zero.
        NoDelay => "retry_without_delay", CallerMistake, Never,
            "the first delay is zero, so a failure would be repeated without a pause", "use a delay above zero";
        /// The longest delay is shorter than the first.
        MaximumBelowInitial { initial_ms: u128, maximum_ms: u128 } => "retry_maximum_below_initial", CallerMistake, Never,
            "the longest delay ({maximum_ms} ms) is below the first ({initial_ms} ms)",
            "raise backoff_max_seconds or lower backoff_initial_seconds";
        /// No attempt, or more than the bound.
        Attempts { attempts: u32, limit: u32 } => "retry_attempts_out_of_range", CallerMistake, Never,
            "{attempts} attempts; 1 to {limit} are allowed", "use a number of attempts inside the range";
    }
}
