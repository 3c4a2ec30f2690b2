//! Whether the store runs under the contract a binding was made for (R017.2, R017.4).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::model::{PackStatus, SourceReceipt};
use scion_domain::sink::SinkRefusal;

use super::IngestBinding;

/// The contract a store has accepted of a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AcceptedContract {
    pub(crate) digest: Digest256,
    pub(crate) revision: Option<u64>,
}

impl AcceptedContract {
    /// Compares what is accepted with what the binding needs. Refuses when they differ or nothing is accepted.
    pub(crate) fn check(binding: &IngestBinding, status: &PackStatus) -> Result<Self, SinkRefusal> {
        let refused = || SinkRefusal::ContractNotAccepted { connector: binding.connector.to_string() };
        let digest = status.accepted_digest.ok_or_else(refused)?;
        let revision = status.revision;
        let same_declaration = binding.declaration_digest.is_none_or(|local| status.declaration_digest == Some(local));
        let same_digest = same_declaration && binding.contract_digest.is_none_or(|local| local == digest);
        let same_revision = binding.contract_revision.is_none_or(|local| revision == Some(local));
        if same_digest && same_revision { Ok(Self { digest, revision }) } else { Err(refused()) }
    }
}

/// The contracts checked so far in this process. A receipt under another contract forgets the entry, so that the next
/// batch is checked again.
#[derive(Debug, Default)]
pub(crate) struct CheckedContracts(Mutex<HashMap<Key, AcceptedContract>>);

type Key = (ConnectorName, [Option<Digest256>; 2], Option<u64>);

impl CheckedContracts {
    pub(crate) fn get(&self, binding: &IngestBinding) -> Option<AcceptedContract> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key(binding)).copied()
    }

    pub(crate) fn note(&self, binding: &IngestBinding, accepted: AcceptedContract) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key(binding), accepted);
    }

    pub(crate) fn forget(&self, binding: &IngestBinding) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(binding));
    }

    /// Keeps or forgets what was checked, by what the store says it committed under.
    pub(crate) fn confirm(&self, binding: &IngestBinding, accepted: AcceptedContract, receipt: &SourceReceipt) {
        if receipt.contract_digest != accepted.digest {
            self.forget(binding);
        }
    }
}

fn key(binding: &IngestBinding) -> Key {
    (binding.connector.clone(), [binding.contract_digest, binding.declaration_digest], binding.contract_revision)
}
