//! Use case: compare a live server with its own declaration.
//!
//! [`certify`] lists the tools of an open session, reads `connector://resources` and judges them
//! ([`scion_domain::certification`]). It calls no tool and writes nothing; what becomes of the report is the caller's business.
//! [`render`] turns reports into what a person or a CI system reads.
//!
//! ```no_run
//! # async fn example(session: &dyn scion_ports::McpSession) {
//! let report = scion_certify::certify(session, &scion_certify::CertifyOptions::default()).await;
//! assert!(report.passed(), "{}", report.to_text());
//! # }
//! ```

mod live;
mod options;
pub mod render;

pub use live::{certify, certify_endpoint};
pub use options::CertifyOptions;
