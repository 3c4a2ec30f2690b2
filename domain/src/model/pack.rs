//! What a connector declares, as a store accepts it.

use crate::id::{ConnectorName, Digest256};
use crate::pack::{PackAnnotations, ToolContractFacts};

/// One entry of a pack: an exact body under a URI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackEntry {
    /// The kind, for example `resource`, `ontology`, `shapes`.
    pub kind: String,
    /// The URI it is served at.
    pub uri: String,
    /// Its name; the URI when empty.
    pub name: String,
    /// The media type.
    pub media_type: String,
    /// The exact bytes.
    pub body: Vec<u8>,
    /// The schema of what it takes, as exact canonical JSON.
    pub input_schema: Option<Vec<u8>>,
    /// The schema of what it answers, as exact canonical JSON.
    pub output_schema: Option<Vec<u8>>,
    /// What is known of it beside its body: a closed map (R008 of connector control).
    pub annotations: PackAnnotations,
    /// Other entries it leads to.
    pub references: Vec<PackReference>,
    /// What is promised of a tool: beside the annotations, because the engine's map is closed. The engine reads them in the
    /// contract entry; a store of our own keeps them here (R045 of connector control).
    pub facts: Option<ToolContractFacts>,
}

/// A link from one entry of a pack to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackReference {
    /// The other entry.
    pub uri: String,
    /// The kind of the link.
    pub kind: String,
}

/// The server a pack was captured from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackServer {
    /// The name it gives itself.
    pub name: String,
    /// The version it gives itself.
    pub version: String,
}

/// A request to accept a connector's declaration and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackImport {
    /// The connector.
    pub connector: ConnectorName,
    /// The server it was captured from.
    pub server: PackServer,
    /// Entries, each URI once; exactly one is `connector://resources`. The server's own entry is not among them.
    pub entries: Vec<PackEntry>,
    /// The revision the caller believes is current; `None` for the first import.
    pub expected_revision: Option<u64>,
    /// The operator allows withdrawing more than half of the published surface (R004.27).
    pub allow_mass_withdrawal: bool,
}

/// The answer to an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackReceipt {
    /// Digest of the accepted content: [`crate::digest::pack`] of the import.
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
    /// SHA-256 of the accepted `connector://resources` body: what a sync compares with the server's own before it writes.
    pub declaration_digest: Option<Digest256>,
}
