//! Sources declared in code are served live, on the tool and in `connector://resources`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::json::{Json, parse};
use scion_domain::surface::CallScope;
use scion_ports::ToolSurface as _;
use scion_serve::{
    Connector, Edge, Mapping, Param, Relation, ResourceModel, ServedSurface, Source, TextResource, Tool, ToolRefusal,
};

fn list(name: &str) -> Tool {
    Tool::read(name)
        .param(Param::integer("page", "which").or(1))
        .param(Param::text("ticket", "whose").optional())
        .handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Array(Vec::new())) })
}

fn desk() -> ServedSurface {
    let tickets = Source::new("tickets", "Ticket", "id")
        .page("page", None, 50)
        .edge(Edge::new("owner", "owner.value", "Person").to_source("people").id_key("value"))
        .mapping(Mapping::class("https://desk.example/ns#Ticket").field("subject", "title"));
    let on_tool = Tool::read("desk_list_tickets")
        .param(Param::integer("page", "which").or(1))
        .source(tickets)
        .handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Array(Vec::new())) });
    Connector::builder(scion_serve::identity!("desk-mcp"))
        .tool(on_tool)
        .tool(list("desk_list_people"))
        .tool(list("desk_list_comments"))
        .source("desk_list_people", Source::new("people", "Person", "id"))
        .source("desk_list_comments", Source::new("comments", "Comment", "id").for_each("tickets", "ticket", "id"))
        .mapping("Person", Mapping::class("Person").same_names(&["name"]))
        .mapping("Comment", Mapping::properties().field("text", "text"))
        .resource_model(ResourceModel::new("Ticket").relation(Relation::new("requestedBy", "Person")))
        .build()
        .unwrap()
}

async fn read(surface: &ServedSurface, uri: &str) -> String {
    String::from_utf8(surface.read_resource(&CallScope::default(), uri).await.unwrap().bytes).unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2, SDK-CONNECTOR-CONTROL-R075, SDK-SOURCE-INGEST-R004.21
#[tokio::test]
async fn both_ways_of_declaring_meet_in_one_declaration() {
    let surface = desk();
    let text = read(&surface, "connector://resources").await;
    let declared = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    assert_eq!(declared.connector.as_str(), "desk-mcp");
    let ids: Vec<_> = declared.sources.iter().map(|source| source.source_id.as_str()).collect();
    assert_eq!(ids, ["tickets", "people", "comments"]);
    assert_eq!(declared.sources[1].tools, ["desk_list_people"]);
    assert_eq!(declared.presets().unwrap().len(), 3);
    assert_eq!(declared.resources[0].relations[0].name, "requestedBy");
    let comments = declared.source("comments").unwrap().for_each.as_ref().unwrap();
    assert_eq!((comments.source.as_str(), comments.argument.as_str()), ("tickets", "ticket"));
    let edge = &declared.sources[0].edges[0];
    assert_eq!(edge.target_stream.as_ref().unwrap().as_str(), "people");
    assert_eq!(edge.target_id_template, "{id}", "the other source's own record");
    assert_eq!(declared.schema_mappings["Ticket"].fields["subject"], "title");
    assert!(declared.unmapped_record_types().is_empty());
    // The form of the peer: keys sorted, default spacing, `descriptors` always there.
    assert!(text.starts_with(r#"{"connector": "desk-mcp", "descriptors": [], "#), "{text}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2
#[tokio::test]
async fn the_tool_itself_carries_its_sources() {
    let tools = desk().list_tools(&CallScope::default()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["desk_list_comments", "desk_list_people", "desk_list_tickets"]);
    let item = tools[2].meta["connector_sources"].as_array().unwrap()[0].clone();
    assert_eq!(item.get("source_id").unwrap().as_str(), Some("tickets"));
    let mapping = parse(r#"{"ontology_class":"https://desk.example/ns#Ticket","fields":{"subject":"title"}}"#).unwrap();
    assert_eq!(item.get("mapping"), Some(&mapping));
    assert!(item.get("tools").is_none());
    assert!(tools[1].meta.contains_key("connector_sources"));
}

/// A preset made from a source starts at another page than the source itself, unless the page is written out.
#[tokio::test]
async fn paging_means_the_same_in_the_source_and_in_its_preset() {
    let text = read(&desk(), "connector://resources").await;
    let declared = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    let presets = declared.presets().unwrap();
    let tickets = presets.iter().find(|preset| preset.name.as_str() == "tickets").unwrap();
    assert_eq!((tickets.start_page, tickets.page_size), (1, 50));
    assert_eq!((declared.sources[0].start_page, declared.sources[0].page_size), (1, 50));
}

/// Proves: SDK-CONNECTOR-CONTROL-R071, SDK-CONNECTOR-CONTROL-R071.2, SDK-CENTRALIZED-CAPABILITIES-R030
#[tokio::test]
async fn name_and_version_come_from_one_place() {
    let surface = Connector::builder(scion_serve::identity!()).build().unwrap();
    assert_eq!(surface.identity().name, env!("CARGO_PKG_NAME"));
    assert_eq!(surface.identity().version, env!("CARGO_PKG_VERSION"));
    let declared = read(&surface, "connector://resources").await;
    assert_eq!(declared, r#"{"connector": "scion-serve", "descriptors": []}"#);
    assert_eq!(read(&surface, "connector://status").await, r#"{"server": "scion-serve", "status": "ok"}"#);
    assert_eq!(desk().identity().version, env!("CARGO_PKG_VERSION"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.2, SDK-CONNECTOR-CONTROL-R075.1
#[tokio::test]
async fn a_connector_that_serves_the_declaration_itself_keeps_its_own() {
    let own = TextResource::new("connector://resources", "connector-resources", "application/json", "{\"own\": true}");
    let surface = Connector::builder(scion_serve::identity!()).text_resource(own).build().unwrap();
    assert_eq!(read(&surface, "connector://resources").await, "{\"own\": true}");
    let listed = surface.list_resources(&CallScope::default()).await.unwrap();
    let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["connector://status", "connector://resources"]);
}
