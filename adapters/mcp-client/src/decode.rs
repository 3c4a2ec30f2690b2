//! From the raw text of a result to the values of the domain, without loss.

use scion_domain::base64;
use scion_domain::json::{Json, JsonLimits, JsonObject, parse_with};
use scion_domain::mcp::{ResourceBody, ResourceDescription, ToolDescription, ToolHints, ToolResult};

use crate::scan::{member, members};

/// The text is not what the protocol says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// What a call answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A result.
    Done(ToolResult),
    /// The server wants a person's input before it goes on.
    InputRequired,
}

/// One page of a listing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: Option<String>,
}

/// A tool as listed, with what the session itself needs to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ListedTool {
    pub(crate) description: ToolDescription,
    /// `x-fastmcp-wrap-result` of the output schema.
    pub(crate) wraps: bool,
}

/// Schemas nest deeper than records do.
fn limits(text: &str) -> JsonLimits {
    JsonLimits { max_bytes: text.len(), max_depth: 128, ..JsonLimits::DEFAULT }
}

fn parse(text: &str) -> Result<Json, Malformed> {
    parse_with(text.as_bytes(), limits(text)).map_err(|_| Malformed)
}

fn object(text: &str) -> Result<JsonObject, Malformed> {
    match parse(text)? {
        Json::Object(members) => Ok(members),
        _ => Err(Malformed),
    }
}

fn take_text(members: &mut JsonObject, name: &str) -> Result<String, Malformed> {
    match members.remove(name) {
        Some(Json::String(text)) => Ok(text),
        _ => Err(Malformed),
    }
}

/// An optional text: absent and `null` are the same.
fn take_optional_text(members: &mut JsonObject, name: &str) -> Result<Option<String>, Malformed> {
    match members.remove(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(Malformed),
    }
}

