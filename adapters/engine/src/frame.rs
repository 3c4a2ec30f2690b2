//! Frames: a length of four bytes, then one MessagePack value (`wire/engine-protocol.md` 1).

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The longest frame either side takes unless set otherwise, in bytes.
pub const DEFAULT_FRAME_LIMIT: usize = 64 << 20;
/// More than this no engine is set to.
pub const FRAME_CEILING: usize = 384 << 20;

/// How many bytes are set aside for a frame before any of it has come.
const FIRST_PART: usize = 64 << 10;

/// A frame of a payload.
pub(crate) fn frame(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len() + 4);
    // The caller holds the payload against the limit first.
    out.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(payload);
    out
}

/// The next payload; `None` at an orderly end, at an empty frame, at one above the limit, and when the stream breaks.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin), limit: usize) -> Option<Vec<u8>> {
    let length = usize::try_from(stream.read_u32().await.ok()?).ok()?;
    if length == 0 || length > limit {
        return None;
    }
    let mut payload = Vec::with_capacity(length.min(FIRST_PART));
    let read = stream.take(length as u64).read_to_end(&mut payload).await.ok()?;
    (read == length).then_some(payload)
}
