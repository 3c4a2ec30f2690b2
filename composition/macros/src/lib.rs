//! Macros of the Scion SDK; use them through the facade crate `scion`.
