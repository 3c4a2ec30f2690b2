//! The connector as its users meet it: over the protocol, and as a process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use git_history::connector::git_history;
use rmcp::ClientServiceExt as _;
use rmcp::model::{CallToolRequestParams, ProtocolVersion, ReadResourceRequestParams, ResourceContents};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService};
use scion::domain::declaration::ConnectorDeclaration;
use scion::domain::json::{Json, JsonObject, parse};
use scion::domain::privacy::PersistencePrivacyGuard;
use scion::mcp_server::{ServeOptions, serve_io};
use serde_json::{Value, json};
use support::Repository;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

type Client = RunningService<RoleClient, ()>;

async fn connect(repository: &Repository, mode: ClientLifecycleMode) -> Client {
    let surface = git_history(repository.history()).build().unwrap();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(serve_io(Arc::new(surface), read, write, ServeOptions::default()));
    ().serve_with_lifecycle(near, mode).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> Json {
    let arguments = arguments.as_object().unwrap().clone();
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    assert_ne!(result.is_error, Some(true), "{result:?}");
    parse(&result.content[0].as_text().unwrap().text).unwrap()
}

async fn declaration(client: &Client) -> String {
    let read = client.read_resource(ReadResourceRequestParams::new("connector://resources")).await.unwrap();
    let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else { panic!("{read:?}") };
    text.clone()
}

fn members(record: &Json) -> Vec<&str> {
    record.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn all_four_tools_answer_in_both_eras() {
    let repository = Repository::with_history();
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for mode in [ClientLifecycleMode::Initialize, discover] {
        let client = connect(&repository, mode).await;
        let commits = call(&client, "git_list_commits", json!({"page": 2, "page_size": 2})).await;
        let commits = commits.as_array().unwrap();
        assert_eq!(commits.len(), 2);
        assert_eq!(commits[1].get("summary").unwrap().as_str(), Some("merge"));
        let head = repository.git(&["rev-parse", "HEAD"]);
        let files = call(&client, "git_list_commit_files", json!({"commit": head})).await;
        assert_eq!(files.as_array().unwrap()[2].get("extension").unwrap().as_str(), Some("rs"));
        assert_eq!(call(&client, "git_list_authors", json!({})).await.as_array().unwrap().len(), 2);
        assert_eq!(call(&client, "git_list_tags", json!({})).await.as_array().unwrap().len(), 2);
        assert_eq!(call(&client, "git_list_tags", json!({"page": 2})).await, Json::Array(Vec::new()));
        client.cancel().await.unwrap();
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R075, SDK-CONNECTOR-CONTROL-R075.1, SDK-CONNECTOR-CONTROL-R075.2, SDK-CONNECTOR-CONTROL-R071
#[tokio::test]
async fn the_served_declaration_says_all_a_runner_needs() {
    let repository = Repository::with_history();
    let client = connect(&repository, ClientLifecycleMode::Initialize).await;
    let text = declaration(&client).await;
    let declared = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    assert_eq!(declared.connector.as_str(), env!("CARGO_PKG_NAME"));
    assert_eq!(declared.to_text(), text);
    let ids: Vec<_> = declared.sources.iter().map(|source| source.source_id.as_str()).collect();
    assert_eq!(ids, ["authors", "commits", "files", "tags"]);
    assert!(declared.unmapped_record_types().is_empty());
    assert_eq!(declared.presets().unwrap().len(), 4);
    let edges: Vec<_> = declared
        .sources
        .iter()
        .flat_map(|source| source.edges.iter().map(move |edge| (source, edge)))
        .map(|(source, edge)| {
            (source.source_id.as_str(), edge.relationship.as_str(), edge.target_stream.as_ref().unwrap().as_str())
        })
        .collect();
    assert_eq!(
        edges,
        [
            ("commits", "author", "authors"),
            ("commits", "parent", "commits"),
            ("commits", "touches", "files"),
            ("tags", "tag_of", "commits"),
        ]
    );
    let per_commit = declared.source("files").unwrap().for_each.as_ref().unwrap();
    assert_eq!((per_commit.source.as_str(), per_commit.argument.as_str()), ("commits", "commit"));
    // Nothing lies beside the server: these two are all its resources.
    let listed = client.list_all_resources().await.unwrap();
    let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
    assert_eq!(uris, ["connector://resources", "connector://status"]);
}

/// Proves: SDK-SOURCE-INGEST-R004.25
#[tokio::test]
async fn mappings_and_edges_name_fields_that_the_records_have() {
    let repository = Repository::with_history();
    let client = connect(&repository, ClientLifecycleMode::Initialize).await;
    let declared = ConnectorDeclaration::from_text(declaration(&client).await.as_bytes()).unwrap();
    let head = repository.git(&["rev-parse", "HEAD"]);
    for source in &declared.sources {
        let arguments = if source.for_each.is_some() { json!({"commit": head}) } else { json!({}) };
        let tool: &'static str = Box::leak(source.tools[0].clone().into_boxed_str());
        let records = call(&client, tool, arguments).await;
        let record = &records.as_array().unwrap()[0];
        let known = members(record);
        let mapping = &declared.schema_mappings[&source.record_type];
        let used = mapping.fields.keys().map(String::as_str);
        let edges = source.edges.iter().map(|edge| edge.target_field.as_str());
        let titles = [source.title_field.as_deref(), source.text_field.as_deref(), Some(source.id_field.as_str())];
        for field in used.chain(edges).chain(titles.into_iter().flatten()) {
            assert!(known.contains(&field), "{} has no {field}: {known:?}", source.source_id);
        }
    }
}

#[tokio::test]
async fn the_privacy_guard_finds_nothing_to_take_out() {
    let repository = Repository::with_history();
    let client = connect(&repository, ClientLifecycleMode::Initialize).await;
    let head = repository.git(&["rev-parse", "HEAD"]);
    let guard = PersistencePrivacyGuard::new(std::iter::empty::<&str>());
    for (tool, arguments) in [
        ("git_list_commits", json!({})),
        ("git_list_authors", json!({})),
        ("git_list_tags", json!({})),
        ("git_list_commit_files", json!({"commit": head})),
    ] {
        for record in call(&client, tool, arguments).await.as_array().unwrap() {
            let before: JsonObject = record.as_object().unwrap().clone();
            let mut after = before.clone();
            guard.apply(&mut after);
            assert_eq!(after, before, "{tool}");
        }
    }
}

/// Every member the peer's schema allows, and no other: the peer refuses unknown members of a served declaration.
#[tokio::test]
async fn the_served_declaration_fits_the_peers_schema() {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../conformance/vectors/declaration.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(vectors).unwrap()).unwrap();
    let schema = &vectors["json_schema"];
    let client = connect(&Repository::with_history(), ClientLifecycleMode::Initialize).await;
    let served: Value = serde_json::from_str(&declaration(&client).await).unwrap();
    let mut checked = 0;
    fits(schema, schema, &served, "", &mut checked);
    assert!(checked > 100, "only {checked} values were held against the schema");
}

/// The keywords that the peer's schema uses; any other would go unchecked, so it fails the test.
fn fits(root: &Value, schema: &Value, value: &Value, at: &str, checked: &mut usize) {
    *checked += 1;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.strip_prefix("#/$defs/").unwrap_or_else(|| panic!("{reference}"));
        return fits(root, &root["$defs"][name], value, at, checked);
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        let wanted = if value.is_null() { "null" } else { "" };
        let option = options.iter().find(|option| (option["type"] == "null") == (wanted == "null"));
        return fits(root, option.unwrap_or_else(|| panic!("{at}")), value, at, checked);
    }
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "type" => assert!(is_a(rule.as_str().unwrap(), value), "{at} is no {rule}"),
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{at}"),
            "const" => assert_eq!(rule, value, "{at}"),
            "required" => {
                for name in rule.as_array().unwrap() {
                    assert!(value.get(name.as_str().unwrap()).is_some(), "{at} has no {name}");
                }
            }
            "properties" => {
                for (name, inner) in value.as_object().unwrap() {
                    if let Some(rule) = rule.get(name) {
                        fits(root, rule, inner, &format!("{at}/{name}"), checked);
                    }
                }
            }
            "additionalProperties" => {
                for (name, inner) in value.as_object().unwrap() {
                    if schema["properties"].get(name).is_none() {
                        assert_ne!(rule, &json!(false), "{at}/{name} is not known to the peer");
                        if rule.is_object() {
                            fits(root, rule, inner, &format!("{at}/{name}"), checked);
                        }
                    }
                }
            }
            "items" => {
                for (index, inner) in value.as_array().unwrap().iter().enumerate() {
                    fits(root, rule, inner, &format!("{at}/{index}"), checked);
                }
            }
            "minItems" => assert!(value.as_array().unwrap().len() as u64 >= rule.as_u64().unwrap(), "{at}"),
            "minLength" => assert!(value.as_str().unwrap().chars().count() as u64 >= rule.as_u64().unwrap(), "{at}"),
            "maxLength" => assert!(value.as_str().unwrap().chars().count() as u64 <= rule.as_u64().unwrap(), "{at}"),
            "minimum" => assert!(value.as_f64().unwrap() >= rule.as_f64().unwrap(), "{at}"),
            "maximum" => assert!(value.as_f64().unwrap() <= rule.as_f64().unwrap(), "{at}"),
            // The reader of the domain holds the same pattern; here it is enough that the value is a text.
            "pattern" => assert!(value.is_string(), "{at}"),
            "title" | "description" | "default" | "$defs" | "$schema" | "$id" => {}
            other => panic!("the schema uses {other} at {at}, which this test does not check"),
        }
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

fn process(arguments: &[&str]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_git-history"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

#[tokio::test]
async fn a_process_writes_protocol_lines_and_nothing_else() {
    let repository = Repository::with_history();
    let mut child = process(&["--repo", repository.path().to_str().unwrap()]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let opening = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let rest = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "git_list_commits", "arguments": {}}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "nope", "arguments": {}}}),
    ];
    let mut output = child.stdout.take().unwrap();
    for message in std::iter::once(&opening).chain(&rest) {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let read = async {
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while text.lines().filter(|line| line.ends_with('}')).count() < 4 {
            let count = output.read(&mut buffer).await.unwrap();
            assert_ne!(count, 0, "the server ended early: {text}");
            text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
        }
        text
    };
    let text = tokio::time::timeout(Duration::from_secs(20), read).await.unwrap();
    drop(input);
    let ended = tokio::time::timeout(Duration::from_secs(20), child.wait()).await.unwrap().unwrap();
    assert!(ended.success());
    let mut left = String::new();
    output.read_to_string(&mut left).await.unwrap();
    let mut ids: Vec<u64> = (text + &left)
        .lines()
        .map(|line| {
            let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not a protocol line: {line}"));
            assert_eq!(message["jsonrpc"], "2.0");
            message["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
    let mut noise = String::new();
    child.stderr.take().unwrap().read_to_string(&mut noise).await.unwrap();
    assert_eq!(noise, "");
}

#[tokio::test]
async fn the_tools_are_those_of_the_snapshot() {
    let surface = git_history(Repository::with_history().history()).build().unwrap();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools.json");
    scion_conformance::tool_snapshot::check_tool_snapshot(&surface, &file).await;
}

#[tokio::test]
async fn the_command_explains_itself_and_its_refusals() {
    let help = process(&["--help"]).output().await.unwrap();
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(help.status.success() && text.contains("--repo PATH") && text.contains("git_list_commits"));
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, name) in [
        (vec!["--repo", folder.path().to_str().unwrap()], 1, "not_a_repository"),
        (vec!["--rep"], 2, "unknown_argument"),
        (vec!["--repo"], 2, "argument_without_path"),
    ] {
        let output = process(&arguments).output().await.unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(output.stdout.is_empty());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(&format!("error[{name}]: ")) && said.contains("\n  next: "), "{said}");
    }
}
