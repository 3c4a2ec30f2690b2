//! Content over real MCP sessions: from the folder, from the binary, in both eras.

#![cfg(feature = "mcp-server")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use scion::content::{ContentHandle, ContentRefusal, ServedContent, load};
use scion::domain::access_contract::read_contracts;
use scion::domain::content::{DIGEST_META_KEY, SURFACES_META_KEY};
use scion::domain::declaration::ConnectorDeclaration;
use scion::domain::declaration::descriptor::Descriptor;
use scion::domain::digest::sha256;
use scion::domain::json::{Json, parse as parse_json};
use scion::domain::refusal::Refusal as _;
use scion::domain::seed_graph::{SeedGraphDeclaration, SeedObject};
use scion::mcp_server::{ServeOptions, serve_io};
use scion::serve::{Connector, Identity, Param, Tool, ToolRefusal};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
static EMBEDDED: &[(&str, &[u8])] = scion::embed_content!("tests/desk-content");

fn seed(queues: usize) -> SeedGraphDeclaration {
    (0..queues).fold(SeedGraphDeclaration::new("https://desk.example/instances/eu").unwrap(), |seed, index| {
        seed.object(SeedObject {
            iri: format!("https://desk.example/queues/{index}"),
            class: "https://desk.example/ns#Queue".into(),
            label: Some(format!("Queue {index}")),
            ..SeedObject::default()
        })
    })
}

fn rooms() -> Tool {
    let rooms = r#"{"type":"array","items":{"type":"object","properties":{
        "id":{"type":"integer"},"name":{"type":"string"},"floor":{"type":"integer"}}}}"#;
    Tool::read("desk_list_rooms")
        .param(Param::integer("page", "which").or(1))
        .output_schema(parse_json(rooms).unwrap())
        .handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Array(Vec::new())) })
}

/// A client that writes and reads the protocol's own lines.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    enveloped: bool,
    next: u64,
    /// Methods of the notifications that came between answers.
    heard: Vec<String>,
}

impl Client {
    async fn open(content: Option<ServedContent>, enveloped: bool) -> (Self, ContentHandle) {
        let builder = Connector::builder(Identity::new("acme-desk-mcp", "1.4.0")).tool(rooms());
        let surface = match content {
            Some(content) => builder.content(content),
            None => builder,
        };
        let surface = surface.build().unwrap();
        let handle = surface.content();
        let (client, server) = tokio::io::duplex(1 << 20);
        let (server_read, server_write) = tokio::io::split(server);
        tokio::spawn(serve_io(Arc::new(surface), server_read, server_write, ServeOptions::default()));
        let (read, write) = tokio::io::split(client);
        let lines = BufReader::new(read).lines();
        let mut out = Self { lines, write, enveloped, next: 0, heard: Vec::new() };
        if !enveloped {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
            });
            out.ask("initialize", params).await;
            out.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        (out, handle)
    }

    async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await;
        serde_json::from_str(&line.expect("an answer in time").unwrap().expect("an open stream")).unwrap()
    }

    async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.enveloped {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            });
        }
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let message = self.line().await;
            if message["id"] == json!(id) {
                return message;
            }
            self.heard.extend(message["method"].as_str().map(str::to_owned));
        }
    }

    async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    async fn resources(&mut self) -> Vec<Value> {
        self.result("resources/list", json!({})).await["resources"].as_array().unwrap().clone()
    }

    async fn read(&mut self, uri: &str) -> Value {
        let result = self.result("resources/read", json!({"uri": uri})).await;
        let [contents] = result["contents"].as_array().unwrap().as_slice() else { panic!("one body of {uri}") };
        contents.clone()
    }

    /// Everything that comes within a moment without being asked for.
    async fn overheard(&mut self) -> Vec<String> {
        while let Ok(line) = tokio::time::timeout(Duration::from_millis(100), self.lines.next_line()).await {
            let message: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
            self.heard.extend(message["method"].as_str().map(str::to_owned));
        }
        std::mem::take(&mut self.heard)
    }
}

fn content() -> ServedContent {
    ServedContent::embedded(EMBEDDED).unwrap()
}

fn file(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(FOLDER).join("desk-content").join(path)).unwrap()
}

fn vector(section: &str, id: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/mcp_wire.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let cases = vectors[section].as_array().unwrap();
    cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("{section} {id}"))["response"]["result"].clone()
}

