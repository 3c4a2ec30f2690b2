use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scion_domain::cursor::OffsetCursor;
use scion_domain::ingest::{Entity, IngestRefusal};
use scion_domain::json::{Json, JsonObject, parse};
use scion_sync::mapping::{Mapped, RecordMap};
use scion_sync::stream::{CursorPage, FnClient, SourceStream, SyncPlan};
use scion_sync::tools::{ArgumentKind, IngestTool, RegisteredIngestTool, ToolArgument, ingest_registration};

use crate::graph::{Graph, code, desk, object};

struct Vendor;

impl Vendor {
    fn tickets(project: &str, count: u64) -> Vec<Json> {
        (0..count).map(|n| Json::from([("id", format!("{project}-{n}").into())])).collect()
    }
}

struct Fixture {
    graph: Arc<Graph>,
    opened: Arc<AtomicUsize>,
    closed: Arc<AtomicUsize>,
    tools: Vec<RegisteredIngestTool>,
}

fn project() -> ToolArgument {
    ToolArgument::required("project", ArgumentKind::Text, "Project key")
}

fn text(arguments: &JsonObject, name: &str) -> String {
    arguments[name].as_str().unwrap().to_owned()
}

fn tools() -> Vec<IngestTool<Vendor>> {
    let once = |_: Arc<Vendor>, arguments: JsonObject| async move {
        let count = arguments["count"].as_number().unwrap().as_u64().unwrap();
        if count > 100 {
            return Err(IngestRefusal::Client { what: "too many" });
        }
        Ok(Vendor::tickets(&text(&arguments, "project"), count))
    };
    let mapped = |_: Arc<Vendor>, _: JsonObject| async {
        let mut mapped = Mapped::new();
        mapped.entity(Entity::new("User", "u1"));
        Ok(mapped)
    };
    let paged = |_: Arc<Vendor>, arguments: JsonObject, cursor: Option<Json>| async move {
        let from: usize = cursor.unwrap().as_str().unwrap().parse().unwrap();
        let all = Vendor::tickets(&text(&arguments, "project"), 5);
        Ok(CursorPage::of(all.into_iter().skip(from).take(2).collect()))
    };
    let count = ToolArgument::optional("count", ArgumentKind::Integer, "How many").or(2u64);
    vec![
        IngestTool::once("desk_ingest_tickets", "Ingest tickets", once)
            .kind("ticket")
            .argument(project())
            .argument(count),
        IngestTool::once("desk_ingest_users", "Ingest users", mapped),
        IngestTool::paged(
            "desk_sync_tickets",
            "Sync tickets",
            SyncPlan::with_strategy(OffsetCursor::new(2).unwrap()),
            paged,
        )
        .kind("ticket")
        .description("Walks all tickets of a project")
        .argument(project()),
    ]
}

fn stream() -> (Arc<Graph>, SourceStream) {
    let (graph, service, binding) = desk();
    (graph, SourceStream::new(binding).mapper("ticket", RecordMap::new("Ticket", "{id}").unwrap()).ingest(service))
}

fn clients(opened: &Arc<AtomicUsize>, closed: &Arc<AtomicUsize>) -> Arc<FnClient<Vendor>> {
    let (opened, closed) = (opened.clone(), closed.clone());
    let open = move || {
        opened.fetch_add(1, Ordering::SeqCst);
        Ok(Vendor)
    };
    Arc::new(FnClient::new(open, move |_: &Vendor| {
        closed.fetch_add(1, Ordering::SeqCst);
    }))
}

fn fixture() -> Fixture {
    let (graph, stream) = stream();
    let (opened, closed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tools = ingest_registration(&stream, tools(), &clients(&opened, &closed)).unwrap();
    Fixture { graph, opened, closed, tools }
}

/// Proves: SDK-SOURCE-INGEST-R004.35
#[test]
fn tools_are_listed_with_title_hints_tags_and_schema() {
    let fixture = fixture();
    let names: Vec<&str> = fixture.tools.iter().map(|tool| tool.definition.name.as_str()).collect();
    assert_eq!(names, ["desk_ingest_tickets", "desk_ingest_users", "desk_sync_tickets"]);
    for tool in &fixture.tools {
        let definition = &tool.definition;
        let hints = &definition.hints;
        assert_eq!((hints.read_only, hints.idempotent, hints.open_world), (Some(false), Some(true), Some(true)));
        assert!(!definition.title.is_empty());
        assert_eq!(definition.tags, ["ingest", "mutating"]);
        assert_eq!(definition.input_schema["type"], "object".into());
    }
    let schema = parse(
        r#"{"type": "object", "additionalProperties": false, "required": ["project"], "properties": {
            "project": {"type": "string", "description": "Project key"},
            "count": {"type": "integer", "description": "How many", "default": 2}}}"#,
    )
    .unwrap();
    assert_eq!(Json::Object(fixture.tools[0].definition.input_schema.clone()), schema);
}

