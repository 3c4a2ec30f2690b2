//! The one declaration of a connector from which its contract is written (SDK-CONNECTOR-CONTROL-R067.1 to R067.3, R067.6).
//!
//! [`ConnectorPackDeclaration::of_live`] makes it from what a server declares and lists, [`ConnectorPackDeclaration::from_json`]
//! reads it from a file. [`ConnectorPackDeclaration::to_turtle`] writes the body of `contract://<connector>`, and
//! [`ConnectorPackDeclaration::views`] the files a person can read. All of them are the same bytes for the same declaration.

mod build;
mod check;
mod emit;
mod json;
mod read;
mod refusal;
#[cfg(test)]
mod tests;
mod views;

pub use build::{LiveConnector, LivePack};
pub use emit::contract_uri;
pub use refusal::{PackDeclarationRefusal, ViewRefusal};
pub use views::{MAPPING_VIEW, views_fresh};

use std::collections::{BTreeMap, BTreeSet};

use crate::access_contract::AccessContract;
use crate::canonical::lossless_json;
use crate::digest::sha256;
use crate::id::{ConnectorName, Digest256};
use crate::model::PackEntry;
use crate::pack::{DeclaredBy, SideEffect, ToolContractFacts};
use crate::words::words;

/// The vocabulary of connector packs, as Turtle: what each `cp:` term means.
pub const PACK_VOCABULARY_TURTLE: &str = include_str!("pack_declaration/connector_pack.ttl");
/// The shapes of a connector pack, as Turtle: what the contract of a connector must look like.
pub const PACK_SHAPES_TURTLE: &str = include_str!("pack_declaration/connector_pack_shapes.ttl");

/// The most bytes of a declaration as JSON.
pub const MAX_PACK_DECLARATION_BYTES: usize = 8 << 20;
/// The most things of one kind: sources, contracts, tools, prompts, skills, fields of a source.
pub const MAX_PACK_ITEMS: usize = 8192;
/// The longest text of a declaration, in bytes.
pub const MAX_PACK_TEXT: usize = 4096;

words! {
    /// Who decides who may see a record.
    AccessPolicy {
        /// Whoever may use the connector.
        Connector = "connector",
        /// The source, record by record.
        Source = "source",
    }

    /// How delicate the records are.
    PrivacyClass {
        /// Anybody may know them.
        Public = "public",
        /// The organisation may.
        Internal = "internal",
        /// Few of the organisation may.
        Confidential = "confidential",
        /// They are about a person.
        Personal = "personal",
        /// They are about a person's health, belief, origin or the like.
        SpecialCategory = "special_category",
    }

    /// What each record must say of where it comes from.
    ProvenanceRequirement {
        /// Which record of the source it is.
        SourceRecord = "sourceRecordRef",
        /// Whose it is.
        Tenant = "tenantReference",
        /// Who may see it.
        AccessPolicy = "accessPolicyReference",
        /// By which run it came.
        Provenance = "provenanceReference",
    }
}

/// The declaration of a connector's pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorPackDeclaration {
    /// The connector.
    pub connector: ConnectorName,
    /// The version of its contract, 1 to 64 characters.
    pub contract_version: String,
    /// What it can do, in words of its author.
    pub features: BTreeSet<String>,
    /// What it ingests, by id.
    pub sources: BTreeMap<String, SourceObject>,
    /// What can be read where it is, by IRI.
    pub contracts: BTreeMap<String, AccessContract>,
    /// Its tools, by name.
    pub tools: BTreeMap<String, PackTool>,
    /// Its prompts: name to domain classes.
    pub prompts: BTreeMap<String, BTreeSet<String>>,
    /// Its skills: name to domain classes.
    pub skills: BTreeMap<String, BTreeSet<String>>,
}

/// A kind of record a source hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceObject {
    /// The record type.
    pub record_type: String,
    /// The class of the records, an absolute IRI.
    pub class: String,
    /// The field that identifies a record: the key rule.
    pub key: String,
    /// Field to the IRI of the property it stands for. One field stands for one property.
    pub fields: BTreeMap<String, String>,
    /// The field a cursor follows.
    pub cursor_field: Option<String>,
    /// Only what changed since the cursor is read.
    pub incremental: bool,
    /// Who decides who may see a record.
    pub access_policy: AccessPolicy,
    /// How delicate the records are; empty means that nobody said.
    pub privacy: BTreeSet<PrivacyClass>,
    /// What each record must say of where it comes from.
    pub provenance: BTreeSet<ProvenanceRequirement>,
    /// How records refer to those of other declared sources.
    pub relations: BTreeSet<SourceRelation>,
}

/// A reference from the records of one source to those of another: what stands inside a record is a node of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceRelation {
    /// The relationship.
    pub relationship: String,
    /// The field that holds the reference.
    pub field: String,
    /// The id of the declared source it leads to.
    pub target: String,
}

/// A tool of the pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackTool {
    /// The classes its answers are about.
    pub classes: BTreeSet<String>,
    /// What is promised of it, where that is known.
    pub facts: Option<PackToolFacts>,
}

/// What is promised of a tool, as the contract states it. The schema of its arguments is the tool's own entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackToolFacts {
    /// A call changes nothing.
    pub read_only: bool,
    /// What a call changes.
    pub side_effects: BTreeSet<SideEffect>,
    /// The tokens of its description.
    pub schema_tokens: u64,
    /// Who said so.
    pub declared_by: DeclaredBy,
    /// The template of its readable form, and the most characters of it.
    pub readable_form: Option<(String, u64)>,
}

impl From<&ToolContractFacts> for PackToolFacts {
    fn from(facts: &ToolContractFacts) -> Self {
        Self {
            read_only: facts.read_only(),
            side_effects: facts.side_effects().clone(),
            schema_tokens: facts.schema_tokens(),
            declared_by: facts.declared_by(),
            readable_form: facts.readable_form().map(|form| (form.template_id.clone(), form.max_chars)),
        }
    }
}

impl PackTool {
    /// The tool of a pack's entry.
    pub fn of_entry(entry: &PackEntry) -> Self {
        Self { classes: BTreeSet::new(), facts: entry.facts.as_ref().map(PackToolFacts::from) }
    }
}

impl ConnectorPackDeclaration {
    /// A declaration that says nothing yet.
    pub fn new(connector: ConnectorName, contract_version: impl Into<String>) -> Self {
        Self {
            connector,
            contract_version: contract_version.into(),
            features: BTreeSet::new(),
            sources: BTreeMap::new(),
            contracts: BTreeMap::new(),
            tools: BTreeMap::new(),
            prompts: BTreeMap::new(),
            skills: BTreeMap::new(),
        }
    }

    /// SHA-256 over the canonical JSON: the contract and every view of it carry it, so that a reader can tell whether they come
    /// from one declaration.
    pub fn digest(&self) -> Digest256 {
        sha256(lossless_json(&self.to_json()).as_bytes())
    }
}
