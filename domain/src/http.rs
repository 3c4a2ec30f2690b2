//! One outbound HTTP exchange as values: what is asked, within which bounds, and what came back.
//!
//! The types of the `http` crate are re-exported, so that ports and use cases name them without a dependency of their own.

mod call_refusal;
mod client_options;
mod exchange;
mod pace;
mod problem;
mod profile_settings;
mod rate;
mod refusal;
mod response_refusal;
mod retry_after;
mod retry_decision;

pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use url::Url;

pub use call_refusal::CallRefusal;
pub use client_options::{ClientOptions, checked_header};
pub use exchange::{ExchangeLimits, HttpProfile, OutboundRequest, RedirectRule, ResponseHead};
pub use pace::{Rate, RetryBudget, Turns, per_minute, per_second};
pub use problem::{Problem, problem_of_exchange};
pub use rate::{RateSnapshot, Reset, throttle_wait};
pub use refusal::HttpRefusal;
pub use response_refusal::ResponseRefusal;
pub use retry_after::retry_after;
pub use retry_decision::{AttemptEnd, AttemptFacts, RetryRules, is_idempotent, is_retryable_status};
