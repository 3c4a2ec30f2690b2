//! One outbound HTTP exchange as values: what is asked, within which bounds, and what came back.
//!
//! The types of the `http` crate are re-exported, so that ports and use cases name them without a dependency of their own.

mod exchange;
mod refusal;

pub use bytes::Bytes;
pub use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
pub use url::Url;

pub use exchange::{ExchangeLimits, HttpProfile, OutboundRequest, RedirectRule, ResponseHead};
pub use refusal::HttpRefusal;
