//! The dialer against real sockets.

#![allow(clippy::unwrap_used, clippy::unnecessary_wraps, reason = "a test helper that cannot go on ends the test")]

mod bounds;
mod exchange;
mod hostile;
mod http2;
mod outcome;
mod pinning;
mod proxy;
mod redirects;
mod rotation;
mod support;
mod tls;
