//! One page of a sync preset: what to call the tool with and where the next page starts (`wire/mcp-surface.md` 1.4).

use std::borrow::Cow;

pub use super::extract::{decide_mode, extract, extract_owned, page};
pub use super::mark::{advance_checkpoint, advance_opaque};
use super::mark::{opaque_text, opaque_value};
use crate::declaration::{ParamsStyle, PresetPagination, SyncPreset};
use crate::json::{Json, JsonObject, read_dotted, to_spaced, write_dotted};
use crate::source::SourceRefusal;

/// The most empty pages in a row a tool may answer while it goes on handing out cursors.
pub const MAX_EMPTY_PAGES: u64 = 100;

/// Position member with the number of empty pages in a row; only there while it is not zero.
const EMPTY: &str = "__empty";

/// The page position of this sweep as the preset's paging understands it.
enum Place {
    Start,
    Count(u64),
    Cursor(Json),
}

fn place(preset: &SyncPreset, position: &Json) -> Result<Place, SourceRefusal> {
    let bad = |what| SourceRefusal::BadPosition { what };
    let members = position.as_object().ok_or(bad("not an object"))?;
    if preset.pagination != PresetPagination::Cursor && members.contains_key("cursor") {
        return Err(bad("a cursor, but the preset does not page by cursor"));
    }
    let count = |name: &str| match members.get(name) {
        None => Ok(Place::Start),
        Some(value) => value
            .as_number()
            .and_then(crate::json::JsonNumber::as_u64)
            .map(Place::Count)
            .ok_or(bad("its page or offset is not a whole number")),
    };
    let place = match preset.pagination {
        PresetPagination::None => Place::Start,
        PresetPagination::Page => count("page")?,
        PresetPagination::Offset => count("offset")?,
        PresetPagination::Cursor => match members.get("cursor") {
            None => Place::Start,
            Some(cursor @ (Json::String(_) | Json::Number(_))) => Place::Cursor(cursor.clone()),
            Some(_) => return Err(bad("its cursor is neither text nor a number")),
        },
    };
    if matches!(place, Place::Start) && !members.is_empty() {
        return Err(bad("it says nothing about the paging of this preset"));
    }
    Ok(place)
}

/// The arguments of the call for the page at `position` (`{}` for the first). `since` is the accepted watermark when
/// changes only are wanted; of a source that hands out its own (`checkpoint_path`) it is the text made by
/// [`opaque_text`], and goes out as the value it stands for.
pub fn call_arguments(preset: &SyncPreset, position: &Json, since: Option<&str>) -> Result<JsonObject, SourceRefusal> {
    let since = since
        .filter(|text| !text.is_empty())
        .map(|text| if preset.checkpoint_path.is_empty() { Json::from(text) } else { opaque_value(text) });
    call_arguments_with(preset, position, since.as_ref())
}

/// [`call_arguments`] with a since value of any kind.
pub fn call_arguments_with(
    preset: &SyncPreset,
    position: &Json,
    since: Option<&Json>,
) -> Result<JsonObject, SourceRefusal> {
    let values = page_values(preset, position, since)?;
    let mut arguments = preset.arguments.clone();
    if !preset.action.is_empty() {
        arguments.insert(preset.action_param.clone(), preset.action.as_str().into());
    }
    match preset.params_style {
        ParamsStyle::Args => arguments.extend(values),
        ParamsStyle::Json => {
            arguments.insert(preset.params_arg.clone(), to_spaced(&Json::Object(values)).into());
        }
    }
    Ok(arguments)
}

/// The preset as the live tool needs it. Use it for the call *and* for the page that answers it, since the first page number
/// decides about the second.
///
/// Two things are settled by the input schema. A peer sends the JSON text argument of style `json`, the default, also to
/// tools that have no such parameter and refuse it; to those the parameters go as arguments of their own. And where the
/// declaration is silent about the first page, the `default` or `minimum` of the page parameter says it; with neither it
/// stays 0, the preset's default, although a source's is 1 (`wire/mcp-surface.md` 9.7).
pub fn fitted<'p>(preset: &'p SyncPreset, input_schema: &Json) -> Cow<'p, SyncPreset> {
    let start_page = settled_start_page(preset, input_schema);
    let spread = preset.params_style == ParamsStyle::Json && lacks_text_argument(preset, input_schema);
    if !spread && start_page == preset.start_page {
        return Cow::Borrowed(preset);
    }
    let params_style = if spread { ParamsStyle::Args } else { preset.params_style };
    Cow::Owned(SyncPreset { params_style, start_page, ..preset.clone() })
}

