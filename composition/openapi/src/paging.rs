//! How an answer is paged, told by the names of parameters, the members of the answer and a `Link` header field.
//!
//! Nothing is guessed that would walk wrongly: a mode is only found when both ends of it are in the document.

use scion_domain::json::{Json, JsonObject};
use scion_domain::pagination::http::{WalkMode, WalkOptions};

use crate::model::{Parameter, Place};
use crate::names::snake_case;

const PAGE: [&str; 5] = ["page", "page_number", "page_num", "pagenumber", "page_no"];
const SIZE: [&str; 10] =
    ["per_page", "page_size", "pagesize", "limit", "size", "max_results", "maxresults", "count", "top", "page_limit"];
const OFFSET: [&str; 5] = ["offset", "start", "skip", "start_index", "start_at"];
const CURSOR: [&str; 10] = [
    "cursor",
    "page_token",
    "next_token",
    "after",
    "next_cursor",
    "continuation_token",
    "continuation",
    "start_cursor",
    "page_cursor",
    "next_page_token",
];
const NEXT_CURSOR: [&str; 10] = [
    "next_cursor",
    "next_page_token",
    "next_token",
    "cursor",
    "after",
    "end_cursor",
    "continuation_token",
    "continuation",
    "next_page_cursor",
    "next",
];
const NEXT_URL: [&str; 6] = ["next", "next_url", "next_link", "next_page_url", "odata_next_link", "next_href"];
const LISTS: [&str; 9] = ["items", "data", "results", "value", "records", "entries", "values", "elements", "content"];

/// The paging of a reading operation whose answer (a written-out output schema, not wrapped) is a list or has one.
pub(crate) fn detect(parameters: &[Parameter], answer: &Json, link_header: bool) -> Option<WalkOptions> {
    let items_path = items(answer)?;
    let query = |names: &[&str]| query(parameters, names);
    let size = query(&SIZE).map(|parameter| parameter.name.clone());
    let base = WalkOptions { items_path, ..WalkOptions::default() };
    if link_header {
        return Some(WalkOptions { mode: WalkMode::Link, ..base });
    }
    if let Some(cursor) = query(&CURSOR)
        && let Some(cursor_path) = member(answer, &NEXT_CURSOR, is_text)
    {
        let page_size_param = size.unwrap_or(base.page_size_param.clone());
        return Some(WalkOptions {
            mode: WalkMode::Cursor,
            cursor_path,
            cursor_param: cursor.name.clone(),
            page_size_param,
            ..base
        });
    }
    if let Some(next_path) = member(answer, &NEXT_URL, is_url) {
        return Some(WalkOptions { mode: WalkMode::NextUrl, next_path, ..base });
    }
    if let Some(page) = query(&PAGE) {
        let page_size_param = size.unwrap_or(base.page_size_param.clone());
        return Some(WalkOptions { mode: WalkMode::Page, page_param: page.name.clone(), page_size_param, ..base });
    }
    if let (Some(offset), Some(limit)) = (query(&OFFSET), size) {
        return Some(WalkOptions {
            mode: WalkMode::Offset,
            offset_param: offset.name.clone(),
            limit_param: limit,
            ..base
        });
    }
    None
}

fn query<'p>(parameters: &'p [Parameter], names: &[&str]) -> Option<&'p Parameter> {
    let named =
        |parameter: &&Parameter, name: &str| parameter.place == Place::Query && snake_case(&parameter.name) == name;
    names.iter().find_map(|name| parameters.iter().find(|parameter| named(parameter, name)))
}

/// Whether a parameter says that there are pages, although how they follow each other cannot be told.
pub(crate) fn has_pages(parameters: &[Parameter]) -> bool {
    [&PAGE[..], &OFFSET, &CURSOR].iter().any(|names| query(parameters, names).is_some())
}

/// Where the records of an answer without pages are. Without pages, a lone list in an object may be a member of one record; it
/// counts only when its name is a usual one, or that of the collection the path ends with.
pub(crate) fn records(answer: &Json, path: &str) -> Option<String> {
    let found = items(answer)?;
    let last = path.rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
    let usual = found.is_empty() || LISTS.contains(&found.as_str()) || snake_case(&found) == snake_case(last);
    (usual && !last.starts_with('{')).then_some(found)
}

/// The parameter with the page number.
pub(crate) fn page_parameter(parameters: &[Parameter]) -> Option<&Parameter> {
    query(parameters, &PAGE)
}

/// The parameter with the offset.
pub(crate) fn offset_parameter(parameters: &[Parameter]) -> Option<&Parameter> {
    query(parameters, &OFFSET)
}

/// The parameter with the page size.
pub(crate) fn size_parameter(parameters: &[Parameter]) -> Option<&Parameter> {
    query(parameters, &SIZE)
}

fn properties(schema: &Json) -> Option<&JsonObject> {
    schema.get("properties").and_then(Json::as_object)
}

fn has_type(schema: &Json, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(kind)) => kind == wanted,
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind.as_str() == Some(wanted)),
        _ => false,
    }
}

fn is_text(schema: &Json) -> bool {
    has_type(schema, "string")
}

/// A text that says it is an address, by its format or by a name that can mean nothing else.
fn is_url(schema: &Json) -> bool {
    let format = schema.get("format").and_then(Json::as_str);
    is_text(schema) && matches!(format, Some("uri" | "url" | "uri-reference"))
}

/// Where the list is: the answer itself, a list of a usual name, or the only list there is.
fn items(answer: &Json) -> Option<String> {
    if has_type(answer, "array") {
        return Some(String::new());
    }
    let members = properties(answer)?;
    let lists = |members: &JsonObject| -> Vec<String> {
        members.iter().filter(|(_, schema)| has_type(schema, "array")).map(|(name, _)| name.clone()).collect()
    };
    let pick = |found: Vec<String>| match found.as_slice() {
        [only] => Some(only.clone()),
        _ => LISTS.iter().find(|name| found.iter().any(|list| list == *name)).map(|name| (*name).to_owned()),
    };
    let top = pick(lists(members));
    // A dotted path cannot name a member with a dot.
    top.or_else(|| {
        let nested = properties(members.get("data")?)?;
        pick(lists(nested)).map(|name| format!("data.{name}"))
    })
    .filter(|path| path.matches('.').count() <= 1)
}

/// The dotted path of a member of a usual name, in the answer or in one object of it.
fn member(answer: &Json, names: &[&str], fits: impl Fn(&Json) -> bool) -> Option<String> {
    let members = properties(answer)?;
    let find = |members: &JsonObject| {
        names.iter().find_map(|name| {
            let named = |(member, schema): &(&String, &Json)| {
                !member.contains('.') && snake_case(member) == *name && fits(schema)
            };
            members.iter().find(named).map(|(member, _)| member.clone())
        })
    };
    find(members).or_else(|| {
        ["meta", "paging", "pagination", "links", "_links", "page_info", "pageInfo", "response_metadata", "metadata"]
            .iter()
            .find_map(|group| find(properties(members.get(*group)?)?).map(|name| format!("{group}.{name}")))
    })
}
