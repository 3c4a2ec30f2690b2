//! What this crate carries, for the registry of transports (SDK-CONNECTOR-CONTROL-R069.2).

use scion_domain::resource_descriptor::{AccessKind, ResourcePagination as Paging};
use scion_domain::transport_contract::{AuthModel, Pushdown, Transport};

/// The transports of HTTP APIs and of GraphQL. Both know every auth declaration; what is pushed down travels as parameters of the
/// request or arguments of the query.
pub fn transports() -> [Transport; 2] {
    let with = |protocol, module| {
        let pushdown = [Pushdown::Filter, Pushdown::Project, Pushdown::Limit, Pushdown::Sort];
        Transport::new(protocol, module, env!("CARGO_PKG_VERSION"))
            .auth(AuthModel::ALL.iter().copied())
            .pushes_down(pushdown)
    };
    [
        with(AccessKind::HttpEndpoint, "scion_client").pages([
            Paging::Cursor,
            Paging::Offset,
            Paging::Page,
            Paging::Keyset,
        ]),
        with(AccessKind::GraphqlQuery, "scion_client::graphql").pages([Paging::Cursor]),
    ]
}
