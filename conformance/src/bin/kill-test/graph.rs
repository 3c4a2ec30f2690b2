//! What a store holds.

use std::collections::BTreeSet;
use std::path::Path;

use scion_domain::query::{QueryAnswer, QueryRequest};
use scion_embedded::EmbeddedGraph;
use scion_ports::{GraphQuery, StreamCatalog};

fn with_graph<T>(store: &Path, work: impl AsyncFnOnce(&EmbeddedGraph) -> Result<T, String>) -> Result<T, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let graph = EmbeddedGraph::open_read_only(store).map_err(|refusal| refusal.to_string())?;
    runtime.block_on(work(&graph))
}

/// Every triple, as text.
pub(crate) fn triples(store: &Path) -> Result<BTreeSet<String>, String> {
    with_graph(store, async |graph| {
        let request = QueryRequest {
            sparql: "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }".into(),
            max_rows: 10_000_000,
            timeout_ms: 300_000,
        };
        match graph.query(&request).await {
            Ok(QueryAnswer::Graph { triples, truncated: false }) => {
                Ok(triples.into_iter().map(|triple| format!("{triple:?}")).collect())
            }
            Ok(other) => Err(format!(
                "the dump got {}",
                if matches!(other, QueryAnswer::Graph { .. }) { "cut" } else { "something else" }
            )),
            Err(refusal) => Err(refusal.to_string()),
        }
    })
}

/// Batches committed so far, over all streams.
pub(crate) fn batches(store: &Path) -> Result<u64, String> {
    with_graph(store, async |graph| {
        let streams = graph.streams().await.map_err(|refusal| refusal.to_string())?;
        Ok(streams.iter().map(|stream| stream.batches).sum())
    })
}
