//! The two commands as processes, against real server processes and a real store.

#![allow(clippy::unwrap_used, clippy::format_push_string, reason = "helpers of tests end a test by a panic")]

mod support;

mod bad_input;
mod bad_store;
mod certify;
mod contract;
mod doctor;
mod drain;
mod engine;
mod exits;
mod health;
mod interop;
mod logs;
mod oauth;
mod once;
mod pack;
mod progress;
mod query;
mod refusals;
mod stages;
mod status;
mod worker;
