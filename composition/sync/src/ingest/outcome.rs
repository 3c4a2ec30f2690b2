//! What one committed batch proves.

use scion_domain::id::Digest256;
use scion_domain::model::{SourceBatch, SourceReceipt};

use super::{ContractIri, IngestBinding};

/// The contract a batch was committed under: the names from the batch, revision and digest from the receipt (R017.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractEvidence {
    /// The contract IRIs of the batch's record types, each once, sorted; that of the connector for a batch without records.
    pub iris: Vec<String>,
    /// The revision the receipt names.
    pub revision: u64,
    /// The digest the receipt names.
    pub digest: Digest256,
}

/// One committed batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestOutcome {
    /// Records of the batch.
    pub nodes: usize,
    /// Relationships of the batch.
    pub edges: usize,
    /// The contract it was committed under.
    pub contract: ContractEvidence,
    /// The receipt, checked against the batch.
    pub receipt: SourceReceipt,
    /// The reply was lost and the outcome was read back from the stream's status.
    pub settled_by_readback: bool,
}

impl IngestOutcome {
    pub(super) fn of(
        binding: &IngestBinding,
        batch: &SourceBatch,
        receipt: SourceReceipt,
        settled_by_readback: bool,
    ) -> Self {
        let mut iris: Vec<String> = batch
            .records
            .iter()
            .filter_map(|record| ContractIri::of_mapping(&binding.connector, &record.mapping_reference))
            .map(|iri| iri.to_string())
            .collect();
        iris.sort_unstable();
        iris.dedup();
        if iris.is_empty() {
            iris.push(binding.contract.clone());
        }
        let contract = ContractEvidence { iris, revision: receipt.contract_revision, digest: receipt.contract_digest };
        Self { nodes: batch.records.len(), edges: batch.relationships.len(), contract, receipt, settled_by_readback }
    }
}
