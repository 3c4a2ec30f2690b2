//! Port suites. Each takes a fixture that makes fresh instances of the implementation under test and answers a
//! [`Report`](crate::report::Report) with one outcome per check.

pub mod access_authority;
pub mod access_check;
pub mod change_envelopes;
pub mod change_feed_reader;
pub mod checkpoint_store;
pub mod credential_provider;
pub mod effect_receipts;
pub mod graph_query;
pub mod http_exchange;
pub mod jwt;
pub mod key_value;
pub mod mcp_session;
pub mod message_stream;
pub mod record_digests;
pub mod shacl;
pub mod sink;
pub mod source_adapter;
pub mod token_store;
pub mod token_verifier;
pub mod work;
pub mod write_back_ledger;
pub mod write_back_transport;
