//! Prompt files, seed graphs, the catalogue and the contract.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use scion_domain::access_contract::read_contracts;
use scion_domain::content::{ContentCatalogue, ContentItem, ContentSurface, PROMPT_META_KEY, PromptFile, PromptKind};
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::declaration::descriptor::{Descriptor, OntologyTerms, check, derive, merge};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::mcp::{PromptContent, ToolDescription, ToolHints};
use scion_domain::pack_declaration::{ConnectorPackDeclaration, LiveConnector, PackTool};
use scion_domain::refusal::Refusal as _;
use scion_domain::seed_graph::{MAX_SEED_TRIPLES, SeedGraphDeclaration, SeedIdentity, SeedObject};

/// The file behind `daily-summary` of the peer's fixture connector, as its listing shows it.
const DAILY: &str = r#"{
    "title": "Daily summary", "description": "What is open.", "tags": ["summary", "desk"],
    "identity": {"role": "Desk analyst", "goal": "Keep the queue short", "topic": "support", "tone": "plain", "style": "bullets"},
    "instructions": {"core_directive": "List yesterday's tickets, oldest first."},
    "prompt_version": "1.2.0", "useCase": "standup", "systemPromptFor": "https://desk.example/ns#Agent",
    "metadata": {"owner_team": "desk", "weight": 2, "nested": {"left": "out"}, "list": [1]},
    "extends": "base", "compose": ["a"]
}"#;

fn prompt(text: &str) -> PromptFile {
    PromptFile::read("p", text.as_bytes()).unwrap()
}

