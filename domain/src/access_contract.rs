//! Access contracts: how data can be read where it is (SDK-CONNECTOR-CONTROL-R021, R040 to R044, `wire/mcp-surface.md` 8.8).
//!
//! A contract names the class it answers, the kind of access, the operation with its parameters, pages and pushdown, a reference
//! to a credential, and hints. [`read`](read_contracts()) takes them out of a Turtle text, in the terms of a connector pack or in
//! the older ones of a peer; [`AccessContract::statements`] writes them. What was read holds no secret, and no refusal shows text
//! of a value.

mod check;
mod fields;
mod flat;
mod read;
mod refusal;
#[cfg(test)]
mod tests;
mod write;

pub use fields::{ACCESS_VOCABULARY, PACK_VOCABULARY, VIRTUAL_GRAPH_VOCABULARY};
pub use read::{contract_kinds, read_contracts};
pub use refusal::AccessContractRefusal;
pub(crate) use write::segment;
pub use write::{Statements, is_absolute_iri};

use std::collections::BTreeSet;

use crate::json::Json;
use crate::resource_descriptor::{AccessKind, ResourcePagination};
use crate::transport_contract::{AuthModel, Pushdown, StreamMode, TransportContract};
use crate::words::words;

/// The most bytes of a text with contracts.
pub const MAX_CONTRACT_BYTES: usize = 4 << 20;
/// The most contracts in one text.
pub const MAX_CONTRACTS: usize = 2048;
/// The most values of one field of a contract: parameters, or pairs of property and field.
pub const MAX_CONTRACT_VALUES: usize = 512;
/// The longest value, in bytes.
pub const MAX_CONTRACT_TEXT: usize = 4096;

words! {
    /// What reading costs, as the author sees it.
    CostHint {
        /// Nobody said.
        Unknown = "unknown",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
    }
}

/// One contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessContract {
    /// Its own IRI.
    pub iri: String,
    /// The class of the records, an absolute IRI.
    pub class: String,
    /// The source or connector that answers.
    pub source_id: String,
    /// The resource, table or collection.
    pub entity: String,
    /// The field that identifies a record.
    pub key_field: String,
    /// The kind of access, which is the protocol.
    pub kind: AccessKind,
    /// The tool, path, query or skill.
    pub operation: String,
    /// The names of its parameters.
    pub parameters: BTreeSet<String>,
    /// How further records are asked for.
    pub pagination: ResourcePagination,
    /// How events arrive.
    pub streaming: StreamMode,
    /// What the source does itself.
    pub pushdown: BTreeSet<Pushdown>,
    /// How the reader proves who it is.
    pub auth_model: AuthModel,
    /// A reference to the credential; never the secret.
    pub auth_ref: Option<String>,
    /// Requests per minute; at least one.
    pub rate_limit_per_minute: Option<u64>,
    /// How old an answer may be, in seconds.
    pub freshness_seconds: Option<u64>,
    /// What reading costs.
    pub cost_hint: CostHint,
    /// Pairs of a property's IRI and the field that stands for it.
    pub predicates: BTreeSet<(String, String)>,
}

impl AccessContract {
    /// A contract with the required fields; everything else is silent.
    pub fn new(
        iri: impl Into<String>,
        class: impl Into<String>,
        kind: AccessKind,
        operation: impl Into<String>,
    ) -> Self {
        Self {
            iri: iri.into(),
            class: class.into(),
            source_id: String::new(),
            entity: String::new(),
            key_field: String::new(),
            kind,
            operation: operation.into(),
            parameters: BTreeSet::new(),
            pagination: ResourcePagination::None,
            streaming: StreamMode::None,
            pushdown: BTreeSet::new(),
            auth_model: AuthModel::NoAuth,
            auth_ref: None,
            rate_limit_per_minute: None,
            freshness_seconds: None,
            cost_hint: CostHint::Unknown,
            predicates: BTreeSet::new(),
        }
    }

    /// What it asks of a transport.
    pub fn transport(&self) -> TransportContract {
        TransportContract {
            protocol: self.kind,
            auth_model: self.auth_model,
            paging: self.pagination,
            streaming: self.streaming,
            pushdown: self.pushdown.clone(),
        }
    }

    /// What a graph maps a class by: `{mapping_id, class_iri, source_id, entity, key_field, predicates}`.
    pub fn virtual_mapping(&self) -> Json {
        let pairs = self.predicates.iter();
        let pair = |(property, field): &(String, String)| (property.clone(), Json::from(field.as_str()));
        Json::from([
            ("mapping_id", self.iri.as_str().into()),
            ("class_iri", self.class.as_str().into()),
            ("source_id", self.source_id.as_str().into()),
            ("entity", self.entity.as_str().into()),
            ("key_field", self.key_field.as_str().into()),
            ("predicates", Json::Object(pairs.map(pair).collect())),
        ])
    }
}
