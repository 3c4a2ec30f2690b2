//! The listener, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a hostile client writes its own bytes, to this machine alone")]

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
