//! What most connectors use: `use scion::prelude::*;`.

#[cfg(feature = "http")]
pub use crate::{
    Api,
    http::{GovernedClient, LinkHeader, per_minute, per_second, segment},
};
pub use crate::{ApiError, Page, Timestamp};
pub use scion_domain::json::Json;
pub use scion_serve::ToolContext;
