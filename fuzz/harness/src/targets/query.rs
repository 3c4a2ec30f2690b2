//! The SPARQL front end, over a small real store.

use std::cell::OnceCell;

use scion_domain::query::QueryRequest;
use scion_embedded::EmbeddedGraph;
use scion_ports::GraphQuery;

/// The longest query that is tried: the bound of the front end is tested elsewhere.
const LONGEST: usize = 2_000;

struct Store {
    graph: EmbeddedGraph,
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

thread_local! {
    static STORE: OnceCell<Option<Store>> = const { OnceCell::new() };
}

fn open() -> Option<Store> {
    let folder = tempfile::tempdir().ok()?;
    let graph = EmbeddedGraph::open(&folder.path().join("fuzz.db")).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    Some(Store { graph, runtime, _folder: folder })
}

/// A query is answered or refused, in time, and never writes.
pub fn sparql(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.len() > LONGEST {
        return;
    }
    STORE.with(|store| {
        let store = store.get_or_init(open);
        let store = store.as_ref().unwrap_or_else(|| panic!("a store can be opened in the temporary folder"));
        let request = QueryRequest { sparql: text.into_owned(), max_rows: 10, timeout_ms: 100 };
        let _ = store.runtime.block_on(store.graph.query(&request));
    });
}
