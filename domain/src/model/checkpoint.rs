//! Progress.

use serde::{Deserialize, Serialize};

use crate::id::{Digest256, StreamName};
use crate::json::Json;

/// The one progress token of a stream, as the engine defines it.
///
/// During a sweep the highest change time gathers in `pending_watermark`; when the sweep is exhausted `position` becomes
/// `{}` and the pending mark becomes the watermark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCheckpoint {
    /// The stream.
    pub stream: StreamName,
    /// Where the next page starts; `{}` at the start of a sweep.
    pub position: Json,
    /// A digest the source vouches for, when it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<Digest256>,
    /// Everything up to here was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<String>,
    /// The highest change time seen in the running sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_watermark: Option<String>,
}

impl SourceCheckpoint {
    /// The checkpoint before anything was read.
    pub fn start(stream: StreamName) -> Self {
        Self {
            stream,
            position: Json::Object(crate::json::JsonObject::new()),
            content_hash: None,
            watermark: None,
            pending_watermark: None,
        }
    }

    /// Whether a sweep is under way.
    pub fn is_mid_sweep(&self) -> bool {
        !matches!(&self.position, Json::Object(members) if members.is_empty())
    }
}

/// What a store knows of a stream (`SourceIngestStatus`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamStatus {
    /// The accepted checkpoint; `None` before the first batch.
    pub accepted_checkpoint: Option<SourceCheckpoint>,
    /// Its digest.
    pub accepted_checkpoint_digest: Option<Digest256>,
    /// Digest of the last committed batch.
    pub last_batch_digest: Option<Digest256>,
    /// The last receipt.
    pub last_receipt_id: Option<String>,
    /// The graph version after the last commit.
    pub committed_graph_version: Option<u64>,
}

/// A document under compare-and-swap: what a [`CheckpointStore`](../../scion_ports/trait.CheckpointStore.html) holds
/// per source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressDocument {
    /// The version to name in the next compare-and-swap.
    pub version: u64,
    /// The document.
    pub body: Json,
}