/// [`call_arguments`] with the parameters as the live tool takes them. The first page stays the preset's own; see
/// [`fitted`] for it.
pub fn call_arguments_for_tool(
    preset: &SyncPreset,
    position: &Json,
    since: Option<&str>,
    input_schema: &Json,
) -> Result<JsonObject, SourceRefusal> {
    if preset.params_style == ParamsStyle::Json && lacks_text_argument(preset, input_schema) {
        let spread = SyncPreset { params_style: ParamsStyle::Args, ..preset.clone() };
        return call_arguments(&spread, position, since);
    }
    call_arguments(preset, position, since)
}

/// Whether the schema names its parameters and the JSON text argument is not among them.
fn lacks_text_argument(preset: &SyncPreset, input_schema: &Json) -> bool {
    let named = input_schema.get("properties").and_then(Json::as_object);
    let open = input_schema.get("additionalProperties").and_then(Json::as_bool) != Some(false);
    named.is_some_and(|names| !names.contains_key(&preset.params_arg) && (!open || !names.is_empty()))
}

fn settled_start_page(preset: &SyncPreset, input_schema: &Json) -> u64 {
    if preset.start_page_declared || preset.pagination != PresetPagination::Page {
        return preset.start_page;
    }
    let parameter = input_schema.get("properties").and_then(|names| names.get(&preset.page_param));
    let number = |name: &str| parameter?.get(name)?.as_number()?.as_u64();
    number("default").or_else(|| number("minimum")).unwrap_or(preset.start_page)
}

fn page_values(preset: &SyncPreset, position: &Json, since: Option<&Json>) -> Result<JsonObject, SourceRefusal> {
    let mut values = preset.params.clone();
    let mut put = |path: &str, value: Json| {
        if !path.is_empty() {
            write_dotted(&mut values, path, value);
        }
    };
    let empty_text = |value: &Json| matches!(value, Json::Null) || value.as_str() == Some("");
    if let Some(since) = since.filter(|value| !empty_text(value)) {
        put(&preset.updated_since_param, since.clone());
    }
    match (preset.pagination, place(preset, position)?) {
        (PresetPagination::None, _) => return Ok(values),
        (PresetPagination::Page, at) => {
            put(&preset.page_param, if let Place::Count(page) = at { page } else { preset.start_page }.into());
        }
        (PresetPagination::Offset, at) => {
            put(&preset.page_param, if let Place::Count(offset) = at { offset } else { 0 }.into());
        }
        (PresetPagination::Cursor, Place::Cursor(cursor)) => put(&preset.cursor_param, cursor),
        (PresetPagination::Cursor, _) => {}
    }
    put(&preset.page_size_param, u64::from(preset.page_size).into());
    Ok(values)
}

/// Where the page after this one starts, `None` when the sweep is exhausted. `records` are the records of the page
/// before any filter. The rules stand at the head of [`super`].
pub fn next_position(
    preset: &SyncPreset,
    position: &Json,
    result: &Json,
    records: &[Json],
) -> Result<Option<Json>, SourceRefusal> {
    let last = records.last().filter(|_| !preset.cursor_record_field.is_empty());
    let last = last.and_then(|record| read_dotted(record, &preset.cursor_record_field));
    next_after(preset, position, result, records.len(), last)
}

