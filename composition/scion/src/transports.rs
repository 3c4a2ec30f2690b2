use scion_domain::transport_contract::{Transport, TransportRegistry};

/// The transports this build carries: MCP tools with the feature `mcp-client`, HTTP and GraphQL with `http`. One per protocol.
#[must_use]
pub fn transports() -> TransportRegistry {
    let mut all: Vec<Transport> = Vec::new();
    #[cfg(feature = "mcp-client")]
    all.push(scion_mcp_client::transport());
    #[cfg(feature = "http")]
    all.extend(scion_client::transports());
    let mut registry = TransportRegistry::default();
    for transport in all {
        let added = registry.register(transport);
        debug_assert_eq!(added, Ok(()), "each crate carries protocols of its own");
    }
    registry
}

#[cfg(all(test, feature = "http", feature = "mcp-client"))]
mod tests {
    use scion_domain::access_contract::read_contracts;
    use scion_domain::refusal::Refusal as _;

    /// Proves: SDK-CONNECTOR-CONTROL-R069.2
    #[test]
    fn rest_graphql_and_mcp_have_one_transport_each_and_no_other_has() {
        let registry = super::transports();
        let carried: Vec<&str> = registry.iter().map(|transport| transport.protocol.as_str()).collect();
        assert_eq!(carried, ["mcp_tool", "http_endpoint", "graphql_query"]);
        assert!(registry.iter().all(|transport| transport.version == env!("CARGO_PKG_VERSION")));
        let contract = |kind: &str, more: &str| {
            let text = format!(
                "@prefix ac: <{}> .\n<urn:c> a ac:AccessContract ; ac:classIri <urn:T> ; ac:sourceId \"desk\" ; ac:entity \"t\" ; \
                 ac:keyField \"id\" ; ac:accessKind \"{kind}\" ; ac:operation \"list\"{more} .\n",
                scion_domain::access_contract::ACCESS_VOCABULARY
            );
            read_contracts(&text).unwrap().remove(0).transport()
        };
        let paged = " ; ac:pagination \"cursor\" ; ac:pushdown \"filter\", \"limit\" ; ac:authModel \"bearer\"";
        let all = carried.iter().map(|kind| contract(kind, paged)).collect::<Vec<_>>();
        let matrix = registry.matrix(&all).unwrap();
        assert_eq!(matrix.as_array().unwrap().len(), 3);
        let refused = |kind: &str, more: &str| registry.require(&contract(kind, more)).unwrap_err().code();
        assert_eq!(refused("sql_query", paged), "transport_unimplemented");
        assert_eq!(refused("mcp_tool", " ; ac:pushdown \"join\""), "pushdown_unsupported");
    }
}
