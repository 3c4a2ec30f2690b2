use scion_domain::resource_descriptor::{AccessKind, ResourcePagination as Paging};
use scion_domain::transport_contract::{AuthModel, Pushdown, Transport};

/// What this crate carries, for the registry of transports: tools of MCP servers. Pages and pushdown travel as arguments of the
/// tool.
pub fn transport() -> Transport {
    Transport::new(AccessKind::McpTool, "scion_mcp_client", env!("CARGO_PKG_VERSION"))
        .auth([AuthModel::Bearer, AuthModel::ClientCredentials, AuthModel::Pkce, AuthModel::RefreshToken])
        .pages([Paging::Cursor, Paging::Offset, Paging::Page])
        .pushes_down([Pushdown::Filter, Pushdown::Project, Pushdown::Limit, Pushdown::Sort])
}
