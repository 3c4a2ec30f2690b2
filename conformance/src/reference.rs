//! In-memory implementations that pass the suites. They hold the contract and nothing else: no durability, no speed.

mod access;
mod authority;
mod clock;
mod credentials;
mod key_values;
mod ledger;
mod memory_graph;
mod messages;
mod pages;
mod tokens;
mod work;
mod write_back;

pub use access::MemoryAccess;
pub use authority::{MemoryAuthority, MemoryRecorder, demand, grant_for};
pub use clock::{SeededEntropy, VirtualClock};
pub use credentials::MemoryCredentials;
pub use key_values::MemoryKeyValues;
pub use ledger::MemoryLedger;
pub use memory_graph::{EdgeView, MemoryGraph, RecordView};
pub use messages::MemoryMessages;
pub use pages::MemorySource;
pub use tokens::MemoryTokens;
pub use work::MemoryWork;
pub use write_back::MemoryVendor;
