//! SHA-256 digests, framed so that no two different inputs share one.
//!
//! Byte-equal to the engine (`wire/engine-protocol.md` 5): [`framed`], [`batch`], raw records, [`checkpoint`], [`live_set`],
//! [`change_set`]. Ours, because nobody else has defined them: [`record_content`], [`pack`], [`receipt`].
//!
//! **Numbers.** The engine's MessagePack knows integers from -2^63 to 2^64-1 and doubles. A number outside (a longer integer, a
//! decimal no double holds, `1e400`) is encoded as its text as the source wrote it, so that the embedded store can commit it;
//! [`NumberForm::EngineOnly`] refuses it instead. A record with the number and one with the same text therefore share a
//! batch digest; [`record_content`] tells them apart, so the change between them is still noticed.

mod batch;
mod change_set;
mod msgpack;
mod ours;

#[cfg(test)]
mod tests;

use sha2::{Digest as _, Sha256};

use crate::id::Digest256;
use crate::model::{EntityRef, SourceCheckpoint};
use crate::refusals;

pub use batch::{BatchDigests, batch, batch_with, encode_batch};
pub use change_set::{change_set, change_set_patch};
pub use msgpack::{NumberForm, encode_json};
pub use ours::{ContentHasher, pack, pack_entry, receipt, record_content};

refusals! {
    /// Why something has no digest.
    pub enum DigestRefusal {
        /// A number the engine cannot hold.
        Number { pointer: String } => "digest_number_out_of_range", PeerMisbehaved, Never,
            "the number at `{pointer}` does not fit the engine: only 64-bit integers and doubles do",
            "send the number as text, or sync into the embedded store";
        /// A text or list with more than 2^32-1 items.
        TooLong { pointer: String } => "digest_value_too_long", CallerMistake, Never,
            "the value at `{pointer}` is longer than MessagePack can say", "split it";
        /// A member the change set must have is missing or of another type.
        ChangeSetMember { member: &'static str } => "digest_change_set_member", CallerMistake, Never,
            "the change set has no usable member `{member}`", "give the member the type the engine's change set has";
        /// A member the change set does not have.
        ChangeSetUnknown { member: String } => "digest_change_set_unknown_member", CallerMistake, Never,
            "a change set has no member `{member}`", "remove the member";
    }
}

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> Digest256 {
    Digest256::from_bytes(Sha256::digest(bytes).into())
}

/// The engine's framed SHA-256: a domain and any number of fields, each with its length in front.
pub fn framed(domain: &str, fields: &[&[u8]]) -> Digest256 {
    let mut hasher = Sha256::new();
    hasher.update(b"eg/framed-sha256/v1\0");
    hasher.update(short_length(domain.len()));
    hasher.update(domain.as_bytes());
    hasher.update(short_length(fields.len()));
    for field in fields {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    Digest256::from_bytes(hasher.finalize().into())
}

/// Domains and field counts are ours and small; saturating keeps the function total.
fn short_length(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

/// Digest of a checkpoint (`eg/source-checkpoint/v1`): stream, position, content hash, watermark, pending watermark; an absent
/// part is empty. A number in the position that no double holds is written exactly.
pub fn checkpoint(checkpoint: &SourceCheckpoint) -> Digest256 {
    let position = crate::canonical::position_json(&checkpoint.position);
    framed(
        "eg/source-checkpoint/v1",
        &[
            checkpoint.stream.as_str().as_bytes(),
            position.as_bytes(),
            checkpoint.content_hash.as_ref().map_or(&[][..], |hash| hash.as_bytes()),
            checkpoint.watermark.as_deref().unwrap_or_default().as_bytes(),
            checkpoint.pending_watermark.as_deref().unwrap_or_default().as_bytes(),
        ],
    )
}

/// The `tool_schema_sha256` of records that a caller pushes instead of a tool (`wire/mcp-surface.md` 8.3): SHA-256 of the peer's
/// canonical JSON of `{adapter_kind: connector_push, connector, server, tool}`. An empty server means the connector itself.
pub fn push_identity(connector: &str, server: &str, tool: &str) -> Digest256 {
    let server = if server.is_empty() { connector } else { server };
    let members = [("adapter_kind", "connector_push"), ("connector", connector), ("server", server), ("tool", tool)];
    sha256(crate::canonical::peer_json(&members.map(|(name, value)| (name, value.into())).into()).as_bytes())
}

/// Digest of a live set (`eg/source-live-set/v1`): order and repetition do not matter.
pub fn live_set(entities: &[EntityRef]) -> Digest256 {
    let mut sorted: Vec<&EntityRef> = entities.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut out = msgpack::Writer::new(NumberForm::Lossless);
    out.array(sorted.len());
    for entity in sorted {
        batch::write_entity(&mut out, entity);
    }
    framed("eg/source-live-set/v1", &[out.bytes()])
}
