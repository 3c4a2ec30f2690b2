//! Settings of a served connector, structured and checked once (SDK-CONNECTOR-CONTROL-R016, R029), and configuration
//! documents as environments (R780.5). Reading the process's environment is the business of `scion-local`.

mod agent_config;
mod document;
mod embedding;
mod reader;
mod refusal;

pub use agent_config::{AgentConfig, AuthKind, AuthSettings, LimitSettings, TransportKind, TransportSettings};
pub use document::load_config;
pub use embedding::{EmbeddingProvider, EmbeddingSettings};
pub use refusal::{DocumentRefusal, SettingRefusal, SettingsProblems};
