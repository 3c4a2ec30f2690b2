//! Reading one source of a declaration (`wire/mcp-surface.md` 1.3).

use super::members::{Members, Place};
use super::refusal::DeclarationRefusal;
use super::words::SOURCE_PAGINATION;
use super::{EdgeSpec, ForEach, PaginationMode, SourceSpec};
use crate::id::StreamName;
use crate::json::Json;

const ANY: usize = usize::MAX;

type Read<T> = Result<T, DeclarationRefusal>;

/// The members of a source, for closest-name hints.
pub(super) const SOURCE_MEMBERS: [&str; 20] = [
    "source_id",
    "record_type",
    "tools",
    "id_field",
    "records_path",
    "title_field",
    "text_field",
    "cursor_field",
    "incremental",
    "arguments",
    "pagination",
    "page_param",
    "page_size_param",
    "page_size",
    "start_page",
    "description",
    "server",
    "preset",
    "for_each",
    "edges",
];

impl SourceSpec {
    pub(super) fn read(value: &Json, place: Place<'_>) -> Read<Self> {
        let members = Members::closed(value, place, &SOURCE_MEMBERS)?;
        let source = Self {
            source_id: source_id(&members, "source_id", &members.text("source_id", 0, ANY)?)?,
            record_type: record_type(&members, "record_type")?,
            tools: read_tools(&members)?,
            id_field: members.text("id_field", 1, ANY)?,
            records_path: members.text_or("records_path", "")?,
            title_field: members.optional_text("title_field")?,
            text_field: members.optional_text("text_field")?,
            cursor_field: members.optional_text("cursor_field")?,
            incremental: members.flag_or("incremental", false)?,
            arguments: members.object_or_empty("arguments")?,
            pagination: members.word_or("pagination", &SOURCE_PAGINATION)?,
            page_param: members.optional_text("page_param")?,
            page_size_param: members.optional_text("page_size_param")?,
            page_size: narrow(members.number_or("page_size", 100, 1, 1000)?),
            start_page: members.number_or("start_page", 1, 0, MAX_START_PAGE)?,
            description: members.text_or("description", "")?,
            server: members.text_or("server", "")?,
            preset: match members.given("preset") {
                None => None,
                Some(_) => Some(members.object_or_empty("preset")?),
            },
            for_each: members
                .given("for_each")
                .map(|value| read_for_each(value, members.at("for_each")))
                .transpose()?,
            edges: members.items("edges", read_edge)?,
            set_members: value.as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default(),
        };
        source.check_rules(&members)?;
        Ok(source)
    }

    fn check_rules(&self, members: &Members<'_>) -> Read<()> {
        if self.incremental && self.cursor_field.as_deref().is_none_or(str::is_empty) {
            return Err(members.bad("incremental", "needs a cursor_field"));
        }
        if self.pagination == PaginationMode::Page && self.page_param.as_deref().is_none_or(str::is_empty) {
            return Err(members.bad("pagination", "by page needs a page_param"));
        }
        Ok(())
    }
}

/// The largest first page number that is read; a bound of ours, far above any vendor's.
pub(super) const MAX_START_PAGE: u64 = 1_000_000_000;

pub(super) fn narrow(bounded: u64) -> u32 {
    // Callers bound the value well below u32::MAX.
    u32::try_from(bounded).unwrap_or(u32::MAX)
}

fn read_tools(members: &Members<'_>) -> Read<Vec<String>> {
    if members.get("tools").is_none() {
        return Err(DeclarationRefusal::Missing { path: members.at("tools").text() });
    }
    let tools = members.texts("tools")?;
    if tools.is_empty() {
        return Err(members.bad("tools", "must name at least one tool"));
    }
    for (index, tool) in tools.iter().enumerate() {
        let rule = if tool.trim().is_empty() {
            "must not be blank"
        } else if tools[..index].contains(tool) {
            "repeats a tool"
        } else {
            continue;
        };
        return Err(Place::Item(&members.at("tools"), index).bad(rule));
    }
    Ok(tools)
}

fn source_id(members: &Members<'_>, name: &str, text: &str) -> Read<StreamName> {
    const RULE: &str = "must be 1 to 64 of a-z, 0-9, dot, underscore and hyphen, and start with a letter or digit";
    let bytes = text.as_bytes();
    let first = bytes.first().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let rest = bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-'));
    if !first || !rest || bytes.len() > 64 {
        return Err(members.bad(name, RULE));
    }
    StreamName::parse(text).map_err(|_| members.bad(name, RULE))
}

fn record_type(members: &Members<'_>, name: &str) -> Read<String> {
    let text = members.text(name, 1, 128)?;
    if text.chars().any(char::is_control) {
        return Err(members.bad(name, "must not hold control characters"));
    }
    Ok(text)
}

/// Reads a fan-out; also used for presets.
pub(super) fn read_for_each(value: &Json, place: Place<'_>) -> Read<ForEach> {
    let members = Members::closed(value, place, &["source", "argument", "field"])?;
    let source = members.text("source", 1, ANY)?;
    Ok(ForEach {
        source: StreamName::parse(&source)
            .map_err(|_| members.bad("source", "must be the source_id of another source"))?,
        argument: members.text("argument", 1, ANY)?,
        field: if members.get("field").is_some() { members.text("field", 1, ANY)? } else { "id".to_owned() },
    })
}

fn read_edge(value: &Json, place: Place<'_>) -> Read<EdgeSpec> {
    let members = Members::closed(
        value,
        place,
        &[
            "relationship",
            "target_field",
            "target_type",
            "target_id_key",
            "target_id_template",
            "target_fields",
            "target_stream",
        ],
    )?;
    let relationship = members.text("relationship", 0, ANY)?;
    let bytes = relationship.as_bytes();
    if bytes.is_empty()
        || bytes.len() > 64
        || !bytes[0].is_ascii_alphabetic()
        || !bytes.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
    {
        return Err(members.bad("relationship", "must be a letter and then up to 63 letters, digits or underscores"));
    }
    let template = members.text_or("target_id_template", "{type}:{id}")?;
    if !template.contains("{id}") {
        return Err(members.bad("target_id_template", "must hold {id}"));
    }
    let target_stream = members.optional_text("target_stream")?;
    Ok(EdgeSpec {
        relationship,
        target_field: members.text("target_field", 1, ANY)?,
        target_type: record_type(&members, "target_type")?,
        target_id_key: members.optional_text("target_id_key")?,
        target_id_template: template,
        target_fields: members.texts_by_name("target_fields")?,
        target_stream: target_stream.map(|text| source_id(&members, "target_stream", &text)).transpose()?,
    })
}
