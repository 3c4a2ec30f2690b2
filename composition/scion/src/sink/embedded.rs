//! The embedded graph as a sink: one file in the state directory.

use std::path::PathBuf;
use std::sync::Arc;

use scion_domain::sink::StoreRefusal;
use scion_embedded::EmbeddedGraph;
use scion_ports::async_trait;

use super::{Access, OpenSink, SinkFactory, SinkRequest};

/// Its name.
pub const EMBEDDED: &str = "embedded";
/// The file in the state directory.
pub const STORE_FILE: &str = "graph.db";

/// Opens embedded graphs.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddedSinks;

fn file(request: &SinkRequest) -> PathBuf {
    request.store_file.clone().unwrap_or_else(|| request.state_dir.join(STORE_FILE))
}

#[async_trait]
impl SinkFactory for EmbeddedSinks {
    fn name(&self) -> &str {
        EMBEDDED
    }

    fn place(&self, request: &SinkRequest) -> String {
        file(request).display().to_string()
    }

    async fn open(&self, request: &SinkRequest) -> Result<OpenSink, StoreRefusal> {
        let (path, access) = (file(request), request.access);
        // Opening reads and may migrate the file, so it stays off the async threads.
        let open = move || match access {
            Access::Read => EmbeddedGraph::open_read_only(&path),
            Access::Write => EmbeddedGraph::open(&path),
        };
        let opened = tokio::task::spawn_blocking(open).await;
        let graph = opened.map_err(|_| StoreRefusal::Unavailable { what: "opening it did not end in order" })??;
        let graph = Arc::new(graph);
        Ok(OpenSink {
            sink: graph.clone(),
            digests: graph.clone(),
            checkpoints: graph.clone(),
            query: Some(graph.clone()),
            catalog: Some(graph.clone()),
            key_values: Some(graph),
            keep: None,
        })
    }
}
