//! Whether a newer pack breaks those who call the tools and fill in the prompts of an older one (R056 of connector control).

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::{framed, pack_entry};
use crate::id::{ConnectorName, Digest256};
use crate::json::{Json, JsonLimits, parse_with};
use crate::model::PackEntry;
use crate::pack::EntryKind;
use crate::refusals;

/// What a caller of the older one can no longer do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Break {
    /// It is gone.
    Removed,
    /// An argument is gone.
    ArgumentRemoved(String),
    /// An argument is needed that was not.
    ArgumentRequired(String),
    /// An argument has another type, or another rule.
    ArgumentChanged(String),
    /// What it answers has another schema.
    AnswerChanged,
}

/// What a change means for callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// The same contract.
    Same,
    /// More than before, and everything of before.
    Compatible,
    /// Less than before, or something else.
    Breaking(BTreeSet<Break>),
}

/// A decision on one entry, bound to the pack that was admitted with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatibilityReceipt {
    /// The tool or prompt.
    pub uri: String,
    /// The digest of the entry before; `None` for a new one.
    pub before: Option<Digest256>,
    /// The digest of the entry now; `None` for one that is gone.
    pub after: Option<Digest256>,
    /// The decision.
    pub decision: Compatibility,
    /// Digest of all this, the connector and the admitted pack (`scion/compatibility-receipt/v1`).
    pub digest: Digest256,
}

refusals! {
    /// Why a pack does not take the place of another.
    pub enum CompatibilityRefusal {
        /// One version of a contract with two meanings.
        VersionConflict { uri: String } => "pack_version_conflict", PeerMisbehaved, Never,
            "`{uri}` has another contract under the same contract_version", "give the changed contract a version of its own";
        /// A change that breaks callers, without a new version.
        Breaking { uri: String } => "pack_change_breaks_callers", PeerMisbehaved, Never,
            "the change of `{uri}` breaks its callers, and its contract_version says nothing of it",
            "keep the old contract, or declare a new contract_version";
    }
}

/// What the change of one tool or prompt means for its callers.
pub fn decide(before: &PackEntry, after: &PackEntry) -> Compatibility {
    if contract(before) == contract(after) {
        return Compatibility::Same;
    }
    let (old, new) = (Arguments::of(before), Arguments::of(after));
    let mut breaks = BTreeSet::new();
    for (name, schema) in &old.schemas {
        match new.schemas.get(name) {
            None => drop(breaks.insert(Break::ArgumentRemoved(name.clone()))),
            Some(now) if now != schema => drop(breaks.insert(Break::ArgumentChanged(name.clone()))),
            Some(_) => {}
        }
    }
    let required = new.required.difference(&old.required).cloned();
    breaks.extend(required.map(Break::ArgumentRequired));
    if before.output_schema.is_some() && before.output_schema != after.output_schema {
        breaks.insert(Break::AnswerChanged);
    }
    if breaks.is_empty() { Compatibility::Compatible } else { Compatibility::Breaking(breaks) }
}

/// Decides on every tool and prompt of two packs. A breaking change under an unchanged version is refused, and so is one where no
/// new version says so. What is gone is recorded as a break; whether so much may go is the rule of mass withdrawal. The receipts are in
/// the order of the URIs.
pub fn admit(
    connector: &ConnectorName,
    pack_digest: &Digest256,
    before: &[PackEntry],
    after: &[PackEntry],
) -> Result<Vec<CompatibilityReceipt>, CompatibilityRefusal> {
    let callable =
        |entry: &&PackEntry| matches!(EntryKind::parse(&entry.kind), Some(EntryKind::Tool | EntryKind::Prompt));
    let index = |entries: &'_ [PackEntry]| -> BTreeMap<String, PackEntry> {
        entries.iter().filter(callable).map(|entry| (entry.uri.clone(), entry.clone())).collect()
    };
    let (old, new) = (index(before), index(after));
    let uris: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut receipts = Vec::with_capacity(uris.len());
    for uri in uris {
        let decision = match (old.get(uri), new.get(uri)) {
            (Some(before), Some(after)) => {
                let decision = decide(before, after);
                let versions = (&before.annotations.contract_version, &after.annotations.contract_version);
                let raised = versions.1.is_some() && versions.0 != versions.1;
                let versioned = versions.0.is_some() && versions.0 == versions.1;
                match &decision {
                    Compatibility::Breaking(_) if versioned => {
                        return Err(CompatibilityRefusal::VersionConflict { uri: uri.clone() });
                    }
                    Compatibility::Breaking(_) if !raised => {
                        return Err(CompatibilityRefusal::Breaking { uri: uri.clone() });
                    }
                    _ => decision,
                }
            }
            (None, Some(_)) => Compatibility::Compatible,
            (Some(_), None) => Compatibility::Breaking(BTreeSet::from([Break::Removed])),
            (None, None) => continue,
        };
        receipts.push(receipt(connector, pack_digest, uri, (old.get(uri), new.get(uri)), decision));
    }
    Ok(receipts)
}

