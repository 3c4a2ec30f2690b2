//! The sync use case over in-memory ports.

#![allow(unreachable_pub, reason = "the doubles are written to move to the conformance crate")]

mod desk;
mod support;
mod sweeps;
