use crate::id::Digest256;

/// The catalog snapshot that a pack of the engine is bound to. A store that keeps no catalog of servers has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogBinding {
    /// The revision of the server's registration.
    pub configuration_revision: u64,
    /// Grows with each attestation.
    pub catalog_generation: u64,
    /// What was attested.
    pub snapshot_digest: Digest256,
    /// Grows with each connection of the server.
    pub child_connection_generation: u64,
    /// For whom.
    pub authorization_scope_digest: Digest256,
}
