//! Scion: a Rust SDK for governed connectors
