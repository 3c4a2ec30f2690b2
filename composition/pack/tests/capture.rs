//! What is captured of a server, and what is refused. Every case of the sections of `pack.json` that need a server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use scion_conformance::reference::VirtualClock;
use scion_domain::digest;
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::McpRefusal;
use scion_domain::model::{PackEntry, PackImport};
use scion_domain::pack::{PackArchive, PackRefusal};
use scion_pack::{CaptureOptions, Capturer, scope_imports};
use scion_ports::{CaptureRefusal, CapturedPack, PackCapture as _};
use support::{Server, json, object, section, text, vectors};

fn connector() -> ConnectorName {
    ConnectorName::parse("mini").unwrap()
}

async fn capture(server: &Server) -> Result<CapturedPack, CaptureRefusal> {
    Capturer::new(Arc::new(VirtualClock::default())).capture(server, &connector()).await
}

fn find<'p>(pack: &'p CapturedPack, uri: &str) -> &'p PackEntry {
    pack.entries.iter().find(|entry| entry.uri == uri).unwrap_or_else(|| panic!("no {uri}"))
}

fn named(refused: Result<CapturedPack, CaptureRefusal>) -> String {
    match refused {
        Err(CaptureRefusal::Pack(
            PackRefusal::Malformed { uri, .. }
            | PackRefusal::Scheme { uri }
            | PackRefusal::Duplicate { uri }
            | PackRefusal::Annotation { uri, .. },
        )) => uri,
        other => panic!("{other:?}"),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R022, SDK-CENTRALIZED-CAPABILITIES-R027
#[test]
fn import_scoping_of_the_vectors() {
    let file = vectors();
    let held = ["ontology://m/a.ttl".to_owned(), "ontology://m/b.ttl".to_owned()];
    for case in section(&file, "import_scoping") {
        let (id, body) = (text(case, "id"), text(case, "body"));
        let scoped = scope_imports("ontology://m/a.ttl", text(case, "media_type"), body, &held).unwrap();
        assert_eq!(scoped.text.as_deref().unwrap_or(body), text(case, "result"), "{id}");
        assert_eq!(Some(scoped.text.is_none()), case.get("unchanged").and_then(Json::as_bool), "{id}");
        let requires: Vec<Json> = scoped.requires.into_iter().map(Json::from).collect();
        assert_eq!(case.get("requires_capabilities").and_then(Json::as_array), Some(requires.as_slice()), "{id}");
        let again = scope_imports("ontology://m/a.ttl", text(case, "media_type"), text(case, "result"), &held).unwrap();
        assert_eq!(again.text, None, "{id}: scoping twice is scoping once");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R022
#[test]
fn an_import_is_taken_out_wherever_a_statement_holds_it() {
    let prefix = "@prefix o: <http://www.w3.org/2002/07/owl#> .\n";
    for (body, expected) in [
        ("<x> o:imports <h:1> ; o:imports <h:2> ; a o:Ontology .\n", "<x> a o:Ontology .\n"),
        ("<x> a o:Ontology ; o:imports <h:1>; .\n", "<x> a o:Ontology; .\n"),
        ("<x> o:imports <h:1>.<y> a o:Ontology.\n", "<y> a o:Ontology.\n"),
        ("[ o:versionInfo \"1.5\"@en ] o:imports <h:1> .\n<y> a o:Ontology .\n", "<y> a o:Ontology .\n"),
        (
            "<x> o:imports # why\n <h:1>, # because\n <ontology://m/b.ttl> .\n",
            "<x> o:imports # why\n  # because\n <ontology://m/b.ttl> .\n",
        ),
        (
            "PREFIX p: <u:>\n<x> p:a.b 1.5, 'it\\'s', '''a 'b' '''; o:imports <h:1>.",
            "PREFIX p: <u:>\n<x> p:a.b 1.5, 'it\\'s', '''a 'b' '''.",
        ),
    ] {
        let whole = format!("{prefix}{body}");
        let scoped = scope_imports("ontology://m/a.ttl", "text/turtle", &whole, &["ontology://m/b.ttl".into()]);
        if body.starts_with('[') {
            // Its blank node says more than the import, so cutting the statement would lose that.
            assert!(scoped.is_err(), "{body}");
            continue;
        }
        assert_eq!(scoped.unwrap().text.as_deref(), Some(format!("{prefix}{expected}").as_str()), "{body}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R023, SDK-CONNECTOR-CONTROL-R024
#[tokio::test]
async fn prompt_captures_of_the_vectors() {
    let file = vectors();
    for case in section(&file, "prompt_captures") {
        let id = text(case, "id");
        let definition = case.get("definition").and_then(Json::as_object).unwrap();
        let name = definition.get("name").and_then(Json::as_str).unwrap();
        let answer = match (case.get("server_result"), case.get("server_error").and_then(Json::as_str)) {
            (_, Some("McpPromptRejectedError")) => Err(McpRefusal::PromptRejected { prompt: name.into() }),
            (_, Some(_)) => Err(McpRefusal::Closed { operation: "prompts/get".into() }),
            (Some(Json::Object(result)), None) => Ok(result.clone()),
            other => panic!("{id}: {other:?}"),
        };
        let mut server = Server { prompts: vec![definition.clone()], ..Server::default() };
        server.answers.insert(name.to_owned(), answer);
        let captured = capture(&server).await;
        let asked: Vec<Json> = server
            .asked
            .lock()
            .unwrap()
            .iter()
            .map(|(name, bound)| {
                let bound: JsonObject =
                    bound.iter().map(|(key, value)| (key.clone(), Json::from(value.as_str()))).collect();
                Json::from(vec![Json::from(name.as_str()), Json::Object(bound)])
            })
            .collect();
        assert_eq!(case.get("asked").and_then(Json::as_array), Some(asked.as_slice()), "{id}");
        match case.get("ok").and_then(Json::as_array) {
            Some([expected]) => {
                let pack = captured.unwrap();
                let entry = find(&pack, text(expected, "uri"));
                if id == "template-rejected" {
                    // The words of the message are the capturing side's own.
                    let (body, wanted) =
                        (json(std::str::from_utf8(&entry.body).unwrap()), json(text(expected, "body")));
                    let without = |value: &Json| {
                        let mut members = value.as_object().unwrap().clone();
                        members.remove("result");
                        members
                    };
                    assert_eq!(without(&body), without(&wanted));
                    let said =
                        body.get("result").and_then(|result| result.get("messages")).and_then(Json::as_array).unwrap();
                    assert_eq!(said.len(), 1);
                    let said = said[0].get("content").map(|content| text(content, "text").to_owned()).unwrap();
                    assert!(said.contains("{{a}}") && !said.contains("{{b}}"), "{said}");
                } else {
                    assert_eq!(std::str::from_utf8(&entry.body).unwrap(), text(expected, "body"), "{id}");
                }
            }
            _ => match text(case.get("error").unwrap(), "type") {
                "MalformedArtifactError" => assert!(matches!(captured, Err(CaptureRefusal::Pack(_))), "{id}"),
                _ => assert!(matches!(captured, Err(CaptureRefusal::Mcp(_))), "{id}"),
            },
        }
    }
}

/// The server behind `pack_reproducible`, as its entries show it.
fn mini(file: &Json) -> Server {
    let mut server = Server::default();
    for entry in section(file.get("pack_reproducible").unwrap(), "entries") {
        let (uri, name) = (text(entry, "uri"), text(entry, "name"));
        let (media_type, body) = (text(entry, "media_type"), text(entry, "body_text"));
        match text(entry, "kind") {
            "mcp_server" => {}
            "tool" => {
                let body = json(body);
                let mut said = entry.get("annotations").and_then(Json::as_object).unwrap().clone();
                said.remove("sdk_contract_pin");
                let read_only = said.remove("read_only_hint").and_then(|hint| hint.as_bool());
                server.tool(name, text(&body, "description"));
                let tool = server.tools.last_mut().unwrap();
                tool.hints.read_only = read_only;
                tool.input_schema = body.get("input_schema").unwrap().clone();
                tool.output_schema = body.get("output_schema").cloned();
                if !said.is_empty() {
                    tool.meta.insert("eg.annotations".into(), said.into());
                }
            }
            "prompt" => {
                let body = json(body);
                let member = |name| body.get(name).and_then(Json::as_object).unwrap().clone();
                server.prompts.push(member("definition"));
                server.answers.insert(name.into(), Ok(member("result")));
            }
            _ if uri == "ontology://mini/a.ttl" => {
                let whole = body.replace("owl:imports  ", "owl:imports <http://hub.example/kg> , ");
                server.resource(uri, name, media_type, &whole);
            }
            _ => server.resource(uri, name, media_type, body),
        }
    }
    server
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R027, SDK-CONNECTOR-CONTROL-R002
#[tokio::test]
async fn the_reproducible_pack_of_the_vectors_is_captured_entry_by_entry() {
    let file = vectors();
    let pack = capture(&mini(&file)).await.unwrap();
    let archive = PackArchive::build(&connector(), &pack.server, &pack.entries).unwrap();
    let mut compared = 0;
    for expected in section(file.get("pack_reproducible").unwrap(), "entries").iter().skip(1) {
        let uri = text(expected, "uri");
        let entry = archive.entries().iter().find(|entry| entry.uri == uri).unwrap();
        match text(expected, "kind") {
            // The server's name and version in a prompt's result belong to the protocol: see DEVIATIONS.md.
            "prompt" => {
                let mut body = json(text(expected, "body_text")).as_object().unwrap().clone();
                let mut result = body["result"].as_object().unwrap().clone();
                result.remove("_meta");
                body.insert("result".into(), result.into());
                let body = scion_domain::canonical::peer_json(&Json::Object(body));
                assert_eq!(std::str::from_utf8(&find(&pack, uri).body).unwrap(), body);
            }
            // The engine takes no resource without a schema: see DEVIATIONS.md.
            "resource" => {
                assert_eq!(entry.body.sha256.to_hex(), text(expected.get("body").unwrap(), "sha256"));
                assert!(entry.output_schema.is_some());
            }
            _ => assert_eq!(entry.digest().to_hex(), text(expected, "entry_digest"), "{uri}"),
        }
        compared += 1;
    }
    assert_eq!(compared, 9);
    // Beside those, only the declaration and the contract that follows from it.
    assert_eq!(pack.entries.len(), compared + 2);
}

/// A newer release of a server that publishes the same changes nothing but its own entry, whatever protocol version it was asked
/// under (section `determinism`).
#[tokio::test]
async fn determinism_of_the_vectors() {
    let file = vectors();
    let moves = file.get("determinism").and_then(|section| section.get("entries_changed_by")).unwrap();
    assert!(moves.get("handshake_era_instead_of_2026-07-28").is_some());
    let first = capture(&mini(&file)).await.unwrap();
    assert_eq!(capture(&mini(&file)).await.unwrap(), first);
    let mut newer = mini(&file);
    newer.identity.version = "1.0.1".into();
    for answer in newer.answers.values_mut() {
        answer.as_mut().unwrap().remove("_meta");
    }
    let newer = capture(&newer).await.unwrap();
    assert_eq!(newer.entries, first.entries);
    assert_ne!(newer.server, first.server);
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.7, SDK-CONNECTOR-CONTROL-R067.5
#[tokio::test]
async fn the_declaration_carries_its_schema_and_the_contract_follows_from_it() {
    let pack = capture(&Server::default()).await.unwrap();
    let declared = find(&pack, "connector://resources");
    assert_eq!((declared.kind.as_str(), declared.name.as_str()), ("resource", "connector-resources"));
    let schema = json(std::str::from_utf8(declared.output_schema.as_ref().unwrap()).unwrap());
    assert_eq!(schema, scion_domain::declaration::ConnectorDeclaration::json_schema());
    let contract = find(&pack, "contract://mini");
    assert_eq!((contract.kind.as_str(), contract.media_type.as_str()), ("resource", "text/turtle"));
    assert!(contract.output_schema.is_some());
    let resources = pack.entries.iter().filter(|entry| entry.kind == "resource");
    assert!(resources.clone().count() >= 2);
    assert!(
        resources.into_iter().all(|entry| entry.output_schema.is_some()),
        "the engine refuses one without a schema"
    );
}

#[tokio::test]
async fn a_bad_entry_is_refused_by_name_and_never_left_out() {
    let refused = async |change: fn(&mut Server)| {
        let mut server = Server::default();
        change(&mut server);
        named(capture(&server).await)
    };
    assert_eq!(
        refused(|server| server.resource("manifest://mini", "m", "application/json", "{}")).await,
        "manifest://mini"
    );
    assert_eq!(
        refused(|server| server.resource("file:///etc/passwd", "f", "text/plain", "x")).await,
        "file:///etc/passwd"
    );
    assert_eq!(
        refused(|server| server.resource("ontology://mini/a", "a", "text/turtle", "<a> <b>")).await,
        "ontology://mini/a"
    );
    assert_eq!(refused(|server| server.resource("a2a-card://d", "c", "application/json", "[]")).await, "a2a-card://d");
    assert_eq!(
        refused(|server| server.unlisted("connector://resources", "application/json", "{}")).await,
        "connector://resources"
    );
    let twice = refused(|server| {
        server.tool("t", "one");
        server.tool("t", "two");
    });
    assert_eq!(twice.await, "tool://mini/t");
    let prompts = refused(|server| {
        for _ in 0..2 {
            server.prompt(r#"{"name":"p"}"#, Ok(object(r#"{"messages":[{"role":"user","content":{}}]}"#)));
        }
    });
    assert_eq!(prompts.await, "prompt://mini/p");
    let annotated = refused(|server| {
        server.tool("t", "one");
        server.tools[0].meta = object(r#"{"eg.annotations":{"colour":1}}"#);
    });
    assert_eq!(annotated.await, "tool://mini/t");
    let facts_of_a_resource = refused(|server| {
        server.resource("ui://mini/a", "a", "text/html", "<p>");
        server.resources[0].meta = object(r#"{"eg.annotations":{"side_effects":["none"]}}"#);
    });
    assert_eq!(facts_of_a_resource.await, "ui://mini/a");
}

#[tokio::test]
async fn a_skill_is_captured_with_the_files_of_its_manifest() {
    let skill = "---\nname: sort\ndescription: Sorts.\n---\nSort.\n";
    let script = "#!/bin/sh\n";
    let hash = digest::sha256(script.as_bytes()).to_hex();
    let manifest = format!(
        r#"{{"skill":"sort","files":[{{"path":"SKILL.md"}},{{"path":"bin/run.sh","size":10,"hash":"sha256:{hash}"}}]}}"#
    );
    let mut server = Server::default();
    server.resource("skill://sort/SKILL.md", "sort/SKILL.md", "text/markdown", skill);
    server.resource("skill://sort/_manifest", "sort/_manifest", "application/json", &manifest);
    server.unlisted("skill://sort/bin/run.sh", "text/x-sh", script);
    let pack = capture(&server).await.unwrap();
    assert_eq!(find(&pack, "skill://sort/SKILL.md").name, "sort");
    let file = find(&pack, "skill-file://sort/bin/run.sh");
    assert_eq!((file.kind.as_str(), file.body.as_slice()), ("skill_file", script.as_bytes()));
    assert!(pack.entries.iter().all(|entry| !entry.uri.ends_with("_manifest")));
    server.unlisted("skill://sort/bin/run.sh", "text/x-sh", "#!/bin/zsh\n");
    assert_eq!(named(capture(&server).await), "skill://sort/bin/run.sh");
    server.resource("skill://sort/SKILL.md", "s", "text/markdown", "no front matter");
    server.resources.remove(0);
    server.resources.rotate_left(1);
    assert!(matches!(capture(&server).await, Err(CaptureRefusal::Pack(_))));
}

/// Proves: SDK-CONNECTOR-CONTROL-R045, SDK-CONNECTOR-CONTROL-R045.8
#[tokio::test]
async fn a_captured_tool_carries_its_facts_and_its_fingerprint() {
    let mut server = Server::default();
    server.tool("get_ticket", "Reads one.");
    let pack = capture(&server).await.unwrap();
    let entry = find(&pack, "tool://mini/get_ticket");
    let facts = entry.facts.as_ref().unwrap();
    assert!(facts.read_only());
    assert_eq!(facts.arg_schema(), server.tools[0].input_schema.as_object().unwrap());
    assert_eq!(facts.schema_tokens(), entry.body.len().div_ceil(4) as u64);
    let pin = scion_domain::fingerprint::compatibility(&server.tools[0]).unwrap();
    assert_eq!(entry.annotations.sdk_contract_pin, Some(pin));
}

#[tokio::test(start_paused = true)]
async fn a_capture_is_bounded_in_entries_bytes_and_time() {
    let mut server = Server::default();
    for at in 0..5 {
        server.tool(&format!("t{at}"), "x");
    }
    let bounded = |options: CaptureOptions| Capturer::new(Arc::new(VirtualClock::default())).with_options(options);
    let few = bounded(CaptureOptions { max_entries: 5, ..CaptureOptions::default() });
    let too_large = |refused| matches!(refused, Err(CaptureRefusal::Pack(PackRefusal::TooLarge { .. })));
    assert!(too_large(few.capture(&server, &connector()).await));
    let small = bounded(CaptureOptions { max_bytes: 1000, ..CaptureOptions::default() });
    assert!(too_large(small.capture(&server, &connector()).await));
    let late = bounded(CaptureOptions { deadline: Duration::from_secs(3), ..CaptureOptions::default() });
    let slow = Server { hangs: true, ..Server::default() };
    let refused = late.capture(&slow, &connector()).await;
    assert!(matches!(refused, Err(CaptureRefusal::Mcp(McpRefusal::Timeout { seconds: 3, .. }))));
}

#[tokio::test]
async fn a_server_without_prompts_and_resources_is_a_pack_of_its_tools_and_its_declaration() {
    let mut server = Server::default();
    server.tool("t", "x");
    let uris: Vec<_> = capture(&server).await.unwrap().entries.into_iter().map(|entry| entry.uri).collect();
    assert_eq!(uris, ["connector://resources", "contract://mini", "tool://mini/t"]);
    server.bodies.clear();
    assert!(matches!(capture(&server).await, Err(CaptureRefusal::Mcp(McpRefusal::UnknownResource { .. }))));
}

/// Every change that a reader of the pack could see.
fn changes() -> Vec<fn(&mut Server)> {
    vec![
        |server| server.tools[0].description = Some("Another.".into()),
        |server| server.tools[1].name = "renamed".into(),
        |server| server.tools[2].input_schema = json(r#"{"type":"object","properties":{"b":{}}}"#),
        |server| server.tools[3].output_schema = None,
        |server| server.tools[4].hints.read_only = None,
        |server| server.tools[0].meta = object(r#"{"eg.annotations":{"side_effects":["network"]}}"#),
        |server| server.tools[1].meta = object(r#"{"eg.annotations":{"cost":{"currency":"EUR","per_call_micros":0}}}"#),
        |server| drop(server.tools.pop()),
        |server| drop(server.prompts[0].insert("title".into(), "T".into())),
        |server| drop(server.prompts.pop()),
        |server| server.unlisted("ui://mini/0", "text/html", "<b>"),
        |server| server.unlisted("ui://mini/1", "text/html;profile=mcp-app", "<p>"),
        |server| server.resources[0].name = "other".into(),
        |server| {
            server.unlisted(
                "connector://resources",
                "application/json",
                r#"{"connector": "mini", "descriptors":  []}"#,
            );
        },
    ]
}

fn large() -> Server {
    let mut server = Server::default();
    for at in 0..6 {
        server.tool(&format!("t{at}"), "Does.");
        server.resource(&format!("ui://mini/{at}"), "n", "text/html", "<p>");
        let answer = object(r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}"#);
        server.prompt(&format!(r#"{{"name":"p{at}"}}"#), Ok(answer));
    }
    server
}

fn digest_of(server: &Server) -> scion_domain::id::Digest256 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let captured = runtime.block_on(capture(server)).unwrap();
    digest::pack(&PackImport {
        connector: connector(),
        server: captured.server,
        entries: captured.entries,
        expected_revision: None,
        allow_mass_withdrawal: false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Proves: SDK-CENTRALIZED-CAPABILITIES-R027, SDK-CONNECTOR-CONTROL-R008
    #[test]
    fn any_order_of_listing_gives_the_same_digest_and_any_semantic_change_another(
        order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(), change in 0..14_usize,
    ) {
        let first = digest_of(&large());
        let mut shuffled = large();
        shuffled.tools = order.iter().map(|at| shuffled.tools[*at].clone()).collect();
        shuffled.prompts = order.iter().rev().map(|at| shuffled.prompts[*at].clone()).collect();
        shuffled.resources = order.iter().map(|at| shuffled.resources[*at].clone()).collect();
        prop_assert_eq!(digest_of(&shuffled), first);
        let mut changed = large();
        changes()[change](&mut changed);
        prop_assert_ne!(digest_of(&changed), first);
    }

    #[test]
    fn scoping_never_panics_and_keeps_every_other_triple(parts in proptest::collection::vec(0..12_usize, 0..12)) {
        let words = ["<x>", " owl:imports", " <h:1>", " ,", " ;", " .\n", " a", " owl:Ontology", " \"t\"", " # c\n", " [", " ]"];
        let body: String = parts.iter().map(|at| words[*at]).collect();
        let whole = format!("@prefix owl: <http://www.w3.org/2002/07/owl#> .\n{body}");
        let _ = scope_imports("ontology://m/a", "text/turtle", &whole, &[]);
        let _ = scope_imports("ontology://m/a", "application/rdf+xml", &whole, &[]);
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.3
#[tokio::test]
async fn each_data_resource_is_an_entry_and_the_contract_maps_it() {
    let descriptor = r#"{"name":"rooms","uri":"data://mini/rooms","kind":"data","mapping_status":"declared","origin":"declared","access_kind":"mcp_tool","operation":"list_rooms",
        "key_field":"id","pagination":"page","ontology_class":"https://desk.example/ns#Room","arguments":{},"fields":[],"read_only":true}"#;
    let mut server = Server::default();
    let declaration = format!(r#"{{"connector": "mini", "descriptors": [{descriptor}]}}"#);
    server.unlisted("connector://resources", "application/json", &declaration);
    // A server may list the resource too: its entry is the one made from the declaration.
    server.resource("data://mini/rooms", "rooms", "application/json", "{}");
    let pack = capture(&server).await.unwrap();
    let data = find(&pack, "data://mini/rooms");
    assert_eq!((data.kind.as_str(), data.name.as_str()), ("resource", "rooms"));
    let body = json(std::str::from_utf8(&data.body).unwrap());
    assert_eq!(
        (text(&body, "operation"), text(&body, "key_field"), text(&body, "pagination")),
        ("list_rooms", "id", "page")
    );
    let contract = std::str::from_utf8(&find(&pack, "contract://mini").body).unwrap();
    for part in ["<https://desk.example/ns#Room>", "\"mcp_tool\"", "\"list_rooms\"", "\"id\"", "\"page\""] {
        assert!(contract.contains(part), "{part} in {contract}");
    }
    server.unlisted(
        "connector://resources",
        "application/json",
        r#"{"connector": "mini", "descriptors": [{"name":"x"}]}"#,
    );
    assert_eq!(named(capture(&server).await), "connector://resources");
}
