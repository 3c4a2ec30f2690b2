//! A connector that is not sound is not served: one test per reason.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use scion_domain::json::{Json, parse};
use scion_domain::mcp::ToolHints;
use scion_domain::refusal::Refusal as _;
use scion_serve::{
    Connector, ConnectorBuilder, Edge, Identity, Mapping, Param, Source, TextResource, Tool, ToolBuilder, ToolRefusal,
};

fn finish(tool: ToolBuilder) -> Tool {
    tool.handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Array(Vec::new())) })
}

fn paged(name: &str) -> ToolBuilder {
    Tool::read(name).param(Param::integer("page", "which").or(1))
}

fn tickets() -> Source {
    Source::new("tickets", "Ticket", "id").page("page", None, 100).mapping(Mapping::class("Ticket").field("a", "a"))
}

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
}

fn code(builder: ConnectorBuilder) -> &'static str {
    builder.build().expect_err("this connector must be refused").code()
}

/// Proves: SDK-CONNECTOR-CONTROL-R071, SDK-CENTRALIZED-CAPABILITIES-R030
#[test]
fn the_identity_must_be_one_valid_name_and_a_version() {
    assert_eq!(code(Connector::builder(Identity::new("", "1"))), "connector_name_invalid");
    assert_eq!(code(Connector::builder(Identity::new("Desk MCP", "1"))), "connector_name_invalid");
    assert_eq!(code(Connector::builder(Identity::new("desk-mcp", " "))), "connector_version_missing");
}

#[test]
fn tools_have_names_and_schemas_that_every_client_takes() {
    assert!(desk().tool(finish(Tool::read("a".repeat(44)))).build().is_ok());
    assert_eq!(code(desk().tool(finish(Tool::read("a"))).tool(finish(Tool::read("a")))), "tool_duplicate");
    let unfit = |tool: Tool, finding: &str, fix: &str| {
        let refusal = desk().tool(tool).build().err().unwrap();
        assert_eq!(refusal.code(), "tool_client_profile");
        let text = refusal.to_string();
        assert!(text.contains(finding) && text.contains(fix), "{text}");
    };
    for name in ["a b", "1a", ""] {
        unfit(finish(Tool::read(name)), "profile_name_characters", "begin with a letter");
    }
    for letters in [45, 64, 65] {
        unfit(finish(Tool::read("a".repeat(letters))), "profile_name_too_long", "shorten the name");
    }
    for (schema, finding, fix) in [
        (r#"{"type":"array"}"#, "profile_root_not_object", "put the value into"),
        (r"{}", "profile_root_not_object", "put the value into"),
        (r#"{"type":"object","anyOf":[]}"#, "profile_root_composition", "describe one object"),
        (r#"{"type":"object"}"#, "profile_open_object", "additionalProperties"),
        (
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"https://x"}}}"#,
            "profile_open_reference",
            "write the schema out",
        ),
        (
            r#"{"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer","format":"int64"}}}"#,
            "profile_wide_integer",
            "bound it",
        ),
        (
            r#"{"type":"object","additionalProperties":false,"required":["b"]}"#,
            "profile_required_unknown",
            "describe it",
        ),
    ] {
        let schema = parse(schema).unwrap().as_object().unwrap().clone();
        unfit(finish(Tool::read("desk_list").input_schema(schema)), finding, fix);
    }
    let output = parse(r#"{"type":"object","oneOf":[]}"#).unwrap();
    unfit(finish(Tool::read("desk_list").output_schema(output)), "profile_root_composition", "`desk_list`");
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2
#[test]
fn a_source_reads_through_a_tool_that_is_there_and_only_reads() {
    assert_eq!(code(desk().source("desk_list_tickets", tickets())), "source_tool_unknown");
    let writes = ToolHints { read_only: Some(true), destructive: Some(true), ..ToolHints::default() };
    for hints in [ToolHints::default(), writes] {
        let tool = Tool::with_hints("desk_list_tickets", hints).param(Param::integer("page", "which").or(1));
        assert_eq!(code(desk().tool(finish(tool.source(tickets())))), "source_tool_not_read_only");
    }
    let without_page = Tool::read("desk_list_tickets").source(tickets());
    assert_eq!(code(desk().tool(finish(without_page))), "source_argument_unknown");
    let fixed = paged("desk_list_tickets").source(tickets().argument("state", "open"));
    assert_eq!(code(desk().tool(finish(fixed))), "source_argument_unknown");
    let per_parent = paged("desk_list_tickets").source(tickets().for_each("tickets", "parent", "id"));
    assert_eq!(code(desk().tool(finish(per_parent))), "source_argument_unknown");
}

/// Proves: SDK-SOURCE-INGEST-R004.25
#[test]
fn every_record_type_is_mapped_and_mapped_once() {
    let unmapped = paged("a").source(Source::new("tickets", "Ticket", "id"));
    assert_eq!(code(desk().tool(finish(unmapped.clone()))), "mapping_missing");
    assert!(desk().tool(finish(unmapped.clone())).mapping("Ticket", Mapping::class("T")).build().is_ok());
    assert_eq!(
        code(desk().tool(finish(paged("a").source(tickets()))).mapping("Ticket", Mapping::class("T"))),
        "mapping_conflict"
    );
    let same = Mapping::class("Ticket").field("a", "a");
    assert!(desk().tool(finish(paged("a").source(tickets()))).mapping("Ticket", same).build().is_ok());
}

/// Proves: SDK-SOURCE-INGEST-R004.19, SDK-SOURCE-INGEST-R004.28, SDK-SOURCE-INGEST-R004.36
#[test]
fn what_a_runner_would_refuse_is_refused_before_it_is_served() {
    let with = |source: Source| code(desk().tool(finish(paged("a").source(source))));
    let mapped = |source: Source| source.mapping(Mapping::class("Ticket"));
    assert_eq!(with(mapped(Source::new("Tickets", "Ticket", "id"))), "connector_declaration_invalid");
    assert_eq!(with(mapped(Source::new("tickets", "Ticket", ""))), "connector_declaration_invalid");
    assert_eq!(with(tickets().incremental()), "connector_declaration_invalid");
    assert_eq!(with(tickets().page("page", None, 5_000)), "connector_declaration_invalid");
    assert_eq!(with(tickets().for_each("nobody", "page", "id")), "connector_declaration_invalid");
    assert_eq!(with(tickets().for_each("tickets", "page", "id")), "connector_declaration_invalid");
    assert_eq!(with(tickets().preset("page_size", 0)), "connector_declaration_invalid");
    assert_eq!(with(tickets().edge(Edge::new("not a name", "x", "Person"))), "connector_declaration_invalid");
    assert_eq!(
        with(tickets().edge(Edge::new("owner", "x", "Person").to_source("people"))),
        "source_edge_target_unknown"
    );
    let twice = paged("a").source(tickets()).source(tickets());
    assert_eq!(code(desk().tool(finish(twice))), "connector_declaration_invalid");
}

#[test]
fn no_uri_is_served_twice() {
    let text = || TextResource::new("ontology://desk-mcp/a.ttl", "a", "text/turtle", "");
    assert_eq!(code(desk().text_resource(text()).text_resource(text())), "resource_duplicate");
}