/// Reads a `tools/call` result. Text blocks pass through untouched. `structuredContent` is read only when there is no
/// text block: with text it is the same value again, and a page would be parsed twice.
pub(crate) fn tool_result(raw: &str, wraps: bool) -> Result<Answer, Malformed> {
    let found = members(raw).ok_or(Malformed)?;
    match member(&found, "resultType") {
        None | Some("null" | r#""complete""#) => {}
        Some(r#""input_required""#) => return Ok(Answer::InputRequired),
        Some(_) => return Err(Malformed),
    }
    let mut texts = Vec::new();
    if let Some(content) = member(&found, "content").filter(|raw| *raw != "null") {
        let Json::Array(blocks) = parse(content)? else {
            return Err(Malformed);
        };
        for block in blocks {
            let Json::Object(mut block) = block else {
                return Err(Malformed);
            };
            if block.get("type").and_then(Json::as_str).ok_or(Malformed)? == "text" {
                texts.push(take_text(&mut block, "text")?);
            }
        }
    }
    let structured = match member(&found, "structuredContent") {
        None | Some("null") => None,
        Some(_) if !texts.is_empty() => None,
        Some(raw) => Some(parse(raw)?),
    };
    let is_error = match member(&found, "isError") {
        None | Some("null" | "false") => false,
        Some("true") => true,
        Some(_) => return Err(Malformed),
    };
    let marked = match member(&found, "_meta") {
        Some(meta) if meta.contains("wrap_result") => {
            let meta = parse(meta)?;
            meta.get("fastmcp").and_then(|meta| meta.get("wrap_result")).and_then(Json::as_bool) == Some(true)
        }
        _ => false,
    };
    Ok(Answer::Done(ToolResult { texts, structured, wrapped: wraps || marked, is_error, ..ToolResult::default() }))
}

fn page<T>(raw: &str, list: &str, item: fn(JsonObject) -> Result<T, Malformed>) -> Result<Page<T>, Malformed> {
    let mut result = object(raw)?;
    let Some(Json::Array(items)) = result.remove(list) else {
        return Err(Malformed);
    };
    let items = items
        .into_iter()
        .map(|each| match each {
            Json::Object(members) => item(members),
            _ => Err(Malformed),
        })
        .collect::<Result<_, _>>()?;
    let next = take_optional_text(&mut result, "nextCursor")?.filter(|cursor| !cursor.is_empty());
    Ok(Page { items, next })
}

/// Reads one page of `tools/list`.
pub(crate) fn tools(raw: &str) -> Result<Page<ListedTool>, Malformed> {
    page(raw, "tools", tool)
}

fn tool(mut members: JsonObject) -> Result<ListedTool, Malformed> {
    let hints = match members.remove("annotations") {
        None | Some(Json::Null) => ToolHints::default(),
        Some(Json::Object(hints)) => {
            let hint = |name: &str| hints.get(name).and_then(Json::as_bool);
            ToolHints {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            }
        }
        Some(_) => return Err(Malformed),
    };
    let meta = match members.remove("_meta") {
        None | Some(Json::Null) => JsonObject::new(),
        Some(Json::Object(meta)) => meta,
        Some(_) => return Err(Malformed),
    };
    let input_schema = members.remove("inputSchema").filter(|schema| schema.as_object().is_some()).ok_or(Malformed)?;
    let output_schema = match members.remove("outputSchema") {
        None | Some(Json::Null) => None,
        Some(schema @ Json::Object(_)) => Some(schema),
        Some(_) => return Err(Malformed),
    };
    let wraps = output_schema.as_ref().and_then(|schema| schema.get("x-fastmcp-wrap-result")).and_then(Json::as_bool);
    Ok(ListedTool {
        wraps: wraps == Some(true),
        description: ToolDescription {
            name: take_text(&mut members, "name")?,
            title: take_optional_text(&mut members, "title")?,
            description: take_optional_text(&mut members, "description")?,
            input_schema,
            output_schema,
            hints,
            meta,
        },
    })
}

/// Reads one page of `resources/list`.
pub(crate) fn resources(raw: &str) -> Result<Page<ResourceDescription>, Malformed> {
    page(raw, "resources", |mut members| {
        Ok(ResourceDescription {
            uri: take_text(&mut members, "uri")?,
            name: take_text(&mut members, "name")?,
            media_type: take_optional_text(&mut members, "mimeType")?,
            meta: match members.remove("_meta") {
                Some(Json::Object(meta)) => meta,
                _ => JsonObject::new(),
            },
            ..ResourceDescription::default()
        })
    })
}

/// Reads one page of `prompts/list`; the definitions stay as they are.
pub(crate) fn prompts(raw: &str) -> Result<Page<JsonObject>, Malformed> {
    page(raw, "prompts", |members| match members.get("name") {
        Some(Json::String(_)) => Ok(members),
        _ => Err(Malformed),
    })
}

/// Reads a `prompts/get` result; it stays as it is. `None` when the server asks for a person's input instead.
pub(crate) fn prompt(raw: &str) -> Result<Option<JsonObject>, Malformed> {
    let result = object(raw)?;
    match result.get("resultType").map(Json::as_str) {
        None | Some(None | Some("complete")) => Ok(Some(result)),
        Some(Some("input_required")) => Ok(None),
        Some(Some(_)) => Err(Malformed),
    }
}

/// Reads a `resources/read` result: the content under the URI asked for, or the only one. `None` when the server asks
/// for a person's input instead.
pub(crate) fn resource(raw: &str, uri: &str) -> Result<Option<ResourceBody>, Malformed> {
    let mut result = object(raw)?;
    if result.get("resultType").and_then(Json::as_str) == Some("input_required") {
        return Ok(None);
    }
    let Some(Json::Array(mut contents)) = result.remove("contents") else {
        return Err(Malformed);
    };
    let at = contents.iter().position(|each| each.get("uri").and_then(Json::as_str) == Some(uri));
    let at = match (at, contents.len()) {
        (Some(at), _) => at,
        (None, 1) => 0,
        _ => return Err(Malformed),
    };
    let Json::Object(mut content) = contents.swap_remove(at) else {
        return Err(Malformed);
    };
    let bytes = match (content.remove("text"), content.remove("blob")) {
        (Some(Json::String(text)), None) => text.into_bytes(),
        (None, Some(Json::String(blob))) => base64::decode(&blob).ok_or(Malformed)?,
        _ => return Err(Malformed),
    };
    let media_type = take_optional_text(&mut content, "mimeType")?;
    Ok(Some(ResourceBody { uri: uri.to_owned(), media_type, bytes, ..ResourceBody::default() }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use scion_domain::json::{Json, JsonLimits};

    use super::{Answer, Malformed, resource, resources, tool_result, tools};

    fn done(raw: &str) -> scion_domain::mcp::ToolResult {
        match tool_result(raw, false) {
            Ok(Answer::Done(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_passes_through_and_structure_beside_it_is_not_read() {
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        let raw = format!(
            r#"{{"content":[{{"type":"text","text":"[1e400, \u00e9]"}},{{"type":"image","data":"","mimeType":"x"}}],"structuredContent":{{"a":{deep}}}}}"#
        );
        let result = done(&raw);
        assert_eq!((result.texts.as_slice(), result.structured), (&["[1e400, é]".to_owned()][..], None));
    }

    #[test]
    fn structure_without_text_keeps_its_digits_and_is_unwrapped() {
        let raw = r#"{"content":[],"structuredContent":{"result":[1e400,-0,12345678901234567890123]},"_meta":{"fastmcp":{"wrap_result":true}}}"#;
        let value = done(raw).decode(JsonLimits::DEFAULT).unwrap();
        let digits: Vec<_> =
            value.as_array().unwrap().iter().map(|n| n.as_number().unwrap().as_text().to_owned()).collect();
        assert_eq!(digits, ["1e400", "-0", "12345678901234567890123"]);
    }

    #[test]
    fn an_error_result_is_an_answer() {
        assert!(done(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#).is_error);
        assert_eq!(done("{}").decode(JsonLimits::DEFAULT), Ok(Json::Null));
        assert_eq!(
            tool_result(r#"{"resultType":"input_required","inputRequests":{}}"#, false),
            Ok(Answer::InputRequired)
        );
    }

    #[test]
    fn results_of_another_shape_are_malformed() {
        for bad in [
            "[]",
            "7",
            r#"{"content":{}}"#,
            r#"{"content":[7]}"#,
            r#"{"content":[{"type":"text"}]}"#,
            r#"{"isError":"yes"}"#,
            r#"{"structuredContent":{"a":01}}"#,
            r#"{"resultType":"task"}"#,
        ] {
            assert_eq!(tool_result(bad, false), Err(Malformed), "{bad}");
        }
        for bad in ["{}", r#"{"tools":{}}"#, r#"{"tools":[{"name":"t"}]}"#, r#"{"tools":[],"nextCursor":7}"#] {
            assert_eq!(tools(bad), Err(Malformed), "{bad}");
        }
        assert_eq!(resources(r#"{"resources":[{"uri":"a"}]}"#), Err(Malformed));
        for bad in [r#"{"contents":[]}"#, r#"{"contents":[{"uri":"x"}]}"#, r#"{"contents":[{"uri":"x","blob":"?"}]}"#] {
            assert_eq!(resource(bad, "x"), Err(Malformed), "{bad}");
        }
    }

    #[test]
    fn a_tool_is_read_whole() {
        let raw = r#"{"tools":[{"name":"t","title":"T","inputSchema":{"type":"object","x":1.0},"outputSchema":{"x-fastmcp-wrap-result":true},
            "annotations":{"readOnlyHint":true,"destructiveHint":false},"_meta":{"k":1}}],"nextCursor":"c"}"#;
        let page = tools(raw).unwrap();
        assert_eq!(page.next.as_deref(), Some("c"));
        let tool = &page.items[0];
        assert!(tool.wraps && tool.description.hints.is_read_only());
        assert_eq!(tool.description.input_schema.get("x").unwrap().as_number().unwrap().as_text(), "1.0");
        assert!(tool.description.meta.contains_key("k"));
    }

    #[test]
    fn a_prompt_stays_as_it_is() {
        let listed =
            super::prompts(r#"{"prompts":[{"name":"p","arguments":[{"name":"a","required":false}],"x":1.0}]}"#)
                .unwrap();
        let kept = scion_domain::json::to_compact(&Json::Object(listed.items[0].clone()));
        assert_eq!(kept, r#"{"arguments":[{"name":"a","required":false}],"name":"p","x":1.0}"#);
        assert_eq!(super::prompts(r#"{"prompts":[{"title":"p"}]}"#), Err(Malformed));
        assert!(super::prompt(r#"{"messages":[]}"#).unwrap().unwrap().contains_key("messages"));
        assert_eq!(super::prompt(r#"{"resultType":"input_required"}"#), Ok(None));
        assert_eq!(super::prompt(r#"{"resultType":"task"}"#), Err(Malformed));
        assert_eq!(super::prompt("[]"), Err(Malformed));
    }

    #[test]
    fn a_resource_is_its_exact_bytes() {
        let text =
            resource(r#"{"contents":[{"uri":"y","text":"no"},{"uri":"x","text":"yes","mimeType":"text/plain"}]}"#, "x")
                .unwrap()
                .unwrap();
        assert_eq!((text.bytes.as_slice(), text.media_type.as_deref()), (&b"yes"[..], Some("text/plain")));
        let blob = resource(r#"{"contents":[{"uri":"x","blob":"AP8="}]}"#, "x").unwrap().unwrap();
        assert_eq!(blob.bytes, [0, 255]);
    }

    proptest! {
        #[test]
        fn any_text_is_an_answer_or_malformed(text in "[\\[\\]{}\":,a-z0-9. ]{0,60}") {
            let _ = tool_result(&text, true);
            let _ = tools(&text);
            let _ = resources(&text);
            let _ = resource(&text, "x");
            let _ = tool_result(&format!(r#"{{"content":[{text}],"_meta":{{"wrap_result":{text}}}}}"#), false);
        }
    }
}
