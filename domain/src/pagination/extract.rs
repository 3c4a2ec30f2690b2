//! The records of a page, and what else its result says (`wire/mcp-surface.md` 1.4).

use std::collections::HashSet;

use super::mark::of_field;
use super::preset::{next_after, provider_watermark};
use crate::declaration::{PresetPagination, RecordMode, SyncPreset};
use crate::id::{Digest256, RecordId};
use crate::json::{Json, JsonObject, read_dotted};
use crate::model::IngestMode;
use crate::source::{RawRecord, RawRelationship, SourcePage, SourceRefusal};

type Read<T> = Result<T, SourceRefusal>;

/// The most records taken from one page.
pub const MAX_PAGE_RECORDS: usize = 100_000;

/// What a result holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// The records, in the order of the result.
    pub records: Vec<RawRecord>,
    /// How many there are: the number that decides about the end of paging.
    pub raw_count: usize,
    /// The result says that its live list is everything there is.
    pub authoritative: bool,
    /// The edges it states.
    pub relationships: Vec<RawRelationship>,
    /// What it says is gone, with the reason.
    pub withdrawals: Vec<(RecordId, String)>,
    /// Everything that is live; only of an authoritative result.
    pub live_ids: Option<Vec<RecordId>>,
    /// A digest the source vouches for.
    pub content_hash: Option<Digest256>,
}

/// Takes the records out of a result, leaving the result as it is.
pub fn extract(preset: &SyncPreset, result: &Json) -> Read<Extracted> {
    extract_owned(preset, result.clone())
}

/// Takes the records out of a result without copying them.
pub fn extract_owned(preset: &SyncPreset, mut result: Json) -> Read<Extracted> {
    let mut extracted = envelope(preset, &result)?;
    extracted.records = records(preset, &mut result)?;
    extracted.raw_count = extracted.records.len();
    Ok(extracted)
}

/// A whole page: the records, the mode, the next position, the source's own watermark. `since_sent` says whether the
/// call asked for changes only.
pub fn page(preset: &SyncPreset, position: &Json, mut result: Json, since_sent: bool) -> Read<SourcePage> {
    let head = envelope(preset, &result)?;
    let mode = decide_mode(preset, &result, since_sent);
    if !head.withdrawals.is_empty() && mode != IngestMode::Delta {
        return Err(SourceRefusal::BadMode { tool: preset.tool.clone() });
    }
    let handed_out = provider_watermark(preset, &result, false)?;
    let records = records(preset, &mut result)?;
    let last = records.last().filter(|_| !preset.cursor_record_field.is_empty());
    let last = last.and_then(|record| read_member(&record.payload, &preset.cursor_record_field));
    // The list was moved out; flags and cursors beside it are untouched.
    let next_position = next_after(preset, position, &result, records.len(), last)?;
    let watermark = match handed_out {
        None => provider_watermark(preset, &Json::Null, next_position.is_none())?,
        some => some,
    };
    Ok(SourcePage {
        mode: Some(mode),
        raw_count: records.len(),
        records,
        relationships: head.relationships,
        withdrawals: head.withdrawals,
        live_ids: head.live_ids,
        content_hash: head.content_hash,
        watermark,
        next_position,
    })
}

/// The mode of a page: `reconcile` when the authoritative flag is exactly `true`, else what the parameters ask for, else
/// `delta` when changes only were asked for, else `full`.
pub fn decide_mode(preset: &SyncPreset, result: &Json, since_sent: bool) -> IngestMode {
    if authoritative(preset, result) {
        return IngestMode::Reconcile;
    }
    match preset.params.get(&preset.mode_param).and_then(Json::as_str) {
        Some("full") => IngestMode::Full,
        Some("delta") => IngestMode::Delta,
        _ if since_sent => IngestMode::Delta,
        _ => IngestMode::Full,
    }
}

fn authoritative(preset: &SyncPreset, result: &Json) -> bool {
    !preset.authoritative_path.is_empty() && read_dotted(result, &preset.authoritative_path) == Some(&Json::Bool(true))
}

fn read_member<'a>(record: &'a JsonObject, path: &str) -> Option<&'a Json> {
    match path.split_once('.') {
        None => record.get(path),
        Some((head, tail)) => read_dotted(record.get(head)?, tail),
    }
}

fn bad(preset: &SyncPreset, path: impl Into<String>, expected: &'static str) -> SourceRefusal {
    SourceRefusal::BadMember { tool: preset.tool.clone(), path: path.into(), expected }
}

