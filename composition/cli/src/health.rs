//! The health listener: `/health` and `/health/ready` on their own socket (`wire/mcp-surface.md` 7.1).

mod body;
mod listener;
mod route;

pub(crate) use listener::{HealthListener, HealthParts};
