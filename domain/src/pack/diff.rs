//! What changed between two packs of a connector, and whether its callers notice.
//!
//! A release serves each tool of the one before: the tool keeps its name, is split into `<tool>_<action>` tools, or another tool takes
//! and gives the same. Any other tool that is gone is lost (SDK-CONNECTOR-CONTROL-R002 says what a changed contract means).

use std::collections::{BTreeMap, BTreeSet};

use super::file::graph_of;
use super::{Break, Compatibility, EntryKind, PackAnnotations, decide};
use crate::declaration::EvolutionPolicy;
use crate::drift::{self, DriftClass, DriftScope};
use crate::id::{ConnectorName, Digest256, StreamName, TenantId};
use crate::json::{Json, JsonLimits, parse_with};
use crate::model::PackEntry;
use crate::source::SourceContract;

/// How much a change is noticed; the worst one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// No caller notices.
    None,
    /// A person has to look.
    Review,
    /// A caller breaks.
    Breaks,
}

impl Impact {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Review => "review",
            Self::Breaks => "breaks",
        }
    }
}

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is new.
    Added,
    /// It keeps its name with other content.
    Changed,
    /// A tool became several, named after it.
    Split(Vec<String>),
    /// Another tool takes and gives the same.
    Covered(String),
    /// It is gone.
    Lost,
}

impl Fate {
    /// As it is written.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Split(_) => "split",
            Self::Covered(_) => "covered",
            Self::Lost => "lost",
        }
    }
}

/// One entry that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// Its kind.
    pub kind: String,
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub fate: Fate,
    /// Whether callers notice.
    pub impact: Impact,
    /// What is different, one line each: names of fields and of reasons, never values.
    pub details: Vec<String>,
}

/// The difference of two packs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackDiff {
    /// Entries that are exactly as they were.
    pub kept: usize,
    /// The others, in the order of their URIs.
    pub changes: Vec<EntryChange>,
}

impl PackDiff {
    /// The worst of all changes.
    pub fn impact(&self) -> Impact {
        self.changes.iter().map(|change| change.impact).max().unwrap_or(Impact::None)
    }

    /// Compares the entries of two packs.
    pub fn of(connector: &ConnectorName, old: &[PackEntry], new: &[PackEntry]) -> Self {
        let before: BTreeMap<&str, &PackEntry> = old.iter().map(|entry| (entry.uri.as_str(), entry)).collect();
        let after: BTreeMap<&str, &PackEntry> = new.iter().map(|entry| (entry.uri.as_str(), entry)).collect();
        let fresh: Vec<&PackEntry> =
            after.values().filter(|entry| !before.contains_key(entry.uri.as_str())).copied().collect();
        let mut diff = Self { kept: 0, changes: Vec::new() };
        let uris: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        for uri in uris {
            let change = match (before.get(uri), after.get(uri)) {
                (Some(old), Some(new)) if old == new => {
                    diff.kept += 1;
                    continue;
                }
                (Some(old), Some(new)) => changed(connector, old, new),
                (Some(old), None) => gone(old, &fresh),
                (None, Some(new)) => entry(new, Fate::Added, Impact::None, Vec::new()),
                (None, None) => continue,
            };
            diff.changes.push(change);
        }
        diff
    }

    /// A document for programs.
    pub fn to_json(&self) -> Json {
        let list = |texts: &[String]| texts.iter().map(|text| Json::from(text.as_str())).collect::<Vec<_>>().into();
        let change = |change: &EntryChange| {
            let by = match &change.fate {
                Fate::Split(names) => list(names),
                Fate::Covered(name) => list(std::slice::from_ref(name)),
                _ => Json::Array(Vec::new()),
            };
            Json::from([
                ("kind", Json::from(change.kind.as_str())),
                ("uri", change.uri.as_str().into()),
                ("fate", change.fate.as_str().into()),
                ("by", by),
                ("impact", change.impact.as_str().into()),
                ("details", list(&change.details)),
            ])
        };
        Json::from([
            ("impact", Json::from(self.impact().as_str())),
            ("kept", (self.kept as u64).into()),
            ("changes", self.changes.iter().map(change).collect::<Vec<_>>().into()),
        ])
    }
}

fn entry(of: &PackEntry, fate: Fate, impact: Impact, details: Vec<String>) -> EntryChange {
    EntryChange { kind: of.kind.clone(), uri: of.uri.clone(), name: of.name.clone(), fate, impact, details }
}

fn is_tool(entry: &PackEntry) -> bool {
    entry.kind == EntryKind::Tool.as_str()
}

fn gone(old: &PackEntry, fresh: &[&PackEntry]) -> EntryChange {
    if is_tool(old) {
        let prefix = format!("{}_", old.name);
        let parts = fresh.iter().filter(|new| is_tool(new) && new.name.starts_with(&prefix) && new.name != prefix);
        let parts: Vec<String> = parts.map(|new| new.name.clone()).collect();
        if !parts.is_empty() {
            return entry(old, Fate::Split(parts), Impact::Review, vec!["callers use the new names".to_owned()]);
        }
        let same = |new: &&&PackEntry| {
            is_tool(new) && new.input_schema == old.input_schema && new.output_schema == old.output_schema
        };
        // A tool without parameters and without an output schema is like any other such tool.
        let telling = old.output_schema.is_some() || parameters(old) > 0;
        if let Some(cover) = fresh.iter().find(same).filter(|_| telling) {
            let details = vec!["callers use the new name".to_owned()];
            return entry(old, Fate::Covered(cover.name.clone()), Impact::Review, details);
        }
    }
    entry(old, Fate::Lost, Impact::Breaks, Vec::new())
}

