//! Small values every connector needs: coercions of configuration values, who acts, and what a client can fail with.
//!
//! The peer's `get_logger` has no counterpart: `tracing` events carry their module as the target.

mod actor;
mod client_refusal;
mod coerce;
mod expand;

pub use actor::ActorType;
pub use client_refusal::ClientRefusal;
pub use coerce::{ValueRefusal, to_boolean, to_csv, to_dict, to_float, to_integer, to_list};
pub use expand::{ExpandRefusal, expand};
