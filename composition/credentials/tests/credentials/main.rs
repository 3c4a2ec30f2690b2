//! Resolution under scope and authority.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

mod bound;
mod chain;
mod injection;
mod profiles;
mod property;
mod runtime;
mod sources;
mod support;