/// Proves: SDK-CONNECTOR-CONTROL-R019.2
#[test]
fn folder_and_binary_hold_the_same() {
    let read = scion::content::content_files(Path::new(FOLDER), Some(Path::new("desk-content"))).unwrap();
    let carried = scion::content::ContentFiles::embedded(EMBEDDED).unwrap();
    assert_eq!(read, carried);
    assert!(read.iter().count() >= 8);
    let content = load(Path::new(FOLDER), Some(Path::new("./desk-content"))).unwrap();
    assert_eq!((content.skills().len(), content.prompts().len()), (1, 2));
    for bad in ["/etc", "..", "desk-content/../..", "nowhere", "served_content.rs"] {
        assert_eq!(load(Path::new(FOLDER), Some(Path::new(bad))).unwrap_err(), ContentRefusal::Root, "{bad}");
    }
    assert!(load(Path::new(FOLDER), None).unwrap().skills().is_empty(), "no folder of content, no content");
}

#[cfg(unix)]
#[test]
fn links_and_wrong_files_stop_the_start() {
    use std::os::unix::fs::symlink;
    let package = tempfile::tempdir().unwrap();
    let root = package.path();
    std::fs::create_dir_all(root.join("skills/s/refs")).unwrap();
    std::fs::write(root.join("skills/s/SKILL.md"), "---\nname: s\ndescription: d\n---\n").unwrap();
    std::fs::write(root.join("skills/s/.hidden"), "x").unwrap();
    assert_eq!(load(root, None).unwrap().skills()[0].files.len(), 1);
    symlink("/etc/hostname", root.join("skills/s/refs/out.md")).unwrap();
    assert_eq!(load(root, None).unwrap_err(), ContentRefusal::Link { path: "skills/s/refs/out.md".into() });
    std::fs::remove_file(root.join("skills/s/refs/out.md")).unwrap();
    symlink("..", root.join("skills/s/refs/up")).unwrap();
    assert_eq!(load(root, None).unwrap_err().code(), "content_link");
    std::fs::remove_file(root.join("skills/s/refs/up")).unwrap();
    symlink(root.join("skills"), root.join("linked")).unwrap();
    assert_eq!(load(root, Some(Path::new("linked"))).unwrap_err(), ContentRefusal::Root);
    std::fs::create_dir(root.join("ontology")).unwrap();
    std::fs::write(root.join("ontology/desk.rdf"), "x").unwrap();
    assert_eq!(load(root, None).unwrap_err().code(), "content_unexpected_file");
}

/// Proves: SDK-CONNECTOR-CONTROL-R073, SDK-CONNECTOR-CONTROL-R019, SDK-CONNECTOR-CONTROL-R075.5
#[tokio::test]
async fn every_kind_of_content_is_listed_and_read_as_its_exact_bytes() {
    for enveloped in [false, true] {
        let (mut client, _) = Client::open(Some(content()), enveloped).await;
        let listed = client.resources().await;
        let uris: Vec<&str> = listed.iter().map(|one| one["uri"].as_str().unwrap()).collect();
        assert_eq!(
            uris,
            [
                "connector://resources",
                "connector://status",
                "data://acme-desk-mcp/rooms",
                "ontology://acme-desk-mcp/desk.ttl",
                "shapes://acme-desk-mcp/desk.ttl",
                "skill://triage-tickets/SKILL.md",
                "skill://triage-tickets/_manifest",
            ]
        );
        for (uri, path, media_type) in [
            ("ontology://acme-desk-mcp/desk.ttl", "ontology/desk.ttl", "text/turtle"),
            ("shapes://acme-desk-mcp/desk.ttl", "ontology/shapes/desk.ttl", "text/turtle"),
            ("skill://triage-tickets/SKILL.md", "skills/triage-tickets/SKILL.md", "text/markdown"),
            (
                "skill://triage-tickets/refs/levels.md",
                "skills/triage-tickets/refs/levels.md",
                "application/octet-stream",
            ),
        ] {
            let body = client.read(uri).await;
            assert_eq!(body["text"].as_str().unwrap().as_bytes(), file(path), "{uri}");
            assert_eq!(body["mimeType"], media_type, "{uri}");
        }
        let icon = client.read("skill://triage-tickets/refs/icon.png").await;
        assert_eq!(icon["blob"], scion::domain::base64::encode(&file("skills/triage-tickets/refs/icon.png")));
        assert!(icon.get("text").is_none());
        let templates = client.result("resources/templates/list", json!({})).await["resourceTemplates"].clone();
        let names: Vec<(&str, &str)> = templates
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["uriTemplate"].as_str().unwrap(), one["name"].as_str().unwrap()))
            .collect();
        let theirs = vector("stdio_legacy", "resources/templates/list")["resourceTemplates"].clone();
        let wanted: Vec<(&str, &str)> = theirs
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["uriTemplate"].as_str().unwrap(), one["name"].as_str().unwrap()))
            .collect();
        assert_eq!(names, wanted);
        let missing = client.ask("resources/read", json!({"uri": "connector://nope"})).await;
        assert!(missing["error"]["code"].is_i64(), "{missing}");
    }
}

