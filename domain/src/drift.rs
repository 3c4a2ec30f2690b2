//! Schema drift: what a change of a tool's contract means for the stream that reads it (`wire/mcp-surface.md` 5, R002).
//!
//! Two contracts are compared in a canonical form that leaves presentation out. Anything but [`DriftClass::Compatible`] stops the
//! page: nothing is submitted and the checkpoint stays. All of it is pure; the runner keeps the contract that was accepted
//! and decides about the very first one, for which there is nothing to compare with.

mod canonical;
mod compare;
mod repair;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::declaration::EvolutionPolicy;
use crate::id::{ConnectorName, Digest256, StreamName, TenantId};
use crate::json::{Json, JsonRefusal};
use crate::refusals;
use crate::source::SourceContract;

pub use canonical::ToolContract;
pub use repair::RepairProposal;

refusals! {
    /// Why a contract or a repair cannot be read.
    pub enum DriftRefusal {
        /// The text of a contract is not JSON.
        Unreadable { refusal: JsonRefusal } => "contract_unreadable", PeerMisbehaved, Never,
            "the contract is not readable: {refusal}", "store the schema as JSON text";
        /// The schema of a contract is not an object.
        NotAnObject { kind: &'static str } => "contract_not_an_object", PeerMisbehaved, Never,
            "the schema of a contract is an object, not a {kind}", "serve object schemas";
        /// A number in the schema has no canonical text.
        Number { pointer: String } => "contract_number_out_of_range", PeerMisbehaved, Never,
            "the schema has a number out of range at `{pointer}`", "use a number a 64-bit float can hold";
        /// A repair for something that needs none.
        NothingToRepair => "repair_not_needed", CallerMistake, Never,
            "the drift is compatible, so there is nothing to repair", "propose repairs only for incompatible drift";
        /// A repair that changes nothing.
        EmptyRepair => "repair_empty", CallerMistake, Never,
            "the repair maps no field", "name at least one field and its replacement";
        /// A repair nobody answers for.
        NoProposer => "repair_without_proposer", CallerMistake, Never,
            "the repair names nobody who proposes it", "name the person or service that proposes it";
    }
}

/// What a change means. The worst observation wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DriftClass {
    /// The stream goes on.
    Compatible,
    /// A person has to look.
    RequiresReview,
    /// Records of the old and the new contract do not mean the same.
    Breaking,
}

impl DriftClass {
    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compatible => "COMPATIBLE",
            Self::RequiresReview => "REQUIRES_REVIEW",
            Self::Breaking => "BREAKING",
        }
    }
}

/// What was observed. Declared in the order of the wire words, so that a sorted set is sorted on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DriftReason {
    /// `enum` or `const` differs.
    EnumChanged,
    /// A property is new.
    FieldAdded,
    /// A property is gone.
    FieldRemoved,
    /// Other fields identify a record.
    IdentifierChanged,
    /// There is no schema on one side.
    MissingSchema,
    /// Other properties are required.
    RequirednessChanged,
    /// `type` differs, appears or disappears.
    TypeChanged,
    /// `properties` is not an object.
    UnknownProperties,
    /// Any other keyword differs.
    UnknownSchemaChange,
}

impl DriftReason {
    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnumChanged => "ENUM_CHANGED",
            Self::FieldAdded => "FIELD_ADDED",
            Self::FieldRemoved => "FIELD_REMOVED",
            Self::IdentifierChanged => "IDENTIFIER_CHANGED",
            Self::MissingSchema => "MISSING_SCHEMA",
            Self::RequirednessChanged => "REQUIREDNESS_CHANGED",
            Self::TypeChanged => "TYPE_CHANGED",
            Self::UnknownProperties => "UNKNOWN_PROPERTIES",
            Self::UnknownSchemaChange => "UNKNOWN_SCHEMA_CHANGE",
        }
    }
}

/// Where the drift was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftScope {
    /// The connector.
    pub source: ConnectorName,
    /// The stream.
    pub stream: StreamName,
    /// The tenant.
    pub tenant: TenantId,
    /// Digest of the page at hand; zero when there is none.
    pub observed_sample_digest: Digest256,
}

/// The outcome of a comparison, in the peer's shape. It names fields, never values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftReport {
    /// The connector.
    pub source: ConnectorName,
    /// The stream.
    pub stream: StreamName,
    /// The tenant.
    pub tenant: TenantId,
    /// Digest of the accepted contract; `None` when there is none.
    pub old_schema_digest: Option<Digest256>,
    /// Digest of the live contract; `None` when the tool has none.
    pub new_schema_digest: Option<Digest256>,
    /// Paths of what changed, like JSON pointers but with names as they are.
    pub affected_fields: BTreeSet<String>,
    /// What it means.
    pub classification: DriftClass,
    /// Digest of the page at hand.
    pub observed_sample_digest: Digest256,
    /// What was observed.
    pub reason_codes: BTreeSet<DriftReason>,
}

impl DriftReport {
    /// Whether the page may go on.
    pub fn is_compatible(&self) -> bool {
        self.classification == DriftClass::Compatible
    }

    /// The hold a stream gets for this report.
    pub fn to_hold(&self) -> crate::model::StreamHold {
        crate::model::StreamHold::Quarantined {
            classification: self.classification.as_str().to_owned(),
            reason_codes: self.reason_codes.iter().map(|reason| reason.as_str().to_owned()).collect(),
            affected_fields: self.affected_fields.iter().cloned().collect(),
        }
    }
}

/// Compares the accepted contract with the live one. A missing contract, or one whose schema is not an object, needs review.
pub fn classify(
    prior: Option<&SourceContract>,
    current: Option<&SourceContract>,
    policy: EvolutionPolicy,
    scope: &DriftScope,
) -> DriftReport {
    let prior = prior.and_then(|contract| canonical::Normal::of(&contract.schema, &contract.identifier_fields));
    let current = current.and_then(|contract| canonical::Normal::of(&contract.schema, &contract.identifier_fields));
    let findings = compare::compare(prior.as_ref(), current.as_ref(), policy);
    DriftReport {
        source: scope.source.clone(),
        stream: scope.stream.clone(),
        tenant: scope.tenant.clone(),
        old_schema_digest: prior.map(|normal| normal.digest),
        new_schema_digest: current.map(|normal| normal.digest),
        affected_fields: findings.affected,
        classification: findings.class,
        observed_sample_digest: scope.observed_sample_digest,
        reason_codes: findings.reasons,
    }
}

/// The document that is compared: input and output schema of one tool.
pub fn contract_schema(input: &Json, output: Option<&Json>) -> Json {
    let properties = Json::from([("input", input.clone()), ("output", output.cloned().unwrap_or(Json::Null))]);
    Json::from([("type", Json::from("object")), ("properties", properties)])
}