fn receipt(
    connector: &ConnectorName,
    pack_digest: &Digest256,
    uri: &str,
    (before, after): (Option<&PackEntry>, Option<&PackEntry>),
    decision: Compatibility,
) -> CompatibilityReceipt {
    let (before, after) = (before.map(pack_entry), after.map(pack_entry));
    let part = |digest: &Option<Digest256>| digest.map_or_else(Vec::new, |digest| digest.as_bytes().to_vec());
    let breaks: Vec<String> = match &decision {
        Compatibility::Same => vec!["same".to_owned()],
        Compatibility::Compatible => vec!["compatible".to_owned()],
        Compatibility::Breaking(breaks) => breaks.iter().map(|found| format!("{found:?}")).collect(),
    };
    let (old, new) = (part(&before), part(&after));
    let mut fields: Vec<&[u8]> =
        vec![connector.as_str().as_bytes(), pack_digest.as_bytes(), uri.as_bytes(), &old, &new];
    fields.extend(breaks.iter().map(String::as_bytes));
    let digest = framed("scion/compatibility-receipt/v1", &fields);
    CompatibilityReceipt { uri: uri.to_owned(), before, after, decision, digest }
}

/// What callers rely on; words for people do not count.
fn contract(entry: &PackEntry) -> (Arguments, Option<Vec<u8>>) {
    (Arguments::of(entry), entry.output_schema.clone())
}

#[derive(PartialEq, Eq)]
struct Arguments {
    schemas: BTreeMap<String, Json>,
    required: BTreeSet<String>,
}

impl Arguments {
    fn of(entry: &PackEntry) -> Self {
        let read = |bytes: &[u8]| parse_with(bytes, JsonLimits::DEFAULT).unwrap_or_default();
        if let Some(schema) = entry.input_schema.as_deref().map(read) {
            let properties = schema.get("properties").and_then(Json::as_object).cloned().unwrap_or_default();
            let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
            return Self {
                schemas: properties.into_iter().map(|(name, schema)| (name, without_words(&schema))).collect(),
                required: required.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            };
        }
        let body = read(&entry.body);
        let listed = body.get("arguments").and_then(Json::as_array).unwrap_or_default();
        let name = |argument: &Json| argument.get("name").and_then(Json::as_str).map(str::to_owned);
        let needed = |argument: &&Json| argument.get("required").and_then(Json::as_bool) == Some(true);
        Self {
            schemas: listed.iter().filter_map(|argument| Some((name(argument)?, Json::Null))).collect(),
            required: listed.iter().filter(needed).filter_map(name).collect(),
        }
    }
}

fn without_words(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => {
            let kept = members.iter().filter(|(name, value)| {
                !(matches!(name.as_str(), "title" | "description" | "$comment") && value.as_str().is_some())
            });
            Json::Object(kept.map(|(name, value)| (name.clone(), without_words(value))).collect())
        }
        Json::Array(items) => items.iter().map(without_words).collect::<Vec<_>>().into(),
        scalar => scalar.clone(),
    }
}
