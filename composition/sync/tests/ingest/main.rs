//! The ingest use case against a small graph in memory that keeps the obligations of its ports.

#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

mod batches;
mod build;
mod contract;
mod graph;
mod mapping;
mod media;
mod projection;
mod stream;
mod sync;
mod tools;