fn parameters(tool: &PackEntry) -> usize {
    schema(tool.input_schema.as_deref())
        .and_then(|schema| Some(schema.get("properties")?.as_object()?.len()))
        .unwrap_or_default()
}

fn changed(connector: &ConnectorName, old: &PackEntry, new: &PackEntry) -> EntryChange {
    let mut details = Vec::new();
    let mut impact = Impact::None;
    let mut note = |worth: Impact, line: String| {
        impact = impact.max(worth);
        details.push(line);
    };
    if old.kind != new.kind {
        note(Impact::Breaks, format!("was of kind {}", old.kind));
    }
    if (&old.input_schema, &old.output_schema) != (&new.input_schema, &new.output_schema) {
        if is_tool(old) {
            let (worth, line) = contract(connector, old, new);
            note(worth, line);
        } else {
            note(Impact::Review, "its schema changed".to_owned());
        }
    } else if old.body != new.body && !is_tool(old) {
        match (graph_of(old), graph_of(new)) {
            (Some(before), Some(after)) if before == after => {
                note(Impact::None, "written in another way, the same statements".to_owned());
            }
            (Some(_), Some(_)) => note(Impact::Review, "states something else".to_owned()),
            _ if old.kind == EntryKind::Resource.as_str() => note(Impact::Review, "its content changed".to_owned()),
            _ => note(Impact::None, "its content changed".to_owned()),
        }
    } else if old.body != new.body {
        note(Impact::None, "its description changed".to_owned());
    }
    for line in broken(old, new) {
        note(Impact::Breaks, line);
    }
    for (worth, line) in promises(&old.annotations, &new.annotations) {
        note(worth, line);
    }
    if old.media_type != new.media_type {
        note(Impact::Review, "its media type changed".to_owned());
    }
    if details.is_empty() {
        details.push("what is known of it changed".to_owned());
    }
    entry(new, Fate::Changed, impact, details)
}

fn contract(connector: &ConnectorName, old: &PackEntry, new: &PackEntry) -> (Impact, String) {
    let of = |entry: &PackEntry| {
        let input = schema(entry.input_schema.as_deref())?;
        let output = schema(entry.output_schema.as_deref());
        Some(SourceContract {
            schema: drift::contract_schema(&input, output.as_ref()),
            identifier_fields: Vec::new(),
            fingerprint: Digest256::ZERO,
        })
    };
    let (Ok(stream), Ok(tenant)) = (StreamName::parse("tool"), TenantId::parse("local")) else {
        return (Impact::Review, "its schemas changed".to_owned());
    };
    let scope = DriftScope { source: connector.clone(), stream, tenant, observed_sample_digest: Digest256::ZERO };
    let report = drift::classify(of(old).as_ref(), of(new).as_ref(), EvolutionPolicy::OptionalFields, &scope);
    let impact = match report.classification {
        DriftClass::Compatible => Impact::None,
        DriftClass::RequiresReview => Impact::Review,
        DriftClass::Breaking => Impact::Breaks,
    };
    let reasons: Vec<&str> = report.reason_codes.iter().map(|reason| reason.as_str()).collect();
    let fields: Vec<&str> = report.affected_fields.iter().map(String::as_str).collect();
    let reasons = if reasons.is_empty() { "presentation only".to_owned() } else { reasons.join(", ") };
    let fields = if fields.is_empty() { String::new() } else { format!(" at {}", fields.join(", ")) };
    (impact, format!("contract {}: {reasons}{fields}", report.classification.as_str()))
}

/// What a caller can no longer do ([`decide`]).
fn broken(old: &PackEntry, new: &PackEntry) -> Vec<String> {
    if !is_tool(old) && old.kind != EntryKind::Prompt.as_str() {
        return Vec::new();
    }
    let Compatibility::Breaking(breaks) = decide(old, new) else { return Vec::new() };
    let line = |found: &Break| match found {
        Break::Removed => "it is gone".to_owned(),
        Break::ArgumentRemoved(name) => format!("the argument {name} is gone"),
        Break::ArgumentRequired(name) => format!("the argument {name} is needed now"),
        Break::ArgumentChanged(name) => format!("the argument {name} has another rule"),
        Break::AnswerChanged => "its answer has another schema".to_owned(),
    };
    breaks.iter().map(line).collect()
}

fn schema(text: Option<&[u8]>) -> Option<Json> {
    parse_with(text?, JsonLimits::DEFAULT).ok()
}

/// Promises to a caller that were taken back.
fn promises(old: &PackAnnotations, new: &PackAnnotations) -> Vec<(Impact, String)> {
    let mut out = Vec::new();
    if old.read_only_hint == Some(true) && new.read_only_hint != Some(true) {
        out.push((Impact::Breaks, "no longer says that it changes nothing".to_owned()));
    }
    if old.destructive_hint == Some(false) && new.destructive_hint != Some(false) {
        out.push((Impact::Breaks, "no longer says that it destroys nothing".to_owned()));
    }
    if old.idempotent_hint == Some(true) && new.idempotent_hint != Some(true) {
        out.push((Impact::Review, "no longer says that twice is once".to_owned()));
    }
    if old.open_world_hint == Some(false) && new.open_world_hint != Some(false) {
        out.push((Impact::Review, "no longer says that it stays inside".to_owned()));
    }
    let scopes: Vec<&str> = new.required_scopes.difference(&old.required_scopes).map(String::as_str).collect();
    if !scopes.is_empty() {
        out.push((Impact::Breaks, format!("needs further scopes: {}", scopes.join(", "))));
    }
    out
}
