//! Sinks by name.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use scion::domain::refusal::Refusal as _;
use scion::domain::sink::StoreRefusal;
use scion::ports::async_trait;
use scion::sink::{Access, EMBEDDED, OpenSink, STORE_FILE, SinkFactory, SinkRegistry, SinkRequest};

/// A kind of sink an embedder brings along.
struct Elsewhere;

#[async_trait]
impl SinkFactory for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }

    fn place(&self, _request: &SinkRequest) -> String {
        "graph.example:7000".to_owned()
    }

    async fn open(&self, _request: &SinkRequest) -> Result<OpenSink, StoreRefusal> {
        Err(StoreRefusal::Unavailable { what: "it is elsewhere" })
    }
}

fn request(directory: &std::path::Path, access: Access) -> SinkRequest {
    SinkRequest { state_dir: directory.to_owned(), store_file: None, access }
}

#[tokio::test]
async fn an_embedder_adds_its_own_kind_beside_the_built_in_one() {
    let sinks = SinkRegistry::builtin().with(Arc::new(Elsewhere));
    assert_eq!(sinks.names().collect::<Vec<_>>(), ["elsewhere", EMBEDDED, scion::sink::ENGINE, scion::sink::EPHEMERAL]);
    let directory = tempfile::tempdir().unwrap();
    let request = request(directory.path(), Access::Write);
    let refused = sinks.get("elsewhere").unwrap().open(&request).await.err().unwrap();
    assert_eq!(refused.code(), "store_unavailable");
    assert!(sinks.get("nowhere").is_none());
    assert!(SinkRegistry::new().names().next().is_none());
}

#[tokio::test]
async fn the_embedded_graph_is_made_by_writing_and_never_by_reading() {
    let directory = tempfile::tempdir().unwrap();
    let sinks = SinkRegistry::builtin();
    let embedded = sinks.get(EMBEDDED).unwrap();
    let reading = request(directory.path(), Access::Read);
    assert!(embedded.open(&reading).await.is_err());
    assert!(!directory.path().join(STORE_FILE).exists());
    let open = embedded.open(&request(directory.path(), Access::Write)).await.unwrap();
    open.sink.ready().await.unwrap();
    assert_eq!(embedded.place(&reading), directory.path().join(STORE_FILE).display().to_string());
    let reader = embedded.open(&reading).await.unwrap();
    assert!(reader.catalog.unwrap().streams().await.unwrap().is_empty());
    assert!(reader.sink.ready().await.is_err(), "what was opened for reading accepts no batches");
    let other =
        SinkRequest { store_file: Some(directory.path().join("other.db")), ..request(directory.path(), Access::Write) };
    assert!(embedded.open(&other).await.is_ok() && directory.path().join("other.db").exists());
}

/// Proves: SDK-CONNECTOR-CONTROL-R058
#[tokio::test]
async fn a_graph_that_is_not_kept_is_asked_for_by_name_and_goes_with_its_handle() {
    let directory = tempfile::tempdir().unwrap();
    let sinks = SinkRegistry::builtin();
    let ephemeral = sinks.get(scion::sink::EPHEMERAL).unwrap();
    let refused = ephemeral.open(&request(directory.path(), Access::Read)).await.err().unwrap();
    assert_eq!(refused.code(), "store_unavailable");
    let open = ephemeral.open(&request(directory.path(), Access::Write)).await.unwrap();
    open.sink.ready().await.unwrap();
    let folder = open.keep.clone().unwrap().downcast::<tempfile::TempDir>().unwrap();
    let path = folder.path().to_owned();
    assert!(path.join(STORE_FILE).exists() && std::fs::read_dir(directory.path()).unwrap().next().is_none());
    let other = ephemeral.open(&request(directory.path(), Access::Write)).await.unwrap();
    assert!(!Arc::ptr_eq(&open.sink, &other.sink));
    drop((folder, open));
    assert!(!path.exists(), "nothing is left");
}