/// What a peer's fixture with the same files shows: names, media types, skill metadata, bodies.
///
/// Proves: SDK-CONNECTOR-CONTROL-R075.5
#[tokio::test]
async fn the_listing_of_the_peers_fixture_is_ours() {
    let (mut client, _) = Client::open(Some(content()), false).await;
    let ours = client.resources().await;
    let theirs = vector("stdio_legacy", "resources/list")["resources"].clone();
    let mut compared = 0;
    for wanted in theirs.as_array().unwrap() {
        let Some(own) = ours.iter().find(|own| own["uri"] == wanted["uri"]) else {
            // Resources that the fixture registers in code.
            assert!(
                ["ui", "a2a-card", "model-profile"]
                    .iter()
                    .any(|scheme| wanted["uri"].as_str().unwrap().starts_with(scheme))
            );
            continue;
        };
        assert_eq!((&own["name"], &own["mimeType"]), (&wanted["name"], &wanted["mimeType"]));
        if own["uri"] != "connector://status" {
            assert_eq!(own["_meta"]["fastmcp"], wanted["_meta"]["fastmcp"], "{}", own["uri"]);
        }
        compared += 1;
    }
    assert_eq!(compared, 6);
    for uri in ["connector://status", "connector://capability/anything", "skill://triage-tickets/SKILL.md"] {
        let wanted = vector("stdio_legacy", &format!("read {uri}"))["contents"][0].clone();
        assert_eq!(client.read(uri).await["text"], wanted["text"], "{uri}");
    }
    // The fixture's skill has one file, ours three; the form is the same.
    let manifest: Value =
        serde_json::from_str(client.read("skill://triage-tickets/_manifest").await["text"].as_str().unwrap()).unwrap();
    let wanted = vector("stdio_legacy", "read skill://triage-tickets/_manifest")["contents"][0]["text"].clone();
    let wanted: Value = serde_json::from_str(wanted.as_str().unwrap()).unwrap();
    assert_eq!((&manifest["skill"], &manifest["files"][0]), (&wanted["skill"], &wanted["files"][0]));
    assert_eq!(manifest["files"].as_array().unwrap().len(), 3);
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.4
#[tokio::test]
async fn prompts_are_listed_and_got_as_the_peer_does() {
    for (enveloped, section) in [(false, "stdio_legacy"), (true, "stdio_modern")] {
        let (mut client, _) = Client::open(Some(content()), enveloped).await;
        let listed = client.result("prompts/list", json!({})).await["prompts"].clone();
        let names: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["connector-status", "daily-summary", "reply"]);
        let theirs = vector(section, "prompts/list")["prompts"].clone();
        for index in [0, 1] {
            for member in ["name", "title", "_meta"] {
                assert_eq!(listed[index][member], theirs[index][member], "{member}");
            }
        }
        assert_eq!(listed[1]["description"], "What is open since yesterday.");
        let argument = |index: usize| listed[2]["arguments"][index].clone();
        assert_eq!((argument(0)["name"].as_str(), argument(0)["required"].as_bool()), (Some("ticket"), Some(true)));
        assert_eq!(argument(1)["name"], "tone");
        assert_eq!(listed[2]["_meta"]["team.knuckles/prompt"]["promptRole"], "template");

        let got = client.result("prompts/get", json!({"name": "daily-summary"})).await;
        let wanted = vector("stdio_legacy", "prompt rendered");
        assert_eq!(got["messages"], wanted["messages"]);
        assert_eq!(got["_meta"]["team.knuckles/prompt"], wanted["_meta"]["team.knuckles/prompt"]);
        let reply = json!({"name": "reply", "arguments": {"ticket": "{{ticket}}", "tone": "plain"}});
        let got = client.result("prompts/get", reply).await;
        assert_eq!(got["messages"], vector("stdio_legacy", "prompt argument")["messages"]);
        let reference = json!({"type": "ref/prompt", "name": "reply"});
        let typed = json!({"ref": reference, "argument": {"name": "tone", "value": "f"}});
        let completed = client.result("completion/complete", typed).await;
        assert_eq!(completed["completion"]["values"], json!(["formal", "friendly"]));
        let status = client.result("prompts/get", json!({"name": "connector-status"})).await;
        assert_eq!(
            status["messages"][0]["content"]["text"],
            "Report the operational status of the acme-desk-mcp connector server."
        );
        for bad in [
            json!({"name": "reply", "arguments": {}}),
            json!({"name": "reply", "arguments": {"ticket": "1", "x": "y"}}),
            json!({"name": "nope"}),
        ] {
            let answer = client.ask("prompts/get", bad.clone()).await;
            assert!(answer["error"]["code"].is_i64(), "{bad}: {answer}");
        }
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.7, SDK-CONNECTOR-CONTROL-R074.3, SDK-CONNECTOR-CONTROL-R074.4
#[tokio::test]
async fn data_resources_are_derived_and_served_with_the_counts_of_every_surface() {
    let (mut client, handle) = Client::open(Some(content()), false).await;
    let declared = client.read("connector://resources").await;
    let declaration = ConnectorDeclaration::from_text(declared["text"].as_str().unwrap().as_bytes()).unwrap();
    let wanted = vector("stdio_legacy", "read connector://resources")["contents"][0]["text"].clone();
    let wanted = ConnectorDeclaration::from_text(wanted.as_str().unwrap().as_bytes()).unwrap();
    // The peer keeps the fields in the order of the schema; by name is the order that does not depend on it.
    let sorted = |descriptor: &scion::domain::json::JsonObject| {
        let mut descriptor = descriptor.clone();
        let mut fields = descriptor["fields"].as_array().unwrap().to_vec();
        fields.sort_by_key(|field| field.get("name").unwrap().as_str().unwrap().to_owned());
        descriptor.insert("fields".into(), fields.into());
        descriptor
    };
    assert_eq!(
        declaration.descriptors.iter().map(sorted).collect::<Vec<_>>(),
        wanted.descriptors.iter().map(sorted).collect::<Vec<_>>()
    );

    let rooms = client.read("data://acme-desk-mcp/rooms").await;
    assert_eq!(parse_json(rooms["text"].as_str().unwrap()).unwrap(), Json::Object(declaration.descriptors[0].clone()));
    let manifest = client.resources().await.remove(0);
    let counts = &manifest["_meta"][SURFACES_META_KEY];
    for (surface, count) in [("tools", 1), ("prompts", 3), ("skills", 1), ("ontology", 1), ("shapes", 1), ("data", 1)] {
        assert_eq!(counts[surface]["count"], count, "{surface}");
        assert_eq!(counts[surface]["digest"].as_str().unwrap().len(), 71, "{surface}");
    }
    let live: Vec<(String, String)> = {
        let mut live = Vec::new();
        for listed in client.resources().await {
            let uri = listed["uri"].as_str().unwrap().to_owned();
            if uri.starts_with("data://") {
                live.push((uri.clone(), client.read(&uri).await["text"].as_str().unwrap().to_owned()));
            }
        }
        live
    };
    let packed: Vec<(String, String)> = handle
        .catalogue()
        .pack_entries()
        .into_iter()
        .filter(|entry| entry.uri.starts_with("data://"))
        .map(|entry| (entry.uri, String::from_utf8(entry.body).unwrap()))
        .collect();
    assert_eq!(live, packed);
    // The contract says of each data resource what the live declaration says.
    let descriptors: Vec<_> = declaration.descriptors.iter().map(|one| Descriptor::from_json(one).unwrap()).collect();
    let catalogue = handle.catalogue();
    let contract = std::str::from_utf8(catalogue.get("contract://acme-desk-mcp").unwrap().body()).unwrap().to_owned();
    let contracts = read_contracts(&contract).unwrap();
    assert_eq!(contracts.len(), descriptors.len());
    for (contract, data) in contracts.iter().zip(&descriptors) {
        assert_eq!(Some(&contract.class), data.ontology_class.as_ref());
        assert_eq!(
            (&contract.entity, &contract.operation, &contract.key_field),
            (&data.name, &data.operation, &data.key_field)
        );
    }
    assert!(contracts.iter().any(|contract| contract.class == "https://desk.example/ns#Room"), "{contracts:?}");
    assert!(contract.contains("<contract://acme-desk-mcp/skills/"), "{contract}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R068, SDK-CONNECTOR-CONTROL-R068.6, SDK-CONNECTOR-CONTROL-R068.3, SDK-CONNECTOR-CONTROL-R068.5
#[tokio::test]
async fn the_seed_graph_is_served_and_its_change_is_told_once() {
    let (mut client, handle) = Client::open(Some(content().seed(&seed(2)).unwrap()), false).await;
    let mut digests = Vec::new();
    for uri in ["connector://resources", "ontology://acme-desk-mcp/desk.ttl", "seed://acme-desk-mcp/seed.ttl"] {
        let listed = client.resources().await.into_iter().find(|one| one["uri"] == uri).unwrap();
        let body = client.read(uri).await;
        let digest = format!("sha256:{}", sha256(body["text"].as_str().unwrap().as_bytes()).to_hex());
        assert_eq!(listed["_meta"][DIGEST_META_KEY], digest.as_str(), "{uri}");
        assert_eq!(body["_meta"][DIGEST_META_KEY], digest.as_str(), "{uri}");
        digests.push(digest);
    }
    assert_eq!(client.overheard().await, Vec::<String>::new());
    handle.replace_seed(Some(&seed(3))).unwrap();
    assert_eq!(client.overheard().await, ["notifications/resources/list_changed"]);
    let body = client.read("seed://acme-desk-mcp/seed.ttl").await;
    let digest = format!("sha256:{}", sha256(body["text"].as_str().unwrap().as_bytes()).to_hex());
    assert_ne!(digest, digests[2]);
    assert_eq!(body["_meta"][DIGEST_META_KEY], digest.as_str());
    assert!(body["text"].as_str().unwrap().contains("queues/2"));
    handle.replace_seed(Some(&seed(3))).unwrap();
    assert_eq!(client.overheard().await, Vec::<String>::new(), "the same graph is no change");
    handle.replace(ServedContent::from_files(&scion::content::ContentFiles::default()).unwrap()).unwrap();
    let mut heard = client.overheard().await;
    heard.sort();
    assert_eq!(heard, ["notifications/prompts/list_changed", "notifications/resources/list_changed"]);
}

/// In the enveloped era a client hears of what it listens to.
///
/// Proves: SDK-CONNECTOR-CONTROL-R068.3
#[tokio::test]
async fn a_listener_of_the_enveloped_era_hears_once_too() {
    let (mut client, handle) = Client::open(Some(content().seed(&seed(1)).unwrap()), true).await;
    let params = json!({
        "notifications": {"resourcesListChanged": true, "promptsListChanged": true},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        },
    });
    client.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "subscriptions/listen", "params": params})).await;
    let opened = client.overheard().await;
    assert!(opened.iter().all(|method| !method.contains("list_changed")), "{opened:?}");
    handle.replace_seed(None).unwrap();
    assert_eq!(client.overheard().await, ["notifications/resources/list_changed"]);
}

/// Proves: SDK-CONNECTOR-CONTROL-R068.4, SDK-CONNECTOR-CONTROL-R073
#[tokio::test]
async fn a_connector_without_content_serves_its_tools() {
    for enveloped in [false, true] {
        let (mut client, _) = Client::open(None, enveloped).await;
        let uris: Vec<Value> = client.resources().await.into_iter().map(|one| one["uri"].clone()).collect();
        assert_eq!(uris, [json!("connector://resources"), json!("connector://status")]);
        assert_eq!(client.result("tools/list", json!({})).await["tools"].as_array().unwrap().len(), 1);
        assert_eq!(client.result("prompts/list", json!({})).await["prompts"], json!([]));
        assert_eq!(client.result("resources/templates/list", json!({})).await["resourceTemplates"], json!([]));
        let seed = client.ask("resources/read", json!({"uri": "seed://acme-desk-mcp/seed.ttl"})).await;
        assert!(seed["error"]["code"].is_i64());
    }
}
