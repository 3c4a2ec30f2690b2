//! The listener, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod boundary;
mod callers;
mod confirmation;
mod limits;
mod network;
mod ours;
mod protocol;
mod routes;
mod sse;
mod vectors;
mod wire;
