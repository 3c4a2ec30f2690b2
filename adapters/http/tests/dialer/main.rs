//! The dialer against real sockets.

mod exchange;
mod support;
