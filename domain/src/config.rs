//! The configuration of `connector-sync` as values (`wire/mcp-surface.md` 7.1). Reading it from YAML or JSON text is the
//! business of the `scion-config` adapter.

mod model;

pub use model::{ClientCredentials, ConnectorConfig, EndpointSpec, EndpointTarget, RunnerConfig, RunnerSettings};
