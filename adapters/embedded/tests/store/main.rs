//! The embedded store on real files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commit;
mod faults;
mod ids_and_numbers;
mod key_value;
mod messages;
mod model;
mod opening;
mod packs;
mod processes;
mod query;
mod reconcile;
mod relationships;
mod suites;
mod support;
mod work;