/// [`next_position`] from the two facts it needs of the records: how many there were, and the cursor field of the last.
pub(super) fn next_after(
    preset: &SyncPreset,
    position: &Json,
    result: &Json,
    raw_count: usize,
    last_record_cursor: Option<&Json>,
) -> Result<Option<Json>, SourceRefusal> {
    let more = more_flag(preset, result)?;
    if more == Some(false) {
        return Ok(None);
    }
    let raw = u64::try_from(raw_count).unwrap_or(u64::MAX);
    let missing = || SourceRefusal::CursorMissing { tool: preset.tool.clone() };
    let repeats = || SourceRefusal::PositionRepeats { tool: preset.tool.clone() };
    match (preset.pagination, place(preset, position)?) {
        (PresetPagination::None, _) if more == Some(true) => Err(missing()),
        (PresetPagination::None, _) => Ok(None),
        (PresetPagination::Page, at) => {
            let page = if let Place::Count(page) = at { page } else { preset.start_page };
            let next = page.checked_add(1).ok_or_else(repeats)?;
            Ok(goes_on(preset, raw, more).then(|| Json::from([("page", next.into())])))
        }
        (PresetPagination::Offset, at) => {
            let offset = if let Place::Count(offset) = at { offset } else { 0 };
            if raw == 0 && more == Some(true) {
                return Err(repeats());
            }
            let next = offset.checked_add(raw).ok_or_else(repeats)?;
            Ok(goes_on(preset, raw, more).then(|| Json::from([("offset", next.into())])))
        }
        (PresetPagination::Cursor, at) => {
            let from_result = cursor_in(preset, read_path(result, &preset.cursor_path))?;
            let from_record = cursor_in(preset, last_record_cursor)?;
            let handed_out = from_result.is_some();
            let Some(next) = from_result.or(from_record) else {
                return if more == Some(true) { Err(missing()) } else { Ok(None) };
            };
            if matches!(&at, Place::Cursor(now) if *now == next) {
                // A cursor taken from the last record repeats when that record is all that is left, and a feed may keep
                // its cursor when nothing is new. A full page under the same cursor is a loop.
                let end = more.is_none() && (raw == 0 || (!handed_out && raw == 1));
                return if end { Ok(None) } else { Err(repeats()) };
            }
            with_empty_count(preset, position, raw, next).map(Some)
        }
    }
}

fn with_empty_count(preset: &SyncPreset, position: &Json, raw: u64, next: Json) -> Result<Json, SourceRefusal> {
    let before = position.get(EMPTY).and_then(|count| count.as_number()?.as_u64()).unwrap_or(0);
    let empty = if raw == 0 { before.saturating_add(1) } else { 0 };
    if empty > MAX_EMPTY_PAGES {
        return Err(SourceRefusal::EmptyPages { tool: preset.tool.clone(), pages: MAX_EMPTY_PAGES });
    }
    let mut members = JsonObject::new();
    members.insert("cursor".to_owned(), next);
    if empty > 0 {
        members.insert(EMPTY.to_owned(), empty.into());
    }
    Ok(Json::Object(members))
}

/// Whether a sweep by page or offset goes on after `raw` records.
fn goes_on(preset: &SyncPreset, raw: u64, more: Option<bool>) -> bool {
    if more == Some(true) {
        return true;
    }
    let declared = preset.page_size_declared && preset.page_size_param.is_empty();
    raw > 0 && (!declared || raw >= u64::from(preset.page_size))
}

fn more_flag(preset: &SyncPreset, result: &Json) -> Result<Option<bool>, SourceRefusal> {
    match read_path(result, &preset.more_path) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(SourceRefusal::BadMember {
            tool: preset.tool.clone(),
            path: preset.more_path.clone(),
            expected: "true or false",
        }),
    }
}

/// A member of the result; the empty path names none.
fn read_path<'a>(result: &'a Json, path: &str) -> Option<&'a Json> {
    if path.is_empty() { None } else { read_dotted(result, path) }
}

/// A cursor as handed out; `null` and empty text mean there is none.
fn cursor_in(preset: &SyncPreset, value: Option<&Json>) -> Result<Option<Json>, SourceRefusal> {
    match value {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) if text.is_empty() => Ok(None),
        Some(cursor @ (Json::String(_) | Json::Number(_))) => Ok(Some(cursor.clone())),
        Some(_) => {
            let path = if preset.cursor_path.is_empty() { &preset.cursor_record_field } else { &preset.cursor_path };
            let expected = "text or number as a cursor";
            Err(SourceRefusal::BadMember { tool: preset.tool.clone(), path: path.clone(), expected })
        }
    }
}

/// The watermark a source hands out itself (`checkpoint_path`), as text for the checkpoint. `None` when the preset has
/// none, or on a page that is not the last; the last page must carry it.
pub fn provider_watermark(
    preset: &SyncPreset,
    result: &Json,
    exhausted: bool,
) -> Result<Option<String>, SourceRefusal> {
    if preset.checkpoint_path.is_empty() {
        return Ok(None);
    }
    match read_dotted(result, &preset.checkpoint_path) {
        None | Some(Json::Null) if exhausted => Err(SourceRefusal::BadMember {
            tool: preset.tool.clone(),
            path: preset.checkpoint_path.clone(),
            expected: "checkpoint",
        }),
        None | Some(Json::Null) => Ok(None),
        Some(value) => Ok(Some(opaque_text(value))),
    }
}
