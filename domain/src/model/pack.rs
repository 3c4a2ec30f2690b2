//! What a connector declares, as a store accepts it.

use crate::id::{ConnectorName, Digest256};

/// One entry of a pack: an exact body under a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackEntry {
    /// The kind, for example `resource`, `ontology`, `shapes`.
    pub kind: String,
    /// The URI it is served at.
    pub uri: String,
    /// The media type.
    pub media_type: String,
    /// The exact bytes.
    pub body: Vec<u8>,
}

/// A request to accept a connector's declaration and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackImport {
    /// The connector.
    pub connector: ConnectorName,
    /// Entries, each URI once; exactly one is `connector://resources`.
    pub entries: Vec<PackEntry>,
    /// The revision the caller believes is current; `None` for the first import.
    pub expected_revision: Option<u64>,
    /// The operator allows withdrawing more than half of the published surface (R004.27).
    pub allow_mass_withdrawal: bool,
}

/// The answer to an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackReceipt {
    /// Digest of the accepted content.
    pub pack_digest: Digest256,
    /// Its revision, from 1.
    pub revision: u64,
    /// The store already held exactly this pack.
    pub unchanged: bool,
}

/// What a store has accepted of a connector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackStatus {
    /// Digest of the accepted content; `None` before the first import.
    pub accepted_digest: Option<Digest256>,
    /// Its revision.
    pub revision: Option<u64>,
}
