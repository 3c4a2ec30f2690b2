//! The client over a scripted exchange, in virtual time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod auth;
mod calls;
mod flows;
mod pacing;
mod pages;
mod runner;
mod support;