/// Moves the list of records out of the result.
fn take_list(preset: &SyncPreset, result: &mut Json) -> Read<Json> {
    let missing = || SourceRefusal::NoRecords { tool: preset.tool.clone(), path: preset.records_path.clone() };
    // An empty list has no text block, so a whole result that is `null` is an empty page, not a malformed one.
    if result.is_null() {
        return Ok(Json::Array(Vec::new()));
    }
    if preset.records_path.is_empty() || (preset.records_path == "result" && result.as_array().is_some()) {
        return Ok(std::mem::take(result));
    }
    let mut here = result;
    for segment in preset.records_path.split('.') {
        here = match here {
            Json::Object(members) => members.get_mut(segment),
            Json::Array(items) => segment.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            _ => None,
        }
        .ok_or_else(missing)?;
    }
    Ok(std::mem::take(here))
}

fn records(preset: &SyncPreset, result: &mut Json) -> Read<Vec<RawRecord>> {
    let missing = || SourceRefusal::NoRecords { tool: preset.tool.clone(), path: preset.records_path.clone() };
    let items = match take_list(preset, result)? {
        // A list that is `null` is how some languages write an empty one.
        Json::Null => Vec::new(),
        Json::Object(members) if preset.records_is_mapping => return mapping_records(preset, members),
        Json::Array(items) if !preset.records_is_mapping || items.is_empty() => items,
        // One record (a `get` tool, a fan-out over details), where no paging could be meant.
        Json::Object(record) if preset.pagination == PresetPagination::None => vec![Json::Object(record)],
        _ => return Err(missing()),
    };
    let mut taken = Taken::new(preset, items.len())?;
    for (index, item) in items.into_iter().enumerate() {
        let Json::Object(record) = item else {
            return Err(SourceRefusal::NotAnObject { tool: preset.tool.clone(), index });
        };
        taken.add(index, record)?;
    }
    Ok(taken.records)
}

fn mapping_records(preset: &SyncPreset, members: JsonObject) -> Read<Vec<RawRecord>> {
    let mut taken = Taken::new(preset, members.len())?;
    for (index, (key, item)) in members.into_iter().enumerate() {
        let Json::Object(mut record) = item else {
            return Err(SourceRefusal::NotAnObject { tool: preset.tool.clone(), index });
        };
        let before = record.insert(preset.mapping_key_field.clone(), Json::from(key.as_str()));
        if before.is_some_and(|value| value.as_str() != Some(&key)) {
            return Err(bad(preset, &preset.mapping_key_field, "member equal to its own key"));
        }
        taken.add(index, record)?;
    }
    Ok(taken.records)
}

/// The records taken so far, ids unique.
struct Taken<'p> {
    preset: &'p SyncPreset,
    records: Vec<RawRecord>,
    ids: HashSet<RecordId>,
    allowed: HashSet<&'p str>,
}

impl<'p> Taken<'p> {
    fn new(preset: &'p SyncPreset, count: usize) -> Read<Self> {
        if count > MAX_PAGE_RECORDS {
            return Err(SourceRefusal::PageTooLong { tool: preset.tool.clone(), count, limit: MAX_PAGE_RECORDS });
        }
        let fields = preset.content_fields.iter().chain(&preset.metadata_fields).map(String::as_str);
        let allowed = if preset.strict_schema { fields.collect() } else { HashSet::new() };
        Ok(Self { preset, records: Vec::with_capacity(count), ids: HashSet::with_capacity(count), allowed })
    }

    fn add(&mut self, index: usize, payload: JsonObject) -> Read<()> {
        let preset = self.preset;
        let tool = || preset.tool.clone();
        let text = match read_member(&payload, &preset.id_field) {
            Some(Json::String(text)) if !text.is_empty() => text.as_str(),
            Some(Json::Number(number)) => number.as_text(),
            _ => {
                return Err(SourceRefusal::NoId { tool: tool(), index, field: preset.id_field.clone() });
            }
        };
        let id = RecordId::parse(text).map_err(|refusal| SourceRefusal::BadId { tool: tool(), index, refusal })?;
        if !self.ids.insert(id.clone()) {
            return Err(SourceRefusal::DuplicateId { tool: tool(), index });
        }
        if preset.strict_schema && payload.keys().any(|name| !self.allowed.contains(name.as_str())) {
            return Err(SourceRefusal::UndeclaredField { tool: tool(), index });
        }
        if preset.record_mode == RecordMode::TypedEntities
            && read_member(&payload, &preset.node_type_field).and_then(Json::as_str).is_none_or(str::is_empty)
        {
            return Err(bad(preset, format!("[{index}].{}", preset.node_type_field), "type name"));
        }
        let updated_at = if preset.updated_field.is_empty() {
            None
        } else {
            of_field(read_member(&payload, &preset.updated_field)).map_err(|_| {
                bad(preset, format!("[{index}].{}", preset.updated_field), "text or number as a change mark")
            })?
        };
        self.records.push(RawRecord { id, payload, updated_at });
        Ok(())
    }
}

