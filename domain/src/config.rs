//! The configuration of `connector-sync` as values (`wire/mcp-surface.md` 7.1). Reading it from YAML or JSON text is the
//! business of the `scion-config` adapter.

mod health;
mod hint;
mod model;
mod problems;
mod refusal;

pub use health::{HealthAddress, HealthAddressRefusal};
pub use hint::{closest, hint};
pub use model::{ClientCredentials, ConnectorConfig, EndpointSpec, EndpointTarget, RunnerConfig, RunnerSettings};
pub use problems::{ConfigProblem, ConfigProblems};
pub use refusal::{ConfigRefusal, auth_url, endpoint_url};
