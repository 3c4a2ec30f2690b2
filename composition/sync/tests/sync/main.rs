//! The sync use case over in-memory ports.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the doubles are written to move to the conformance crate")]

mod bad_input;
mod budgets;
mod commits;
mod desk;
mod edges;
mod fan_out;
mod gate;
mod health;
mod points;
mod property;
mod reconcile;
mod runs;
mod stages;
mod suite;
mod supervision;
mod support;
mod sweeps;
