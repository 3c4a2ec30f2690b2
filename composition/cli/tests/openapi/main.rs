//! `scion serve --openapi`: over real pipes, against a real local service.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod client;
mod example;
mod memory;
mod service;