/// Everything of a result but its records.
fn envelope(preset: &SyncPreset, result: &Json) -> Read<Extracted> {
    let authoritative = authoritative(preset, result);
    let hash = read_dotted(result, &preset.content_hash_path).filter(|_| !preset.content_hash_path.is_empty());
    Ok(Extracted {
        authoritative,
        relationships: relationships(preset, result)?,
        withdrawals: withdrawals(preset, result)?,
        live_ids: if authoritative { Some(live_ids(preset, result)?) } else { None },
        content_hash: hash.and_then(Json::as_str).and_then(|text| Digest256::parse_hex(text).ok()),
        ..Extracted::default()
    })
}

/// The list at an optional path; absent and `null` are empty.
fn list_at<'a>(preset: &SyncPreset, result: &'a Json, path: &str) -> Read<&'a [Json]> {
    if path.is_empty() {
        return Ok(&[]);
    }
    match read_dotted(result, path) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(items)) if items.len() <= MAX_PAGE_RECORDS => Ok(items),
        Some(Json::Array(items)) => {
            Err(SourceRefusal::PageTooLong { tool: preset.tool.clone(), count: items.len(), limit: MAX_PAGE_RECORDS })
        }
        Some(_) => Err(bad(preset, path, "list")),
    }
}

fn id_of(value: Option<&Json>) -> Option<RecordId> {
    let text = match value? {
        Json::String(text) => text.as_str(),
        Json::Number(number) => number.as_text(),
        _ => return None,
    };
    RecordId::parse(text).ok()
}

fn relationships(preset: &SyncPreset, result: &Json) -> Read<Vec<RawRelationship>> {
    let path = &preset.relationships_path;
    let items = list_at(preset, result, path)?.iter().enumerate();
    items
        .map(|(index, item)| {
            let field = |name: &str, expected| bad(preset, format!("{path}[{index}].{name}"), expected);
            let end = |name: &str| id_of(read_dotted(item, name)).ok_or_else(|| field(name, "record id"));
            let kind = &preset.relationship_type_field;
            let relation = read_dotted(item, kind).and_then(Json::as_str).filter(|text| !text.is_empty());
            let properties = &preset.relationship_properties_field;
            let properties = match read_dotted(item, properties).filter(|_| !properties.is_empty()) {
                None | Some(Json::Null) => JsonObject::new(),
                Some(Json::Object(members)) => members.clone(),
                Some(_) => return Err(field(properties, "object")),
            };
            Ok(RawRelationship {
                source: end(&preset.relationship_source_field)?,
                target: end(&preset.relationship_target_field)?,
                relation: relation.ok_or_else(|| field(kind, "relation name"))?.to_owned(),
                properties,
            })
        })
        .collect()
}

fn withdrawals(preset: &SyncPreset, result: &Json) -> Read<Vec<(RecordId, String)>> {
    let path = &preset.withdrawals_path;
    let items = list_at(preset, result, path)?.iter().enumerate();
    items
        .map(|(index, item)| {
            let field = |name: &str, expected| bad(preset, format!("{path}[{index}].{name}"), expected);
            let id = &preset.withdrawal_id_field;
            let reason = &preset.withdrawal_reason_field;
            let text = read_dotted(item, reason).and_then(Json::as_str).filter(|text| !text.is_empty());
            Ok((
                id_of(read_dotted(item, id)).ok_or_else(|| field(id, "record id"))?,
                text.ok_or_else(|| field(reason, "reason"))?.to_owned(),
            ))
        })
        .collect()
}

/// The complete list of what is live: ids, or objects that hold one. An authoritative result without the list is refused:
/// it would withdraw everything.
fn live_ids(preset: &SyncPreset, result: &Json) -> Read<Vec<RecordId>> {
    let path = &preset.reconcile_path;
    let items =
        read_dotted(result, path).and_then(Json::as_array).ok_or_else(|| bad(preset, path, "list of live ids"))?;
    let mut seen = HashSet::with_capacity(items.len());
    let mut ids = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let value = if item.as_object().is_some() { read_dotted(item, &preset.id_field) } else { Some(item) };
        let id = id_of(value).ok_or_else(|| bad(preset, format!("{path}[{index}]"), "record id"))?;
        if seen.insert(id.clone()) {
            ids.push(id);
        }
    }
    Ok(ids)
}