/// Proves: SDK-SOURCE-INGEST-R004.35
#[tokio::test]
async fn a_record_tool_a_mapped_tool_and_a_paged_tool_run_and_close_their_client() {
    let fixture = fixture();
    let answers = [
        (0, r#"{"project": "A", "count": 3}"#, r#"{"nodes": 3, "edges": 0}"#),
        (0, r#"{"project": "B"}"#, r#"{"nodes": 2, "edges": 0}"#),
        (1, "{}", r#"{"nodes": 1, "edges": 0}"#),
        (2, r#"{"project": "C"}"#, r#"{"nodes": 5, "edges": 0, "pages": 3, "skipped": 0, "end": "exhausted"}"#),
        (2, r#"{"project": "C"}"#, r#"{"nodes": 1, "edges": 0, "pages": 1, "skipped": 0, "end": "exhausted"}"#),
    ];
    for (run, (tool, arguments, expected)) in answers.into_iter().enumerate() {
        let answer = fixture.tools[tool].handler.call(object(arguments)).await.unwrap();
        assert_eq!(answer.structured, parse(expected).unwrap(), "{arguments}");
        let both = (fixture.opened.load(Ordering::SeqCst), fixture.closed.load(Ordering::SeqCst));
        assert_eq!(both, (run + 1, run + 1), "each run opens and closes one client");
    }
    let failing = fixture.tools[0].handler.call(object(r#"{"project": "A", "count": 101}"#)).await;
    assert_eq!(code(failing.map(|_| ())), "ingest_client_failed");
    assert_eq!(fixture.closed.load(Ordering::SeqCst), 6, "also when the source fails");
    assert_eq!(fixture.graph.ids().len(), 3 + 2 + 1 + 5);
}

/// Proves: SDK-SOURCE-INGEST-R004.35
#[tokio::test]
async fn bad_arguments_are_refused_before_a_client_is_opened() {
    let fixture = fixture();
    for arguments in [
        "{}",
        r#"{"project": null}"#,
        r#"{"project": 3}"#,
        r#"{"project": "A", "count": "3"}"#,
        r#"{"project": "A", "count": 1.5}"#,
        r#"{"project": "A", "extra": 1}"#,
    ] {
        let answer = fixture.tools[0].handler.call(object(arguments)).await;
        assert_eq!(code(answer.map(|_| ())), "ingest_tool_argument", "{arguments}");
    }
    assert_eq!(fixture.opened.load(Ordering::SeqCst), 0);
}

/// Proves: SDK-SOURCE-INGEST-R004.35
#[test]
fn declarations_that_cannot_work_are_refused() {
    let (_, stream) = stream();
    let counter = Arc::new(AtomicUsize::new(0));
    let register = |tools: Vec<IngestTool<Vendor>>| {
        let answer = ingest_registration(&stream, tools, &clients(&counter, &counter));
        code(answer.map(|tools| tools.len()))
    };
    let page = |_: Arc<Vendor>, _: JsonObject, _: Option<Json>| async { Ok(CursorPage::default()) };
    let paged = || IngestTool::paged("t", "T", SyncPlan::default(), page);
    let once = |name: &str, title: &str| IngestTool::once(name, title, |_: Arc<Vendor>, _| async { Ok(Mapped::new()) });
    assert_eq!(register(vec![paged()]), "ingest_declaration", "a paged tool with no kind");
    assert_eq!(register(vec![paged().kind("user")]), "ingest_unknown_kind");
    assert_eq!(register(vec![once("a", "A"), once("a", "B")]), "ingest_declaration");
    assert_eq!(register(vec![once("a", " ")]), "ingest_declaration");
    assert_eq!(register(vec![once("", "A")]), "id_empty");
    assert_eq!(register(vec![once("a", "A").argument(project()).argument(project())]), "ingest_declaration");
    let mistyped = ToolArgument::optional("n", ArgumentKind::Integer, "").or("x");
    assert_eq!(register(vec![once("a", "A").argument(mistyped)]), "ingest_declaration");
}
