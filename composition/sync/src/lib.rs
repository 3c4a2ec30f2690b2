//! Use cases: ingest, source synchronisation, stages and supervision

pub mod ingest;
pub mod mapping;
pub mod request;
pub mod stream;
pub mod tools;
