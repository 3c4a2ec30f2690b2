//! The canonical form of a schema: walking schema positions only, presentation dropped, set-like lists sorted.

use std::collections::BTreeSet;

use super::DriftRefusal;
use crate::canonical::{CanonicalRefusal, peer_json, peer_json_strict};
use crate::digest::sha256;
use crate::fingerprint::PRESENTATION;
use crate::id::Digest256;
use crate::json::{Json, JsonObject, parse};
use crate::source::SourceContract;

/// Keywords whose members are schemas under names of the author's choice.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose value is a schema or a list of schemas.
const NESTED: [&str; 16] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
    "allOf",
    "anyOf",
    "oneOf",
    "prefixItems",
];

/// Keywords whose list is a set.
const SETS: [&str; 3] = ["type", "required", "enum"];

/// A contract as it is stored and compared: the canonical text of its schema and the fields that identify a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolContract {
    /// The canonical text.
    pub canonical_schema: String,
    /// Sorted, each once.
    pub identifier_fields: Vec<String>,
}

impl ToolContract {
    /// Reads a stored contract; the schema is brought into canonical form again.
    pub fn parse(schema: &str, identifier_fields: &[String]) -> Result<Self, DriftRefusal> {
        let schema = parse(schema).map_err(|refusal| DriftRefusal::Unreadable { refusal })?;
        Self::new(&schema, identifier_fields)
    }

    /// The stored form of a live contract.
    pub fn of(contract: &SourceContract) -> Result<Self, DriftRefusal> {
        Self::new(&contract.schema, &contract.identifier_fields)
    }

    fn new(schema: &Json, identifier_fields: &[String]) -> Result<Self, DriftRefusal> {
        let normal = Normal::of(schema, identifier_fields).ok_or(DriftRefusal::NotAnObject { kind: schema.kind() })?;
        let canonical_schema = peer_json_strict(&normal.schema).map_err(|refusal| match refusal {
            CanonicalRefusal::NotFinite { pointer } => DriftRefusal::Number { pointer },
        })?;
        Ok(Self { canonical_schema, identifier_fields: normal.identifiers.into_iter().collect() })
    }

    /// Digest of the contract, as reports name it.
    pub fn digest(&self) -> Digest256 {
        digest(&self.canonical_schema, self.identifier_fields.iter())
    }
}

/// A contract ready to be compared.
pub(super) struct Normal {
    pub(super) schema: Json,
    pub(super) identifiers: BTreeSet<String>,
    pub(super) digest: Digest256,
}

impl Normal {
    /// `None` when the schema is not an object.
    pub(super) fn of(schema: &Json, identifier_fields: &[String]) -> Option<Self> {
        schema.as_object()?;
        let schema = canonical_schema(schema);
        let identifiers: BTreeSet<String> = identifier_fields.iter().cloned().collect();
        let digest = digest(&peer_json(&schema), identifiers.iter());
        Some(Self { schema, identifiers, digest })
    }
}

/// SHA-256 of the canonical text of `[canonical schema text, sorted identifier fields]`.
fn digest<'f>(text: &str, identifiers: impl Iterator<Item = &'f String>) -> Digest256 {
    let identifiers = identifiers.map(|field| Json::from(field.as_str())).collect();
    sha256(peer_json(&Json::Array(vec![Json::from(text), Json::Array(identifiers)])).as_bytes())
}

fn canonical_schema(schema: &Json) -> Json {
    let Json::Object(members) = schema else { return schema.clone() };
    let kept = members.iter().filter(|(key, _)| !PRESENTATION.contains(&key.as_str()));
    Json::Object(kept.map(|(key, value)| (key.clone(), canonical_member(key, value))).collect())
}

fn canonical_member(key: &str, value: &Json) -> Json {
    match value {
        Json::Object(named) if NAMED.contains(&key) => Json::Object(
            named.iter().map(|(name, schema)| (name.clone(), canonical_schema(schema))).collect::<JsonObject>(),
        ),
        Json::Array(schemas) if NESTED.contains(&key) => Json::Array(schemas.iter().map(canonical_schema).collect()),
        schema if NESTED.contains(&key) => canonical_schema(schema),
        Json::Array(items) if SETS.contains(&key) => {
            let mut items = items.clone();
            items.sort_by_cached_key(peer_json);
            Json::Array(items)
        }
        other => other.clone(),
    }
}
