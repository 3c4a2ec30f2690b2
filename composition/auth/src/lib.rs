//! Outbound authentication: token sources, OAuth ceremonies, token checks.
