//! Loops in paging.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

use crate::json::{Json, to_compact};
use crate::source::SourceRefusal;

/// The positions seen in one sweep, 16 bytes each. A server that hands out one of them again loops; how long the way
/// around is does not matter.
#[derive(Clone, Debug, Default)]
pub struct SeenPositions {
    seen: HashSet<[u8; 16]>,
}

impl SeenPositions {
    /// Nothing seen.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this position is new. From now on it is not.
    pub fn note(&mut self, position: &Json) -> bool {
        self.note_text(&to_compact(position))
    }

    /// The same for a text, for example a URL.
    pub fn note_text(&mut self, text: &str) -> bool {
        let digest = Sha256::digest(text.as_bytes());
        let mut key = [0; 16];
        key.copy_from_slice(&digest[..16]);
        self.seen.insert(key)
    }

    /// Refuses a position that was seen before; notes it otherwise.
    pub fn admit(&mut self, tool: &str, position: &Json) -> Result<(), SourceRefusal> {
        if self.note(position) { Ok(()) } else { Err(SourceRefusal::PositionRepeats { tool: tool.to_owned() }) }
    }

    /// How many were seen.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}
