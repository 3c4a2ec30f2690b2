//! The example connector: listed, called and synchronised.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use scion::openapi::{ApiSetup, curation_file, read};
use scion::ports::ToolSurface as _;
use scion::serve::{Connector, Identity};
use scion_conformance::tool_snapshot::check_tool_snapshot;
use scion_domain::client_profile::ClientProfile;
use scion_domain::json::parse;
use scion_domain::mcp::{ToolDescription, ToolHints};
use scion_domain::surface::CallScope;
use serde_json::{Value, json};

use crate::client::{Client, SCION, command};
use crate::service::{Notes, TOKEN};

const CONNECTOR_SYNC: &str = env!("CARGO_BIN_EXE_connector-sync");

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/connectors/notes-api").canonicalize().unwrap()
}

fn args(base: &str) -> Vec<&str> {
    vec![
        "--openapi",
        "openapi.yaml",
        "--curate",
        "curation.yaml",
        "--auth",
        "token=env://NOTES_TOKEN",
        "--base-url",
        base,
    ]
}

fn start(base: &str) -> Client {
    Client::start(&folder(), &args(base), &[("NOTES_TOKEN", TOKEN)])
}

/// A listed tool as a value of the domain.
fn described(tool: &Value) -> ToolDescription {
    let json = |value: &Value| parse(&value.to_string()).unwrap();
    let hint = |name: &str| tool["annotations"][name].as_bool();
    ToolDescription {
        name: tool["name"].as_str().unwrap().to_owned(),
        title: None,
        description: None,
        input_schema: json(&tool["inputSchema"]),
        output_schema: tool.get("outputSchema").map(json),
        hints: ToolHints {
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        },
        meta: scion_domain::json::JsonObject::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn its_tools_are_those_of_the_snapshot_and_every_client_takes_them() {
    let notes = Notes::start().await;
    let mut client = start(&notes.base());
    let tools: Vec<ToolDescription> = client.tools().iter().map(described).collect();
    client.end();
    assert_eq!(ClientProfile::COMMON.check_listing(&tools), []);

    let said = curation_file(&folder().join("curation.yaml")).unwrap();
    let api = read(&std::fs::read(folder().join("openapi.yaml")).unwrap(), &said).unwrap();
    let setup = ApiSetup::new("notes-api").base_url(&notes.base()).auth("none");
    let opened = setup.open(&api, scion::http::system_ports().unwrap()).await.unwrap();
    let surface = opened.extend(api, Connector::builder(Identity::new("notes-api", "1.4.0"))).build().unwrap();
    check_tool_snapshot(&surface, &folder().join("tools.json")).await;
    let listed = surface.list_tools(&CallScope::default()).await.unwrap();
    let same = |one: &ToolDescription, other: &ToolDescription| {
        (&one.name, &one.input_schema, one.hints) == (&other.name, &other.input_schema, other.hints)
    };
    assert!(listed.len() == tools.len() && listed.iter().zip(&tools).all(|(one, other)| same(one, other)));
    assert!(notes.lab.received().is_empty(), "a listing asks the API nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_tools_do_what_the_document_says() {
    let notes = Notes::start().await;
    let mut client = start(&notes.base());

    let page = client.value("notes_list_notes", &json!({"limit": 2, "tag": ["a", "b c"]}));
    assert_eq!(page["next_cursor"], "n2");
    assert_eq!(page["items"][0]["title"], "Note 1");
    assert!(page["items"][0].get("internal_rank").is_none(), "{page}");
    let sent = notes.lab.received();
    assert_eq!(sent[0].target, "/v1/notes?limit=2&tag=a,b%20c");
    assert_eq!(sent[0].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));

    let made =
        client.value("notes_write_note", &json!({"body": {"title": "Größe", "parent": "{\"title\": \"outer\"}"}}));
    assert_eq!(made["id"], "n8");
    assert_eq!(notes.notes.lock().unwrap()["n8"]["parent"], json!({"title": "outer"}));
    assert_eq!(client.value("notes_get_note", &json!({"note_id": "n8"}))["title"], "Größe");

    // The fixed argument is sent, and no caller sees it.
    let found = client.value("notes_search_notes", &json!({"body": {"query": "Note 4"}}));
    assert_eq!(found["result"].as_array().unwrap().len(), 1, "{found}");
    assert!(
        client
            .refused("notes_search_notes", &json!({"body": {"query": "x", "archived": true}}))
            .starts_with("plan_argument")
    );

    let stored =
        client.value("notes_attach_file", &json!({"note_id": "n1", "body": {"file": "aGVsbG8=", "caption": "a"}}));
    assert_eq!(stored, json!({"bytes": 5, "caption": "a caption"}));
    let table = client.value("notes_export_notes", &json!({}));
    assert_eq!(table, json!("id,title\nn1,Note 1\n"));

    // Pages that only a header field names.
    let first = client.value("notes_list_events", &json!({}));
    assert_eq!(first, json!({"items": [{"id": "e1", "kind": "created"}], "next_page": "after=e1&kind=created"}));
    let second = client.value("notes_list_events", &json!({"next_page": first["next_page"]}));
    assert_eq!(second, json!({"items": [{"id": "e2", "kind": "created"}], "next_page": null}));

    // A person is asked, and says yes.
    client.call("notes_delete_note", &json!({"note_id": "n8"}));
    assert!(!notes.notes.lock().unwrap().contains_key("n8"));
    assert!(client.refused("notes_get_note", &json!({"note_id": "n8"})).starts_with("response_not_found: "));
    client.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn its_lists_are_synchronised_into_the_embedded_graph() {
    let notes = Notes::start().await;
    let place = tempfile::tempdir().unwrap();
    let folder = folder();
    let file = |name: &str| folder.join(name).display().to_string();
    let (document, curation, base) = (file("openapi.yaml"), file("curation.yaml"), notes.base());
    let config = json!({"connectors": [{
        "connector": "notes-api",
        "endpoint": {
            "command": SCION,
            "args": ["serve", "--openapi", document, "--curate", curation, "--auth", "token=env://NOTES_TOKEN", "--base-url", base],
            "env": {"NOTES_TOKEN": "env://NOTES_TOKEN"},
        },
    }]});
    std::fs::write(place.path().join("sync.json"), config.to_string()).unwrap();
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(place.path())
            .env("CONNECTOR_DATA_DIR", place.path().join("state"))
            .env("NOTES_TOKEN", TOKEN);
        let output = command.env_remove("RUNNER_HEALTH_ADDR").stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let sync = || {
        let (code, out, err) = run(CONNECTOR_SYNC, &["--config", "sync.json", "--once", "--log-format", "json"]);
        assert_eq!(code, Some(0), "{out}\n{err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        let stages = report["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap().clone();
        stages
            .into_iter()
            .map(|stage| (stage["stage"].as_str().unwrap().to_owned(), stage["stream"]["submitted"].as_u64()))
            .collect::<Vec<_>>()
    };
    let mut first = sync();
    first.sort();
    let expected = [("notebooks", 2), ("notebooks.members", 2), ("notes", 7)];
    assert_eq!(first, expected.map(|(name, count)| (name.to_owned(), Some(count))));

    let ask = |sparql: &str| -> Vec<String> {
        let (code, out, err) = run(SCION, &["query", "--format", "csv", "--limit", "1000", sparql]);
        assert_eq!(code, Some(0), "{err}");
        out.lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(ask("SELECT ?id { ?r scion:recordId ?id ; scion:stream 'notes' } ORDER BY ?id").len(), 7);
    assert_eq!(
        ask("SELECT ?id { ?r scion:recordId ?id ; scion:stream 'notebooks' } ORDER BY ?id"),
        ["9007199254740993", "9007199254740994"]
    );
    let asked = notes.lab.received();
    let members: Vec<&str> =
        asked.iter().map(scion_lab::Received::path).filter(|path| path.ends_with("/members")).collect();
    assert_eq!(members, ["/v1/notebooks/9007199254740993/members", "/v1/notebooks/9007199254740994/members"]);
    assert!(asked.iter().any(|request| request.target.contains("cursor=n6")), "all pages of notes were read");

    // Nothing changed, so nothing is submitted; then one note did.
    assert!(sync().iter().all(|(_, submitted)| *submitted == Some(0)));
    notes.notes.lock().unwrap().get_mut("n7").unwrap()["title"] = json!("Renamed");
    notes.notes.lock().unwrap().get_mut("n7").unwrap()["updated_at"] = json!("2026-03-01T00:00:00Z");
    let third = sync();
    assert!(third.contains(&("notes".to_owned(), Some(1))), "{third:?}");
    let since = notes.lab.received().iter().filter(|request| request.target.contains("updated_since=")).count();
    assert!(since > 0, "changes only were asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_shows_what_is_served_and_needs_no_secret() {
    let output = command(&folder(), &["--openapi", "openapi.yaml", "--curate", "curation.yaml", "--check"], &[])
        .output()
        .unwrap();
    assert!(output.status.success());
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let text = words(&String::from_utf8(output.stdout).unwrap());
    for line in [
        "notes_list_notes GET /notes read notes (Note, by cursor)",
        "notes_delete_note DELETE /notes/{noteId} destructive",
        "(Member, one page for each of notebooks)",
        "10 tools; 1 left out by the curation; 0 of 11 operations not converted",
        "token: a bearer token; secrets: NOTES_API_TOKEN_TOKEN",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