fn text(prompt: &PromptFile, given: &[(&str, &str)]) -> String {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    match &prompt.body(&given).unwrap().messages[0].content {
        PromptContent::Text(text) => text.clone(),
        PromptContent::Attachment(_) => panic!("not a text"),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.4
#[test]
fn a_prompt_of_the_peers_fixture_is_listed_as_the_peer_lists_it() {
    let listed = prompt(DAILY).describe();
    let wanted = r#"{"fastmcp":{"tags":["desk","prompt","summary","system"]},"team.knuckles/prompt":{
        "goal":"Keep the queue short","owner_team":"desk","role":"Desk analyst","style":"bullets",
        "systemPromptFor":"https://desk.example/ns#Agent","tone":"plain","topic":"support","useCase":"standup",
        "version":"1.2.0","weight":2}}"#;
    assert_eq!(Json::Object(listed.meta), parse(wanted).unwrap());
    assert_eq!(
        (listed.title.as_deref(), listed.description.as_deref()),
        (Some("Daily summary"), Some("What is open."))
    );
    assert!(listed.arguments.is_empty());
    assert_eq!(text(&prompt(DAILY), &[]), "List yesterday's tickets, oldest first.");
    let titled = prompt(r#"{"identity":{"role":"Analyst"},"instructions":{"core_directive":"x {{y}}"}}"#);
    assert_eq!(titled.title.as_deref(), Some("Analyst"));
    assert_eq!(text(&titled, &[]), "x {{y}}", "without arguments the text stands as written");
    for (file, use_case) in [
        (r#"{"metadata":{"useCase":"b","use_case":"c"},"use_case":"d","instructions":{"core_directive":"x"}}"#, "b"),
        (r#"{"metadata":{"use_case":"c"},"instructions":{"core_directive":"x"}}"#, "c"),
    ] {
        let meta = prompt(file).meta;
        assert_eq!((meta.len(), meta["useCase"].as_str()), (1, Some(use_case)));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.2
#[test]
fn role_and_concepts_reach_the_metadata_and_the_entry() {
    let system = prompt(
        r#"{"role":"system","ontology_class":"https://desk.example/ns#Agent","concepts":["urn:cap:triage"],
            "instructions":{"core_directive":"You sort tickets."}}"#,
    );
    assert_eq!(system.kind, PromptKind::System);
    assert_eq!(system.concepts, ["urn:cap:triage", "https://desk.example/ns#Agent"]);
    let meta = system.describe().meta[PROMPT_META_KEY].clone();
    assert_eq!(meta.get("promptRole").unwrap().as_str(), Some("system"));
    assert_eq!(meta.get("systemPromptFor").unwrap().as_str(), Some("https://desk.example/ns#Agent"));
    let plain = prompt(r#"{"instructions":{"core_directive":"x"}}"#);
    assert_eq!((plain.kind, plain.meta.len()), (PromptKind::Task, 0), "a silent role is a task");

    let mut catalogue = ContentCatalogue::default();
    catalogue.prompts(&ConnectorName::parse("desk-mcp").unwrap(), &[system]);
    let entry = catalogue.pack_entries().pop().unwrap();
    let body = parse(std::str::from_utf8(&entry.body).unwrap()).unwrap();
    assert_eq!((entry.kind.as_str(), entry.uri.as_str()), ("prompt", "prompt://desk-mcp/p"));
    assert_eq!(body.get("role").unwrap().as_str(), Some("system"));
    assert_eq!(body.get("concepts").unwrap().as_array().unwrap().len(), 2);
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.4
#[test]
fn a_template_is_filled_from_its_arguments() {
    let reply = prompt(
        r#"{"role":"template","arguments":[{"name":"ticket","required":true,"description":"Which."},{"name":"tone"}],
            "instructions":{"core_directive":"Reply to {{ticket}}{{tone}}."}}"#,
    );
    assert_eq!(text(&reply, &[("ticket", "{{tone}}"), ("tone", " kindly")]), "Reply to {{tone}} kindly.");
    assert_eq!(text(&reply, &[("ticket", "7")]), "Reply to 7.");
    let own: Vec<_> = reply.placeholders().into_iter().collect();
    assert_eq!(own, [("ticket".to_owned(), "{{ticket}}".to_owned())]);
    for given in [vec![], vec![("tone", "x")], vec![("ticket", "1"), ("other", "x")]] {
        let given: BTreeMap<String, String> = given.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        assert_eq!(reply.body(&given).unwrap_err().code(), "surface_prompt_arguments");
    }
    let long = BTreeMap::from([("ticket".to_owned(), "x".repeat(65_537))]);
    assert!(reply.body(&long).is_err());
}

#[test]
fn a_malformed_prompt_is_refused_with_its_file_and_field() {
    let with = |members: &str| format!(r#"{{"instructions":{{"core_directive":"x"}},{members}}}"#);
    for (file, named) in [
        ("{}".to_owned(), "instructions.core_directive"),
        (r#"{"instructions":"x"}"#.to_owned(), "instructions"),
        (r#"{"instructions":{"core_directive":" "}}"#.to_owned(), "instructions.core_directive"),
        (r#"{"instructions":{"core_directive":["x"]}}"#.to_owned(), "instructions.core_directive"),
        ("[]".to_owned(), "the file"),
        (with(r#""title":3"#), "title"),
        (with(r#""tags":[1]"#), "tags"),
        (with(r#""role":"boss""#), "role"),
        (with(r#""role":"template""#), "role"),
        (with(r#""concepts":["not an iri"]"#), "concepts"),
        (with(r#""ontology_class":"Ticket""#), "ontology_class"),
        (with(r#""arguments":{}"#), "arguments"),
        (with(r#""arguments":["a"]"#), "arguments[0]"),
        (with(r#""arguments":[{}]"#), "arguments[0].name"),
        (with(r#""arguments":[{"name":"1"}]"#), "arguments[0].name"),
        (with(r#""arguments":[{"name":"a"},{"name":"a"}]"#), "arguments[1].name"),
        (with(r#""arguments":[{"name":"a","required":"yes"}]"#), "arguments[0].required"),
        (
            r#"{"instructions":{"core_directive":"{{b}}"},"arguments":[{"name":"a"}]}"#.to_owned(),
            "instructions.core_directive",
        ),
    ] {
        let refusal = PromptFile::read("p", file.as_bytes()).unwrap_err();
        assert_eq!(refusal.code(), "content_field", "{file}");
        assert!(refusal.to_string().starts_with(&format!("{named} in `prompts/p.json` ")), "{file}: {refusal}");
    }
    for (bytes, code) in [
        (&b"{"[..], "content_not_json"),
        (b"{\"title\":\"a\",\"title\":\"b\"}", "content_not_json"),
        (b"{\n\"a\":\"\xff\"}", "content_not_utf8"),
    ] {
        assert_eq!(PromptFile::read("p", bytes).unwrap_err().code(), code);
    }
}

fn seed(order: &[usize]) -> SeedGraphDeclaration {
    let identity = SeedIdentity {
        class: Some("https://desk.example/ns#Desk".into()),
        label: Some("Desk \"EU\"\n".into()),
        properties: BTreeMap::from([("https://desk.example/ns#seats".to_owned(), Json::from(12_u64))]),
    };
    let declared = SeedGraphDeclaration::new("https://desk.example/instances/eu").unwrap().identity(identity);
    order.iter().fold(declared, |declared, index| {
        let object = SeedObject {
            iri: format!("https://desk.example/queues/{index}"),
            class: "https://desk.example/ns#Queue".into(),
            label: Some(format!("Queue {index}")),
            properties: BTreeMap::new(),
        };
        let (iri, agent) = (object.iri.clone(), format!("https://desk.example/agents/{index}"));
        declared.object(object).reference(iri, "https://desk.example/ns#servedBy", agent)
    })
}

/// Proves: SDK-CONNECTOR-CONTROL-R068.1
#[test]
fn a_seed_declaration_reads_back_and_needs_an_instance() {
    let declared = seed(&[0, 1]);
    assert_eq!(SeedGraphDeclaration::from_json(&declared.to_json()), Ok(declared));
    for blank in ["", "  ", "eu", "https://a b", "https://x/<y>", ":x", "1:x"] {
        assert_eq!(SeedGraphDeclaration::new(blank).unwrap_err().code(), "seed_instance_iri", "{blank:?}");
    }
    let read = |text: &str| SeedGraphDeclaration::from_json(&parse(text).unwrap()).unwrap_err().code();
    assert_eq!(read("{}"), "seed_instance_iri");
    assert_eq!(read(r#"{"instance_iri":"urn:x","rows":[]}"#), "seed_member");
    assert_eq!(read(r#"{"instance_iri":"urn:x","catalog":[{"iri":"urn:y"}]}"#), "seed_member");
}

/// Proves: SDK-CONNECTOR-CONTROL-R068.2
#[test]
fn a_seed_graph_is_deterministic_and_sorted_in_three_parts() {
    let graph = seed(&[0, 1, 2]).emit().unwrap();
    assert_eq!(seed(&[2, 0, 1]).emit().unwrap(), graph);
    assert_eq!(graph.parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["identity", "catalog", "references"]);
    assert_eq!(graph.parts.iter().map(|part| part.triples).collect::<Vec<_>>(), [3, 9, 3]);
    // Each part's digest is the one of its own lines, and the lines are in order.
    let mut parts: Vec<String> = Vec::new();
    for line in graph.turtle.lines() {
        match line.strip_prefix("# ") {
            Some(_) => parts.push(String::new()),
            None => parts.last_mut().unwrap().extend([line, "\n"]),
        }
    }
    for (part, text) in graph.parts.iter().zip(&parts) {
        assert_eq!(scion_domain::digest::sha256(text.as_bytes()), part.digest, "{}", part.name);
        assert!(graph.turtle.contains(&format!("# {} sha256:{}\n", part.name, part.digest.to_hex())));
        assert!(text.lines().collect::<Vec<_>>().is_sorted());
    }
    assert!(parts[0].contains(r#""Desk \"EU\"\n" ."#));
}

/// Proves: SDK-CONNECTOR-CONTROL-R068.4
#[test]
fn rows_and_large_graphs_are_refused() {
    let valued = |value: Json| {
        let properties = BTreeMap::from([("https://desk.example/ns#rows".to_owned(), value)]);
        let identity = SeedIdentity { properties, ..SeedIdentity::default() };
        SeedGraphDeclaration::new("urn:desk:eu").unwrap().identity(identity).emit()
    };
    for rows in [Json::from(vec![Json::from("a")]), Json::Object(JsonObject::new()), Json::from("x".repeat(4097))] {
        let refusal = valued(rows).unwrap_err();
        assert_eq!(refusal.code(), "seed_bulk_data");
        assert!(refusal.to_string().starts_with("identity.properties[0] "), "{refusal}");
    }
    assert_eq!(valued(Json::Null).unwrap().parts[0].triples, 0);
    let many: Vec<usize> = (0..=MAX_SEED_TRIPLES / 3).collect();
    assert_eq!(seed(&many).emit().unwrap_err().code(), "seed_too_large");
    let long = |index: usize| SeedObject {
        iri: format!("urn:o:{index}"),
        class: "urn:c".into(),
        label: Some(format!("{index}{}", "x".repeat(4000))),
        properties: BTreeMap::new(),
    };
    let wide = (0..2200).fold(SeedGraphDeclaration::new("urn:i").unwrap(), |declared, at| declared.object(long(at)));
    assert_eq!(wide.emit().unwrap_err().code(), "seed_too_large");
    let bad = SeedGraphDeclaration::new("urn:i").unwrap().reference("urn:a", "urn:b", "not an iri");
    assert_eq!(bad.emit().unwrap_err().to_string(), "references[0].object is not an absolute IRI");
}

proptest! {
    /// Proves: SDK-CONNECTOR-CONTROL-R068.2
    #[test]
    fn any_order_of_the_catalog_gives_the_same_bytes(mut order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        let graph = seed(&order).emit().unwrap();
        order.sort_unstable();
        prop_assert_eq!(seed(&order).emit().unwrap(), graph);
    }

    /// Proves: SDK-CONNECTOR-CONTROL-R074.4
    #[test]
    fn any_order_of_declaring_gives_the_same_listing_and_entries(
        order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle()
    ) {
        let make = |order: &[usize]| {
            let mut catalogue = ContentCatalogue::default();
            catalogue.extend(order.iter().map(|index| {
                ContentItem::resource(format!("ontology://x/{index}.ttl"), "n", "text/turtle", format!("# {index}"))
                    .on(ContentSurface::Ontology, "ontology")
            }));
            catalogue
        };
        let sorted: Vec<usize> = (0..12).collect();
        let (one, other) = (make(&order), make(&sorted));
        prop_assert_eq!(one.listing(), other.listing());
        prop_assert_eq!(one.pack_entries(), other.pack_entries());
        prop_assert_eq!(one.surfaces(), other.surfaces());
    }

    /// A prompt of any text is read, and its placeholders give the text back.
    #[test]
    fn any_directive_survives(directive in "[{}a-c\"\\\\é\n ]{1,40}x") {
        let file = Json::from([("instructions", Json::from([("core_directive", directive.as_str().into())]))]);
        let read = PromptFile::read("p", scion_domain::json::to_compact(&file).as_bytes()).unwrap();
        prop_assert_eq!(text(&read, &[]), directive);
    }
}

fn tool(name: &str) -> ToolDescription {
    let output = r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object",
        "properties":{"id":{"type":"integer"},"full_name":{"type":"string"}}}}}}"#;
    ToolDescription {
        name: name.to_owned(),
        title: None,
        description: None,
        input_schema: parse(r#"{"type":"object","properties":{"page":{"type":"integer"}}}"#).unwrap(),
        output_schema: Some(parse(output).unwrap()),
        hints: ToolHints { read_only: Some(true), ..ToolHints::default() },
        meta: JsonObject::new(),
    }
}

fn terms() -> OntologyTerms {
    OntologyTerms::from_iris(["https://github.example/ns#Repository"], ["https://github.example/ns#fullName"])
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.7
#[test]
fn a_repository_list_becomes_a_proposed_data_resource() {
    let name = ConnectorName::parse("github-agent").unwrap();
    let derived = derive(&name, &[tool("github_list_repositories")], &terms());
    let [repositories] = derived.as_slice() else { panic!("one resource") };
    assert_eq!(repositories.name, "repositories");
    assert_eq!((repositories.pagination.as_str(), repositories.key_field.as_str()), ("page", "id"));
    assert_eq!(repositories.ontology_class.as_deref(), Some("https://github.example/ns#Repository"));
    let field = repositories.fields.iter().find(|field| field.name == "full_name").unwrap();
    assert_eq!(field.ontology_property.as_deref(), Some("https://github.example/ns#fullName"));
    assert_eq!((repositories.mapping_status.as_str(), field.mapping_status.as_str()), ("proposed", "proposed"));
    for hints in
        [ToolHints::default(), ToolHints { read_only: Some(true), destructive: Some(true), ..ToolHints::default() }]
    {
        assert!(derive(&name, &[ToolDescription { hints, ..tool("github_list_repositories") }], &terms()).is_empty());
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.5
#[test]
fn unmapped_unknown_unpaged_and_secret_declarations_are_refused() {
    let name = ConnectorName::parse("desk-mcp").unwrap();
    let good = r#"{"name":"notes","ontology_class":"https://github.example/ns#Repository","operation":"desk_list_notes",
        "key_field":"id","pagination":"none"}"#;
    let with = |member: &str, value: &str| {
        let mut members = parse(good).unwrap().as_object().unwrap().clone();
        members.insert(member.to_owned(), parse(value).unwrap());
        merge(&name, &[], &[members], Some(&terms())).map(|_| ()).unwrap_err().code()
    };
    assert!(merge(&name, &[], &[parse(good).unwrap().as_object().unwrap().clone()], Some(&terms())).is_ok());
    assert_eq!(with("ontology_class", "\"https://other.example/Thing\""), "RESOURCE_UNMAPPED");
    assert_eq!(with("access_kind", "\"ftp\""), "ACCESS_KIND_UNKNOWN");
    assert_eq!(with("pagination", "null"), "PAGINATION_UNDECLARED");
    assert_eq!(with("pagination", "\"scroll\""), "PAGINATION_UNDECLARED");
    assert_eq!(with("credential_ref", "\"hunter2\""), "SECRET_IN_CONTRACT");
    assert_eq!(with("arguments", r#"{"api_key":"abc"}"#), "SECRET_IN_CONTRACT");
    assert_eq!(with("owner", r#""Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl""#), "SECRET_IN_CONTRACT");
    let members = parse(r#"{"name":"n","arguments":{"api_key":"{api_key}"}}"#).unwrap();
    assert_eq!(check(&[members.as_object().unwrap().clone()], None), Ok(()));
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.1
#[test]
fn every_descriptor_of_the_vectors_reads_back() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/vectors/declaration.json");
    #[expect(clippy::disallowed_methods, reason = "tests read the vectors that ship with the repository")]
    let vectors = parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut read = 0;
    for case in vectors.get("descriptor_merges").unwrap().as_array().unwrap() {
        for item in case.get("ok").and_then(Json::as_array).unwrap_or_default() {
            let members = item.as_object().unwrap();
            assert_eq!(Descriptor::from_json(members).unwrap().to_json(), *members);
            read += 1;
        }
    }
    let text = vectors.get("resources_document").unwrap().as_str().unwrap();
    let document = ConnectorDeclaration::from_text(text.as_bytes()).unwrap();
    let good = &document.descriptors[0];
    assert!(read > 5 && Descriptor::from_json(good).is_ok());
    for (member, value, code) in [
        ("name", Json::Null, "DECLARATION_INCOMPLETE"),
        ("operation", Json::from(""), "DECLARATION_INCOMPLETE"),
        ("access_kind", "ftp".into(), "ACCESS_KIND_UNKNOWN"),
        ("pagination", Json::Null, "PAGINATION_UNDECLARED"),
        ("credential_ref", "hunter2".into(), "SECRET_IN_CONTRACT"),
        ("fields", vec![Json::from("id")].into(), "FIELD_INVALID"),
        ("read_only", "yes".into(), "descriptor_member"),
    ] {
        let mut members = good.clone();
        members.insert(member.to_owned(), value);
        assert_eq!(Descriptor::from_json(&members).unwrap_err().code(), code, "{member}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.2
#[test]
fn the_contract_names_class_access_key_and_pagination() {
    let name = ConnectorName::parse("github-agent").unwrap();
    let mut descriptors = derive(&name, &[tool("github_list_repositories"), tool("github_list_boxes")], &terms());
    let declaration = ConnectorDeclaration::from_text(br#"{"connector":"github-agent"}"#).unwrap();
    let written = |descriptors: &[Descriptor]| {
        let live = LiveConnector {
            declaration: &declaration,
            descriptors,
            tools: &BTreeMap::from([("github_list_repositories".to_owned(), PackTool::default())]),
            prompts: &BTreeSet::new(),
            skills: &BTreeSet::new(),
            terms: None,
        };
        let pack = ConnectorPackDeclaration::of_live(live);
        // Boxes have no class: nothing to query them by.
        assert_eq!(pack.left_out.len(), 1);
        pack.declaration.to_turtle().unwrap()
    };
    let text = written(&descriptors);
    descriptors.reverse();
    assert_eq!(written(&descriptors), text);
    let data: Vec<&str> = text.lines().filter(|line| line.starts_with("<contract://github-agent/data/")).collect();
    let wanted = r#"<contract://github-agent/data/repositories/full_name> <http://knuckles.team/kg/virtual-graph#field> "full_name" .
<contract://github-agent/data/repositories/full_name> <http://knuckles.team/kg/virtual-graph#predicate> <https://github.example/ns#fullName> .
<contract://github-agent/data/repositories/full_name> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://knuckles.team/kg/virtual-graph#PredicateFieldPair> .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/connector-pack#accessKind> "mcp_tool" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/connector-pack#operation> "github_list_repositories" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/connector-pack#pagination> "page" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/connector-pack#parameter> "page" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/connector-pack#sourceId> "github-agent" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/virtual-graph#hasPredicateFieldPair> <contract://github-agent/data/repositories/full_name> .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/virtual-graph#keyField> "id" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/virtual-graph#mapsContract> <contract://github-agent> .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/virtual-graph#mapsEntity> "repositories" .
<contract://github-agent/data/repositories> <http://knuckles.team/kg/virtual-graph#mapsOntologyClass> <https://github.example/ns#Repository> .
<contract://github-agent/data/repositories> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://knuckles.team/kg/virtual-graph#VirtualMapping> ."#;
    assert_eq!(data.join("\n"), wanted);
    let read = read_contracts(&text).unwrap();
    assert_eq!((read.len(), read[0].entity.as_str()), (1, "repositories"));
    let about = "<contract://github-agent/tools/github_list_repositories> <http://knuckles.team/kg/virtual-graph#mapsOntologyClass> <https://github.example/ns#Repository> .";
    assert!(text.contains(about), "{text}");
}
