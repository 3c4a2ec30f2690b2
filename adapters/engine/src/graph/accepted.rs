//! What is known of an accepted pack beside the engine's own head: our digest of it, the declaration's, and what a batch is checked
//! against. It is kept in the engine's key-value store under `pack/<connector>`.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with, to_compact};
use scion_domain::sink::{SinkRefusal, StoreRefusal};
use scion_ports::KeyValueStore as _;

use super::NAMESPACE;
use crate::EngineKeyValues;

/// The most bytes of a note; the URIs are left out of a longer one, and the engine's own bound on withdrawals holds alone.
const MAX_NOTE: usize = 900 << 10;

/// A noted pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    /// The engine's digest, which binds the note to the head.
    pub(super) engine: Digest256,
    /// Its revision there.
    pub(super) revision: u64,
    /// [`scion_domain::digest::pack`] of what was imported.
    pub(super) pack: Digest256,
    /// SHA-256 of the declaration.
    pub(super) declaration: Digest256,
    /// The fields that are checked, by record type: field name to datatype as it was declared.
    pub(super) checks: BTreeMap<String, BTreeMap<String, String>>,
    /// Every declared field, by record type.
    pub(super) fields: BTreeMap<String, BTreeSet<String>>,
    /// The URIs of the entries.
    pub(super) uris: BTreeSet<String>,
}

fn key(connector: &ConnectorName) -> String {
    format!("pack/{connector}")
}

impl Accepted {
    /// The declared fields of a declaration, for [`Self::fields`] and [`Self::checks`].
    #[expect(clippy::type_complexity, reason = "the two members of the note")]
    pub(super) fn declared(
        declaration: &ConnectorDeclaration,
    ) -> (BTreeMap<String, BTreeSet<String>>, BTreeMap<String, BTreeMap<String, String>>) {
        let mut fields = BTreeMap::new();
        let mut checks = BTreeMap::new();
        for (record_type, mapping) in &declaration.schema_mappings {
            let names = mapping.fields.keys().map(ToString::to_string).collect();
            let checked = |(name, target): (&_, &_)| {
                let (name, target): (&String, &String) = (name, target);
                target.starts_with("xsd:").then(|| (name.clone(), target.clone()))
            };
            fields.insert(record_type.clone(), names);
            checks.insert(record_type.clone(), mapping.fields.iter().filter_map(checked).collect());
        }
        (fields, checks)
    }

    pub(super) async fn load(
        values: &EngineKeyValues,
        connector: &ConnectorName,
    ) -> Result<Option<(u64, Self)>, StoreRefusal> {
        let Some(entry) = values.get(NAMESPACE, &key(connector)).await? else { return Ok(None) };
        let read = parse_with(&entry.value, JsonLimits::DEFAULT).ok().and_then(|body| Self::from_json(&body));
        Ok(read.map(|accepted| (entry.version, accepted)))
    }

    /// Writes the note over whatever is there: the head of the engine decides which note counts.
    pub(super) async fn save(&self, values: &EngineKeyValues, connector: &ConnectorName) -> Result<(), StoreRefusal> {
        let mut text = to_compact(&self.to_json(true));
        if text.len() > MAX_NOTE {
            text = to_compact(&self.to_json(false));
        }
        for _ in 0..8 {
            let known = values.get(NAMESPACE, &key(connector)).await?.map(|entry| entry.version);
            match values.compare_and_swap(NAMESPACE, &key(connector), known, text.as_bytes()).await {
                Err(StoreRefusal::Conflict { .. }) => {}
                other => return other.map(|_| ()),
            }
        }
        Err(StoreRefusal::Conflict { key: key(connector) })
    }

    /// Whether more than half of what was published would go (R004.27).
    pub(super) fn check_withdrawal(&self, kept: &BTreeSet<String>) -> Result<(), SinkRefusal> {
        let (before, withdrawn) = (self.uris.len(), self.uris.difference(kept).count());
        if withdrawn * 2 > before { Err(SinkRefusal::MassWithdrawal { before, withdrawn }) } else { Ok(()) }
    }

    fn to_json(&self, with_uris: bool) -> Json {
        let names =
            |names: &BTreeSet<String>| Json::Array(names.iter().map(|name| Json::from(name.as_str())).collect());
        let types = |(name, known): (&String, &BTreeSet<String>)| (name.clone(), names(known));
        let checks = |(name, known): (&String, &BTreeMap<String, String>)| {
            let members: JsonObject =
                known.iter().map(|(field, of)| (field.clone(), Json::from(of.as_str()))).collect();
            (name.clone(), Json::Object(members))
        };
        Json::from([
            ("engine", Json::from(self.engine.to_hex())),
            ("revision", self.revision.into()),
            ("pack", self.pack.to_hex().into()),
            ("declaration", self.declaration.to_hex().into()),
            ("fields", Json::Object(self.fields.iter().map(types).collect())),
            ("checks", Json::Object(self.checks.iter().map(checks).collect())),
            ("uris", if with_uris { names(&self.uris) } else { Json::Array(Vec::new()) }),
        ])
    }

    fn from_json(body: &Json) -> Option<Self> {
        let digest = |name: &str| Digest256::parse_hex(body.get(name)?.as_str()?).ok();
        let names = |value: &Json| {
            value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<BTreeSet<_>>>()
        };
        let Json::Number(revision) = body.get("revision")? else { return None };
        let (Json::Object(fields), Json::Object(checks)) = (body.get("fields")?, body.get("checks")?) else {
            return None;
        };
        let checked = |value: &Json| {
            let Json::Object(members) = value else { return None };
            members.iter().map(|(field, of)| Some((field.clone(), of.as_str()?.to_owned()))).collect::<Option<_>>()
        };
        Some(Self {
            engine: digest("engine")?,
            revision: revision.as_text().parse().ok()?,
            pack: digest("pack")?,
            declaration: digest("declaration")?,
            fields: fields.iter().map(|(name, known)| Some((name.clone(), names(known)?))).collect::<Option<_>>()?,
            checks: checks.iter().map(|(name, known)| Some((name.clone(), checked(known)?))).collect::<Option<_>>()?,
            uris: names(body.get("uris")?)?,
        })
    }
}
