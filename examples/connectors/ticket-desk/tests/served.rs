//! The connector as its users meet it: its program over standard input and output, in front of a desk.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use rmcp::model::{GetPromptRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents};
use rmcp::service::ClientLifecycleMode;
use scion::domain::declaration::ConnectorDeclaration;
use serde_json::json;
use support::{Client, DeskService, Person, program};

fn eras() -> [ClientLifecycleMode; 2] {
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    [ClientLifecycleMode::Initialize, discover]
}

async fn client(desk: &DeskService) -> Client {
    Client::start(desk, Person::who_says(Some(true)), ClientLifecycleMode::Initialize).await
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.1, SDK-CENTRALIZED-CAPABILITIES-R014
#[tokio::test]
async fn every_operation_is_a_tool_that_reaches_the_desk_in_both_eras() {
    for mode in eras() {
        let desk = DeskService::start().await;
        let client = Client::start(&desk, Person::who_says(Some(true)), mode).await;
        let info = client.session().peer_info().unwrap();
        let server = info.server_info.clone().unwrap();
        assert_eq!((server.name.as_str(), server.version.as_str()), ("ticket-desk-mcp", env!("CARGO_PKG_VERSION")));
        let listed = client.session().list_all_tools().await.unwrap();
        assert_eq!(listed.len(), 6);
        let page = client.value("desk_list_tickets", json!({"per_page": 3})).await;
        assert_eq!(
            (page["items"].as_array().unwrap().len(), &page["has_more"], &page["total"]),
            (3, &json!(true), &json!(7))
        );
        let last = client.value("desk_list_tickets", json!({"page": 3, "per_page": 3, "state": null})).await;
        assert_eq!((last["items"].as_array().unwrap().len(), &last["has_more"]), (1, &json!(false)));
        let since = client.value("desk_list_tickets", json!({"since": "2026-03-06T00:00:00Z"})).await;
        assert_eq!(since["total"], 2);
        // A number as text, as clients send those that their own numbers would round.
        assert_eq!(client.value("desk_get_ticket", json!({"id": "4"})).await["id"], 4);
        let people = client.value("desk_list_people", json!({})).await;
        let rest = client.value("desk_list_people", json!({"cursor": people["next_cursor"]})).await;
        assert_eq!((rest["items"][0]["id"].as_str(), &rest["has_more"]), (Some("p3"), &json!(false)));
        let made = client.value("desk_create_ticket", json!({"ticket": {"subject": "Lamp", "asked_by": "p1"}})).await;
        let moved = client.value("desk_update_ticket", json!({"id": made["id"], "state": "closed"})).await;
        assert_eq!((moved["subject"].as_str(), moved["state"].as_str()), (Some("Lamp"), Some("closed")));
    }
}

#[tokio::test]
async fn a_delete_needs_a_yes_and_nothing_is_sent_without_one() {
    for mode in eras() {
        for (says, deleted) in [(Some(true), 1), (Some(false), 0), (None, 0)] {
            let desk = DeskService::start().await;
            let person = Person::who_says(says);
            let client = Client::start(&desk, person.clone(), mode.clone()).await;
            let _ = client.call("desk_delete_ticket", json!({"id": 2})).await;
            assert_eq!(desk.seen("DELETE /api/tickets/2"), deleted, "{says:?}");
            assert_eq!((desk.tickets(), desk.seen("")), (7 - deleted, deleted), "{says:?}");
            assert_eq!(person.asked(), usize::from(says.is_some()));
        }
    }
}

#[tokio::test]
async fn bad_arguments_never_reach_the_desk() {
    let desk = DeskService::start().await;
    let client = client(&desk).await;
    for (tool, arguments, code) in [
        ("desk_list_tickets", json!({"page": 0}), "argument_out_of_range"),
        ("desk_list_tickets", json!({"per_page": 101}), "argument_out_of_range"),
        ("desk_list_tickets", json!({"state": "lost"}), "argument_wrong_type"),
        ("desk_list_tickets", json!({"since": "yesterday"}), "argument_wrong_type"),
        ("desk_list_tickets", json!({"sice": "2026-03-01T00:00:00Z"}), "argument_unknown"),
        ("desk_get_ticket", json!({}), "argument_missing"),
        ("desk_get_ticket", json!({"id": "../people"}), "argument_wrong_type"),
        ("desk_get_ticket", json!({"id": -1}), "argument_out_of_range"),
        (
            "desk_create_ticket",
            json!({"ticket": {"subject": "Lamp", "asked_by": "p1", "id": 1}}),
            "argument_wrong_type",
        ),
        ("desk_create_ticket", json!({"ticket": {"subject": "", "asked_by": "p1"}}), "argument_wrong_type"),
        ("desk_create_ticket", json!({"ticket": {"subject": "x".repeat(201), "asked_by": "p1"}}), "argument_too_long"),
        ("desk_create_ticket", json!({"ticket": {"subject": "Lamp"}}), "argument_missing"),
    ] {
        let text = client.refusal(tool, arguments.clone()).await;
        assert!(text.starts_with(&format!("{code}: ")), "{tool} {arguments}: {text}");
    }
    assert_eq!(desk.seen(""), 0);
}

#[tokio::test]
async fn the_desks_own_words_do_not_reach_a_caller() {
    let desk = DeskService::start().await;
    let client = client(&desk).await;
    let text = client.refusal("desk_get_ticket", json!({"id": 999})).await;
    assert!(text.starts_with("response_not_found: ") && !text.contains("no such thing"), "{text}");
    let mut stranger = program(&desk);
    stranger.env("DESK_TOKEN", "another-token-than-the-desks");
    let client = Client::over(stranger).await;
    let text = client.refusal("desk_list_people", json!({})).await;
    assert!(
        !text.contains("who are you") && !text.contains("internal-host") && !text.contains("another-token"),
        "{text}"
    );
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.1
#[tokio::test]
async fn content_and_declaration_are_served_beside_the_tools() {
    let desk = DeskService::start().await;
    let client = client(&desk).await;
    let session = client.session();
    let resources = session.list_all_resources().await.unwrap();
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    for uri in [
        "connector://resources",
        "connector://status",
        "ontology://ticket-desk-mcp/desk.ttl",
        "shapes://ticket-desk-mcp/desk.ttl",
        "skill://triage-tickets/SKILL.md",
    ] {
        assert!(uris.contains(&uri), "{uri}: {uris:?}");
    }
    let prompts = session.list_all_prompts().await.unwrap();
    assert!(prompts.iter().any(|prompt| prompt.name == "daily-summary"));
    let arguments = json!({"since": "2026-03-01T00:00:00Z"}).as_object().unwrap().clone();
    let prompt =
        session.get_prompt(GetPromptRequestParams::new("daily-summary").with_arguments(arguments)).await.unwrap();
    assert!(format!("{prompt:?}").contains("changed since 2026-03-01T00:00:00Z"), "{prompt:?}");
    let read = session.read_resource(ReadResourceRequestParams::new("connector://resources")).await.unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else { panic!("{read:?}") };
    let declared = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    let ids: Vec<_> = declared.sources.iter().map(|source| source.source_id.as_str()).collect();
    assert_eq!(ids, ["tickets", "people"]);
    let tickets = declared.source("tickets").unwrap();
    assert_eq!((tickets.cursor_field.as_deref(), tickets.incremental), (Some("updated_at"), true));
    assert_eq!(tickets.edges[0].target_stream.as_ref().unwrap().as_str(), "people");
    let fields: Vec<_> = declared.schema_mappings["Ticket"].fields.keys().map(String::as_str).collect();
    assert_eq!(fields, ["asked_by", "id", "state", "subject", "updated_at"]);
    let presets = declared.presets().unwrap();
    let paging: BTreeMap<_, _> =
        presets.iter().map(|preset| (preset.tool.as_str(), format!("{:?}", preset.pagination))).collect();
    assert_eq!(paging["desk_list_tickets"], "Page");
    assert_eq!(paging["desk_list_people"], "Cursor");
}

#[tokio::test]
async fn the_tools_are_those_of_the_snapshot() {
    let desk = DeskService::start().await;
    let settings = BTreeMap::from([("DESK_BASE_URL".to_owned(), desk.url.clone())]);
    let surface = ticket_desk::connector().surface_with(&settings, scion::http::system_ports().unwrap()).await.unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools.json");
    scion_conformance::tool_snapshot::check_tool_snapshot(&surface, &file).await;
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.1
#[tokio::test]
async fn the_program_explains_itself_and_fails_closed() {
    let desk = DeskService::start().await;
    let run = async |arguments: &[&str], unset: &[&str]| {
        let mut command = program(&desk);
        for name in unset {
            command.env_remove(name);
        }
        command.args(arguments).output().await.unwrap()
    };
    let help = run(&["--help"], &[]).await;
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(help.status.success() && text.contains("--transport <KIND>") && text.contains("[TRANSPORT]"), "{text}");
    for (arguments, unset, code, name) in [
        (&["--tranport", "sse"][..], &[][..], 2, "usage"),
        (&["--transport", "websocket"], &[], 2, "usage"),
        (&["--port", "99999"], &[], 2, "usage"),
        (&["--max-connections", "0"], &[], 2, "setting_out_of_range"),
        (&["--tls-terminated=perhaps"], &[], 2, "setting_not_boolean"),
        (&["-t", "streamable-http"], &[], 1, "start_callers_unknown"),
        (&["-t", "sse"], &[], 1, "start_callers_unknown"),
        (&["-t", "streamable-http", "--host", "0.0.0.0"], &[], 1, "setting_exposed"),
        (
            &["-t", "streamable-http", "--auth-type", "static", "--static-tokens-ref", "env://T"],
            &[],
            1,
            "start_callers_unknown",
        ),
        (&[], &["DESK_BASE_URL"], 1, "start_base_url_missing"),
    ] {
        let output = run(arguments, unset).await;
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(said.starts_with(&format!("error[{name}]: ")) && said.contains("\n  next: "), "{arguments:?}: {said}");
    }
}
