//! The reply of an import is lost on the way back.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;

use scion_conformance::fixtures;
use scion_engine::{DecodeLimits, Endpoint, EngineClient, EngineGraph, EngineOptions, Value, decode};
use scion_local::{SystemClock, SystemEntropy};
use scion_ports::Sink as _;
use support::{Engine, Mode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

async fn frame(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let length = stream.read_u32().await.ok()?;
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).await.ok()?;
    Some(payload)
}

async fn send(stream: &mut UnixStream, payload: &[u8]) -> Option<()> {
    stream.write_u32(u32::try_from(payload.len()).unwrap()).await.ok()?;
    stream.write_all(payload).await.ok()
}

/// The key an import is signed with.
fn import_key(payload: &[u8]) -> Option<String> {
    let request = decode(payload, DecodeLimits::default()).ok()?;
    let op = request.get("params")?.get("op")?;
    if request.get("method")?.as_text()? != "ConnectorPack" || op.get("op")?.as_text()? != "import" {
        return None;
    }
    let context = op.get("request")?.get("context")?;
    Some(context.get("idempotency_key").and_then(Value::as_text)?.to_owned())
}

/// Passes one connection on, one request after the other. The reply of the first import never arrives.
async fn pass(mut near: UnixStream, engine: std::path::PathBuf, keys: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let mut far = UnixStream::connect(engine).await.ok()?;
    loop {
        let request = frame(&mut near).await?;
        let import = import_key(&request);
        send(&mut far, &request).await?;
        let reply = frame(&mut far).await?;
        if let Some(key) = import {
            let mut keys = keys.lock().unwrap();
            keys.push(key);
            if keys.len() == 1 {
                return None;
            }
        }
        send(&mut near, &reply).await?;
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R001, SDK-CONNECTOR-CONTROL-R005
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_whose_reply_is_lost_is_repeated_under_its_key() {
    let Some(engine) = Engine::start(Mode::Signed).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let socket = Path::new(folder.path()).join("proxy.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let keys = Arc::new(Mutex::new(Vec::new()));
    let (noted, far) = (Arc::clone(&keys), engine.socket());
    let proxy = tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            tokio::spawn(pass(near, far.clone(), Arc::clone(&noted)));
        }
    });
    let client = EngineClient::new(
        Endpoint::parse(&format!("unix://{}", socket.display())).unwrap(),
        engine.identity(&["*"]),
        EngineOptions::default(),
        Arc::new(SystemClock::new()),
        Arc::new(SystemEntropy),
    );
    let graph = EngineGraph::new(client, "kg:lost");
    graph.create().await.unwrap();
    let receipt = graph.import_pack(&fixtures::pack()).await.unwrap();
    assert_eq!((receipt.revision, receipt.pack_digest), (1, scion_domain::digest::pack(&fixtures::pack())));
    {
        let keys = keys.lock().unwrap();
        assert_eq!(keys.len(), 2, "{keys:?}");
        assert_eq!(keys[0], keys[1]);
        assert!(keys[0].starts_with("connector-pack:desk-mcp:import:") && keys[0].ends_with(":0"), "{keys:?}");
    }
    // A source record through the same types, and its receipt.
    let batch = fixtures::batch(scion_domain::model::IngestMode::Full, vec![fixtures::ticket("a", "one")], None, 1);
    let receipt = graph.commit(&batch).await.unwrap();
    assert_eq!(receipt.batch_digest, scion_domain::digest::batch(&batch).unwrap().batch);
    proxy.abort();
}
