//! An embedded graph that is gone with its process: for trying something out, never by default (SDK-CONNECTOR-CONTROL-R058).

use std::sync::Arc;

use scion_domain::sink::StoreRefusal;
use scion_ports::async_trait;

use super::{Access, EmbeddedSinks, OpenSink, SinkFactory, SinkRequest};

/// Its name.
pub const EPHEMERAL: &str = "ephemeral";

/// Opens embedded graphs in a folder of the system's temporary directory, readable by this user alone, that is removed when the last
/// handle is dropped. Each opening is a graph of its own. A process that is killed leaves the folder to the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct EphemeralSinks;

#[async_trait]
impl SinkFactory for EphemeralSinks {
    fn name(&self) -> &str {
        EPHEMERAL
    }

    fn place(&self, _request: &SinkRequest) -> String {
        "a graph that is not kept".to_owned()
    }

    async fn open(&self, request: &SinkRequest) -> Result<OpenSink, StoreRefusal> {
        if request.access == Access::Read {
            return Err(StoreRefusal::Unavailable {
                what: "a graph that is not kept ends with the process that made it",
            });
        }
        let made = tokio::task::spawn_blocking(|| tempfile::Builder::new().prefix("scion-").tempdir()).await;
        let folder = made
            .ok()
            .and_then(Result::ok)
            .ok_or(StoreRefusal::Unavailable { what: "no folder can be made in the temporary directory" })?;
        let request = SinkRequest { state_dir: folder.path().to_owned(), store_file: None, access: Access::Write };
        let open = EmbeddedSinks.open(&request).await?;
        Ok(OpenSink { keep: Some(Arc::new(folder)), ..open })
    }
}
