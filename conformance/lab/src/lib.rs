//! Hostile and faithful servers on loopback for the tests of every fetch path.
//!
//! ```no_run
//! # async fn example() {
//! use scion_lab::{Answer, Behaviour, Lab};
//!
//! // Always the same answer, a sequence whose last part repeats, or a function of what was received.
//! let plain = Lab::always(Answer::ok("{}")).await;
//! let turns = Lab::sequence([Behaviour::from(Answer::status(503)), Answer::ok("{}").into()]).await;
//! let clever = Lab::scripted(|received| match received.path() {
//!     "/slow" => Behaviour::StallBeforeHead,
//!     _ => Answer::ok(received.header("authorization").unwrap_or("none")).into(),
//! })
//! .await;
//! // Point the code under test at plain.url("/path"), then ask what happened.
//! assert_eq!(plain.received().len(), 0);
//! assert_eq!(plain.connections(), 0);
//! # }
//! ```
//!
//! A server ends, and every connection with it, when its [`Lab`] is dropped. This is a test kit: it panics where it cannot go on.
#![allow(clippy::missing_panics_doc, reason = "a test helper that cannot go on ends the test")]

mod answer;
mod behaviour;
mod bomb;
mod gate;
mod h2;
mod hostile;
mod http1;
mod idp;
mod memory;
mod proxy;
mod received;
mod resolver;
mod server;
mod tls;

pub use answer::{Answer, Framing, RETRY_AFTER_FORMS};
pub use behaviour::{Behaviour, Lie};
pub use bomb::{Coding, encode, encode_zeros};
pub use gate::Gate;
pub use hostile::{Ending, HostileCase, hostile_cases, inside_locations, prepare_bombs, redirect_cases};
pub use idp::{Idp, IdpClient, IdpKey, Knobs, PASSWORD, Twist};
pub use memory::{forget_peak_memory, peak_memory};
pub use proxy::{ConnectProxy, ProxyPlan};
pub use received::Received;
pub use resolver::ScriptedResolver;
pub use server::{Lab, LabBuilder};
pub use tls::{Identity, TestCa, TlsSetup, TlsVersions};
