//! Input schemas, tags and what is refused at registration.

use std::collections::BTreeMap;

use super::super::*;
use super::{hints_of, plain, tag_set, texts, vectors};
use crate::json::{Json, parse};
use crate::refusal::Refusal as _;
use crate::test_vectors::{section, text};

/// One field of a fixture: `name`, its schema, its default.
type Field = (&'static str, &'static str, Option<&'static str>);

const TEXT: &str = r#"{"type": "string"}"#;
const WHOLE: &str = r#"{"type": "integer"}"#;

/// The fixture client's methods, in the terms a connector in Rust declares them.
const SIGNATURES: &[(&str, &[Field], bool)] = &[
    ("annotated", &[("a", r#"{"type": "integer", "minimum": 1, "maximum": 9}"#, Some("1"))], false),
    ("ctx", &[("ctx", TEXT, None)], false),
    (
        "dates",
        &[
            ("d", r#"{"type": "string", "format": "date"}"#, None),
            ("t", r#"{"type": "string", "format": "date-time"}"#, None),
            ("u", r#"{"type": "string", "format": "uuid"}"#, None),
        ],
        false,
    ),
    ("enumed", &[("c", r#"{"type": "string", "enum": ["red", "blue"]}"#, None)], false),
    ("kwargs_too", &[("a", WHOLE, None)], true),
    ("list_users", &[], false),
    (
        "lists",
        &[
            ("a", r#"{"type": "array", "items": {"type": "string"}}"#, None),
            ("b", r#"{"type": "object", "additionalProperties": true}"#, None),
            ("c", r#"{"type": "array", "items": {"type": "integer"}}"#, Some("[]")),
        ],
        false,
    ),
    ("literal", &[("s", r#"{"type": "string", "enum": ["x", "y"]}"#, Some("\"x\""))], false),
    ("mixed_order", &[("a", WHOLE, Some("1")), ("b", TEXT, None)], false),
    (
        "model",
        &[(
            "f",
            r#"{"type": "object", "required": ["name"],
                "properties": {"name": {"type": "string"}, "limit": {"type": "integer", "default": 5}}}"#,
            None,
        )],
        false,
    ),
    (
        "modelled",
        &[
            ("query", TEXT, None),
            ("page", WHOLE, Some("1")),
            ("tags", r#"{"type": "array", "items": {"type": "string"}}"#, Some("[]")),
        ],
        false,
    ),
    ("only_kwargs", &[], true),
    (
        "optional",
        &[
            ("a", WHOLE, Some("3")),
            ("b", r#"{"anyOf": [{"type": "string"}, {"type": "null"}]}"#, Some("null")),
            ("c", r#"{"anyOf": [{"type": "number"}, {"type": "null"}]}"#, Some("1.5")),
        ],
        false,
    ),
    ("plain", &[], false),
    ("required", &[("a", WHOLE, None), ("b", TEXT, None)], false),
    ("returns_dict", &[], false),
    ("returns_list", &[], false),
    ("returns_model", &[], false),
    ("returns_str", &[], false),
    ("star_args", &[("a", WHOLE, Some("1"))], false),
    ("untyped", &[("a", "{}", None), ("b", "{}", Some("2"))], false),
];

fn field(&(name, schema, default): &Field) -> InputField {
    let schema = parse(schema).unwrap();
    match default {
        Some(value) => InputField::optional(name, schema, parse(value).unwrap()),
        None => InputField::required(name, schema),
    }
}

pub(super) fn operation(method: &str, domain: &str, inputs: OperationInputs) -> Operation {
    Operation {
        method: method.to_owned(),
        domain: domain.to_owned(),
        description: String::new(),
        verb: None,
        sent: Vec::new(),
        inputs,
    }
}

fn assert_tool(tool: &OperationTool, expected: &Json) {
    let name = text(expected, "name");
    assert_eq!(tool.name.as_str(), name);
    assert_eq!(tool.title, text(expected, "title"), "{name}");
    assert_eq!(tool.hints, hints_of(expected.get("annotations").unwrap()), "{name}");
    let mut schema = plain(expected.get("inputSchema").unwrap());
    if name == "desk_untyped" {
        // DEVIATIONS.md: a title that repeats the name is not added.
        schema = parse(&crate::json::to_compact(&schema).replace(r#","title":"B""#, "")).unwrap();
    }
    assert_eq!(Json::Object(tool.inputs.schema()), schema, "{name}");
    let tags = expected.get("_meta").and_then(|meta| meta.get("fastmcp")).and_then(|meta| meta.get("tags"));
    assert_eq!(tool.tags, tag_set(tags), "{name}");
    assert_eq!(Json::Object(tool.meta()), *expected.get("_meta").unwrap(), "{name}");
}

fn tool_map(section: &Json) -> BTreeMap<String, Json> {
    let tools = section.get("tools").and_then(Json::as_array).unwrap();
    assert!(!tools.is_empty());
    tools.iter().map(|tool| (text(tool, "name").to_owned(), tool.clone())).collect()
}

#[test]
fn surface_declared_signatures() {
    let file = vectors();
    let section = file.get("signature_class").unwrap();
    let operations: Vec<_> = SIGNATURES
        .iter()
        .map(|(method, fields, takes_more)| {
            let inputs = OperationInputs::of(fields.iter().map(field).collect());
            let domain = if *method == "list_users" { "Users" } else { "Tickets" };
            operation(method, domain, if *takes_more { inputs.and_more() } else { inputs })
        })
        .collect();
    let tools = operation_tools(&ToolPrefix::parse("desk").unwrap(), &operations, &[]).unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str().to_owned()).collect();
    assert_eq!(names, texts(section.get("registered")));
    let untyped: Vec<_> = untyped_tools(&tools).into_iter().map(|name| name.as_str().to_owned()).collect();
    assert_eq!(untyped, texts(section.get("untyped")));
    let expected = tool_map(section);
    for tool in &tools {
        let expected = &expected[tool.name.as_str()];
        assert_tool(tool, expected);
        if let Some(served) = expected.get("outputSchema") {
            let wraps = served.get("x-fastmcp-wrap-result").is_some();
            let of_value =
                if wraps { served.get("properties").and_then(|all| all.get("result")).unwrap() } else { served };
            assert_eq!(output_schema(of_value), (served.clone(), wraps));
            assert_eq!(output_schema(served), (served.clone(), wraps), "a wrapped schema is not wrapped again");
        }
    }
}

#[test]
fn surface_manifest_operations() {
    let file = vectors();
    let section = file.get("manifest_class").unwrap();
    let manifest = read_manifest(section.get("manifest").unwrap()).unwrap();
    let a = OperationInputs::of(vec![field(&("a", WHOLE, None))]);
    let operations: Vec<_> = ["fallback", "find", "maybe", "nothing", "save"]
        .iter()
        .map(|method| operation(method, "MApi", a.clone()))
        .collect();
    let tools = operation_tools(&ToolPrefix::parse("m").unwrap(), &operations, &manifest).unwrap();
    let expected = tool_map(section);
    assert_eq!(tools.len(), expected.len());
    for tool in &tools {
        assert_tool(tool, &expected[tool.name.as_str()]);
    }
    assert_eq!(tools[1].description, "Find tickets");
    let asks: Vec<_> = tools.iter().filter(|tool| tool.asks).map(|tool| tool.method.as_str()).collect();
    assert_eq!(asks, ["nothing"]);
}

/// A field whose wire name is reserved is shown under it; the operation gets its own name for it.
#[test]
fn surface_wire_names_survive() {
    let file = vectors();
    let manifest =
        read_manifest(file.get("manifest_class").and_then(|section| section.get("manifest")).unwrap()).unwrap();
    let inputs = manifest[0].inputs.clone().unwrap();
    let given = parse(r#"{"ticket_id": 1, "x__trace": "t", "from": "a", "renamed": true, "page_size": null}"#).unwrap();
    let bound = inputs.bind(given.as_object().unwrap().clone()).unwrap();
    assert_eq!(
        Json::Object(bound),
        parse(r#"{"ticket_id": 1, "x__trace": "t", "from_": "a", "renamed": true}"#).unwrap()
    );
    let kind = InputField::required("type", parse(TEXT).unwrap()).argument("type", "type_");
    assert_eq!(kind.shown(), "type");
}

#[test]
fn surface_registrations_that_are_refused() {
    let file = vectors();
    let desk = ToolPrefix::parse("desk").unwrap();
    let none = OperationInputs::default;
    for case in section(&file, "registration_refusals") {
        let code = match text(case, "id") {
            "name-collision" => {
                let twice = [operation("list", "a", none()), operation("desk_list", "b", none())];
                operation_tools(&desk, &twice, &[]).unwrap_err().code()
            }
            "manifest-keyword-parameter" => {
                // DEVIATIONS.md: a reserved word is no obstacle to reading an argument by its name.
                let manifest =
                    parse(r#"[{"method": "find", "parameters": [{"name": "from", "in": "query"}]}]"#).unwrap();
                let tools =
                    operation_tools(&desk, &[operation("find", "a", none())], &read_manifest(&manifest).unwrap());
                assert_eq!(tools.unwrap()[0].inputs.fields()[0].shown(), "from");
                continue;
            }
            "parameter-type-without-schema" => {
                let inputs = OperationInputs::of(vec![InputField::required("a", Json::Null)]);
                operation_tools(&desk, &[operation("find", "a", inputs)], &[]).unwrap_err().code()
            }
            "manifest-duplicate" => {
                read_manifest(&parse(r#"[{"method": "find"}, {"method": "find"}]"#).unwrap()).unwrap_err().code()
            }
            "manifest-no-method" => read_manifest(&parse(r#"[{"http": "GET"}]"#).unwrap()).unwrap_err().code(),
            other => panic!("a refusal the test does not know: {other}"),
        };
        let expected = match text(case, "id") {
            "name-collision" => "tool_surface_collision",
            "parameter-type-without-schema" => "tool_surface_parameter_schema",
            "manifest-duplicate" => "tool_surface_manifest_duplicate",
            _ => "tool_surface_manifest",
        };
        assert_eq!(code, expected);
    }
}

#[test]
fn surface_inputs_that_are_refused() {
    let text_field = |name: &str| InputField::required(name, parse(TEXT).unwrap());
    let refused = |inputs: OperationInputs| inputs.check("desk_find").unwrap_err().code();
    assert_eq!(
        refused(OperationInputs::of(vec![text_field("pageSize"), text_field("page_size")])),
        "tool_surface_parameter_duplicate"
    );
    assert_eq!(
        refused(OperationInputs::of(vec![text_field("params_json")]).and_more()),
        "tool_surface_parameter_duplicate"
    );
    assert_eq!(refused(OperationInputs::of(vec![text_field("2nd")])), "tool_surface_parameter_name");
    assert_eq!(refused(OperationInputs::of(vec![text_field("a").argument("a", "b c")])), "tool_surface_parameter_name");
    for bad in [
        "{}",
        "[1]",
        r#"[{"method": 1}]"#,
        r#"[{"method": "a", "parameters": {}}]"#,
        r#"[{"method": "a", "parameters": [{}]}]"#,
    ] {
        assert_eq!(read_manifest(&parse(bad).unwrap()).unwrap_err().code(), "tool_surface_manifest", "{bad}");
    }
    let stray = read_manifest(&parse(r#"[{"method": "gone"}]"#).unwrap()).unwrap();
    let desk = ToolPrefix::parse("desk").unwrap();
    assert_eq!(operation_tools(&desk, &[], &stray).unwrap_err().code(), "tool_surface_manifest");
}
