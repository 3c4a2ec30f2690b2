//! GraphQL, embeddings and payments over real sockets and in virtual time.
#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

mod embedding;
mod graphql;
mod payments;
mod payments_race;
mod payments_served;
mod support;
