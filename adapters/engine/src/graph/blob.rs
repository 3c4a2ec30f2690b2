//! Storing an archive (`wire/engine-protocol.md` 6.5).

use scion_domain::engine::EngineRefusal;

use super::Inner;
use crate::client::{Call, Repeats};
use crate::{Body, COMMONS, Value};

/// Bytes in one request.
const CHUNK: usize = 1 << 20;

impl Inner {
    /// Uploads bytes under keys that begin with `key`; gives the engine's digest. The same bytes under the same key again are found
    /// there.
    pub(super) async fn upload(&self, key: &str, bytes: &[u8]) -> Result<String, EngineRefusal> {
        let put = |body: Body, key: String| async move {
            let call = Call { graph: COMMONS, body, idempotency_key: Some(&key), repeats: Repeats::ByKey };
            self.client.call(call).await
        };
        let begin = Body::with("BlobBegin", [("chunk_size", Value::Natural(CHUNK as u64))]);
        let cursor = put(begin, format!("{key}:begin:{CHUNK}")).await?;
        let cursor = cursor.as_natural().ok_or(EngineRefusal::Malformed { method: "BlobBegin" })?;
        for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
            let body = Body::with("BlobChunkPut", [("cursor", cursor.into()), ("data", Value::Bytes(chunk.to_vec()))]);
            put(body, format!("{key}:chunk:{number}")).await?;
        }
        let committed = put(Body::with("BlobCommit", [("cursor", cursor.into())]), format!("{key}:commit")).await?;
        committed.as_text().map(str::to_owned).ok_or(EngineRefusal::Malformed { method: "BlobCommit" })
    }
}
