//! Every fetch path of the workspace against every hostile answer of the lab.
//!
//! A fetch path is a place in the sources where a request leaves through `HttpExchange::send`. `sources.rs` finds those places by
//! reading the sources and fails on one that is in no entry of `paths.rs`; `table.rs` runs each entry. CONTRIBUTING.md says how to
//! add one.
#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

mod egress;
mod paths;
mod pool;
mod random_walk;
mod sources;
mod stage;
mod table;
mod tls;
