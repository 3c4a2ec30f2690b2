//! The test kit of Scion.
//!
//! - [`suites`]: one suite per port, one check per obligation; run them on your own implementation.
//! - [`reference`](mod@reference): in-memory implementations that pass them, for tests of use cases.
//! - [`doubles`]: implementations that are wrong on purpose, one per check, so that every check is known to be able to fail.
//! - [`served_example`]: a server with exactly the tools and the declaration of the `declaration` vectors.
//! - [`fixtures`]: small batches, packs and pages to test with.
//! - [`scan`]: finds TLS checks that are switched off and clients beside the governed one in the source of connectors.
//! - [`tool_snapshot`]: the tools of a connector as a file, so that none changes unannounced.
//! - [`simulation`]: seeded runs of the sync use cases in virtual time.
//!
//! A suite takes a fixture that hands out fresh instances of your type and answers a [`report`] with one line per check. The
//! programs beside it: `simulate`, `kill-test`, `bench`, `seeded-source`, `spec-report` and `scan-tls`.

pub mod doubles;
pub mod fixtures;
pub mod reference;
pub mod report;
pub mod scan;
pub mod served_example;
pub mod simulation;
pub mod suites;
pub mod tool_snapshot;

/// The file of the embedded graph below a state directory, as `connector-sync` lays it out.
pub const STORE_FILE: &str = "graph.db";
