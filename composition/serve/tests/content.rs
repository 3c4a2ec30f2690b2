//! Content: what is refused when it is read, and what a surface makes of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::time::Duration;

use scion_domain::access_contract;
use scion_domain::content::{ContentFiles, ContentRefusal, ContentSurface, DIGEST_META_KEY, SURFACES_META_KEY};
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::digest::sha256;
use scion_domain::json::{Json, JsonLimits, JsonObject, parse, parse_with};
use scion_domain::mcp::{CompletionRequest, CompletionTarget, ServerChange};
use scion_domain::refusal::Refusal as _;
use scion_domain::seed_graph::{SeedGraphDeclaration, SeedObject};
use scion_domain::surface::{CallScope, ConnectorRefusal};
use scion_ports::{ChangeFeed, ToolSurface as _};
use scion_serve::{
    Connector, ConnectorBuilder, ContentChange, Identity, Mapping, Param, ServedContent, ServedSurface, Source, Tool,
    ToolRefusal, front_matter,
};

const ONTOLOGY: &str = "@prefix : <https://desk.example/ns#> .
@prefix kg: <http://knuckles.team/kg#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://desk.example/ns> a owl:Ontology ; owl:imports <http://knuckles.team/kg> .
:Ticket a owl:Class ; rdfs:subClassOf kg:Entity .
:subject a owl:DatatypeProperty .
";
const SKILL: &str = "---\nname: sort\ndescription: Sorts tickets.\n---\n# Sort\n";
const PROMPT: &str = r#"{"description":"Says hello.","arguments":[{"name":"who","required":true,"values":["Ada","Alan","Bo"]}],
    "instructions":{"core_directive":"Hello {{who}}."}}"#;

fn read(files: &[(&str, &[u8])]) -> Result<ServedContent, ContentRefusal> {
    let mut all = ContentFiles::default();
    files.iter().try_for_each(|(path, bytes)| all.add(path, bytes.to_vec()))?;
    ServedContent::from_files(&all)
}

fn content() -> ServedContent {
    read(&[
        ("skills/sort/SKILL.md", SKILL.as_bytes()),
        ("skills/sort/refs/levels.md", b"# Levels\n"),
        ("skills/sort/icon.png", b"\x89PNG\xff"),
        ("prompts/hello.json", PROMPT.as_bytes()),
        ("ontology/desk.ttl", ONTOLOGY.as_bytes()),
        ("ontology/shapes/desk.ttl", b"# none\n"),
    ])
    .unwrap()
}

fn seed(objects: usize) -> SeedGraphDeclaration {
    (0..objects).fold(SeedGraphDeclaration::new("https://desk.example/eu").unwrap(), |seed, index| {
        seed.object(SeedObject {
            iri: format!("https://desk.example/queues/{index}"),
            class: "https://desk.example/ns#Queue".into(),
            ..SeedObject::default()
        })
    })
}

fn tickets() -> scion_serve::ToolBuilder {
    let items = r#"{"type":"array","items":{"type":"object","properties":{
        "id":{"type":"integer"},"subject":{"type":"string"},"note":{"type":"string"}}}}"#;
    Tool::read("desk_list_tickets").param(Param::integer("page", "which").or(1)).output_schema(parse(items).unwrap())
}

fn answers(tool: scion_serve::ToolBuilder) -> Tool {
    tool.handle(|_context, _args| async { Ok::<_, ToolRefusal>(Json::Array(Vec::new())) })
}

fn desk() -> ConnectorBuilder {
    Connector::builder(Identity::new("desk-mcp", "1.0.0"))
}

async fn body(surface: &ServedSurface, uri: &str) -> Option<Vec<u8>> {
    surface.read_resource(&CallScope::default(), uri).await.ok().map(|body| body.bytes)
}

async fn uris(surface: &ServedSurface) -> Vec<String> {
    surface.list_resources(&CallScope::default()).await.unwrap().into_iter().map(|listed| listed.uri).collect()
}

async fn descriptors(surface: &ServedSurface) -> Vec<JsonObject> {
    let text = body(surface, "connector://resources").await.unwrap();
    ConnectorDeclaration::from_text(&text).unwrap().descriptors
}

/// Proves: SDK-CONNECTOR-CONTROL-R075.5
#[test]
fn every_front_matter_of_the_vectors_is_read_or_refused() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/pack.json");
    let vectors = parse_with(&std::fs::read(path).unwrap(), JsonLimits::DEFAULT).unwrap();
    let cases = vectors.get("front_matter").unwrap().as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let text = case.get("text").unwrap().as_str().unwrap();
        let cut = scion_domain::content::split_front_matter(text);
        let read = cut.and_then(|(front, _)| front_matter("SKILL.md", front).ok());
        assert_eq!(read.map_or(Json::Null, Json::Object), *case.get("front").unwrap(), "{text:?}");
    }
}

#[test]
fn hostile_front_matter_is_refused_with_its_line() {
    let refused = |front: &str| {
        let text = format!("---\n{front}\n---\n");
        match read(&[("skills/s/SKILL.md", text.as_bytes())]).unwrap_err() {
            ContentRefusal::FrontMatter { line, file, .. } if file == "skills/s/SKILL.md" => line,
            other => panic!("{front:?}: {other}"),
        }
    };
    assert_eq!(refused("name: s\nname: t"), 3);
    assert_eq!(refused("name: s\nother: &a x"), 3);
    assert_eq!(refused("name: s\nother: *a"), 3);
    assert_eq!(refused("name: !!str s"), 2);
    assert_eq!(refused("[a]: b"), 2);
    assert_eq!(refused("- name"), 2);
    assert_eq!(refused("just text"), 2);
    assert!(refused("name: [") >= 2);
    assert_eq!(refused(&format!("a: {}1{}", "[".repeat(20), "]".repeat(20))), 2);
    refused(&"a: b\n".repeat(10_000));
    let crlf = read(&[("skills/s/SKILL.md", b"---\r\nname: s\r\ndescription: d\r\n---\r\n")]).unwrap_err();
    assert_eq!(crlf, ContentRefusal::LineEnds { file: "skills/s/SKILL.md".into(), line: 1 });
    let unnamed = read(&[("skills/s/SKILL.md", SKILL.as_bytes())]).unwrap_err();
    assert_eq!(unnamed.to_string(), "name in `skills/s/SKILL.md` is not the name of its folder");
    let headless = read(&[("skills/s/README.md", b"x")]).unwrap_err();
    assert_eq!(headless.to_string(), "SKILL.md in `skills/s/SKILL.md` is missing");
    let status = read(&[("prompts/connector-status.json", PROMPT.as_bytes())]).unwrap_err();
    assert_eq!(status.code(), "content_field");
}

/// Proves: SDK-CONNECTOR-CONTROL-R073
#[test]
fn an_ontology_declares_itself_imports_its_parent_and_links_its_classes() {
    let checked = |turtle: &str| read(&[("ontology/a.ttl", turtle.as_bytes())]).map(|_| ());
    assert_eq!(checked(ONTOLOGY), Ok(()));
    let file = || "ontology/a.ttl".to_owned();
    let undeclared = ONTOLOGY.replace("a owl:Ontology ;", "a owl:Thing ;");
    assert_eq!(checked(&undeclared), Err(ContentRefusal::NoOntology { file: file() }));
    for import in ["", "owl:imports <http://knuckles.team/other>"] {
        let orphan = ONTOLOGY.replace(
            "; owl:imports <http://knuckles.team/kg>",
            if import.is_empty() { "" } else { "; owl:imports <http://knuckles.team/other>" },
        );
        assert_eq!(checked(&orphan), Err(ContentRefusal::NoParentImport { file: file() }));
    }
    let with = |more: &str| checked(&format!("{ONTOLOGY}{more}\n"));
    let unlinked = |class: &str| {
        Err(ContentRefusal::UnlinkedClass { file: file(), class: format!("<https://desk.example/ns#{class}>") })
    };
    assert_eq!(
        with(":A a rdfs:Class ; rdfs:subClassOf :B . :B rdfs:subClassOf :C . :C rdfs:subClassOf kg:Thing ."),
        Ok(())
    );
    assert_eq!(with(":A a owl:Class ."), unlinked("A"));
    assert_eq!(with(":A a owl:Class ; rdfs:subClassOf :B . :B a owl:Class ; rdfs:subClassOf :A ."), unlinked("A"));
    assert_eq!(with(":A a owl:Class ; rdfs:subClassOf <http://knuckles.team/kgx#Thing> ."), unlinked("A"));
    assert_eq!(with(":A a owl:Class ; rdfs:subClassOf <http://knuckles.team/kg> ."), unlinked("A"));
    // A class may reach the parent through another file of the connector.
    let upper = ":Upper a owl:Class ; rdfs:subClassOf kg:Entity .\n";
    let lower = ":Lower a owl:Class ; rdfs:subClassOf :Upper .\n";
    let (upper, lower) = (format!("{ONTOLOGY}{upper}"), format!("{ONTOLOGY}{lower}"));
    assert!(read(&[("ontology/a.ttl", lower.as_bytes()), ("ontology/b.ttl", upper.as_bytes())]).is_ok());
    let broken = with("<x> <y .");
    assert_eq!(broken.clone().unwrap_err().code(), "content_turtle");
    assert!(broken.unwrap_err().to_string().contains("line 8"));
    let shapes = read(&[("ontology/shapes/a.ttl", b"not turtle")]).unwrap_err();
    assert!(shapes.to_string().starts_with("`ontology/shapes/a.ttl` is not Turtle at line 1"), "{shapes}");
    assert_eq!(read(&[("ontology/a.ttl", b"\xff")]).unwrap_err().code(), "content_not_utf8");
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.7
#[test]
fn the_terms_of_the_vectors_are_found() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/declaration.json");
    let vectors = parse_with(&std::fs::read(path).unwrap(), JsonLimits::DEFAULT).unwrap();
    let section = vectors.get("descriptor_derivation").unwrap();
    // The peer asks for neither a declared ontology nor a link to the parent; ours does, so both are added.
    let turtle = section.get("ontology").unwrap().as_str().unwrap();
    let classes = section.get("classes").unwrap().as_object().unwrap();
    let link =
        |class: &Json| format!("<{}> rdfs:subClassOf <http://knuckles.team/kg#Entity> .\n", class.as_str().unwrap());
    let links = classes.values().map(link).collect::<Vec<_>>().concat();
    let whole =
        format!("{turtle}{links}<https://desk.example/ns> a owl:Ontology ; owl:imports <http://knuckles.team/kg> .\n");
    let content = read(&[("ontology/desk.ttl", whole.as_bytes())]).unwrap();
    let terms = content.terms().unwrap();
    let texts = |of: &BTreeMap<String, String>| -> JsonObject {
        of.iter().map(|(name, iri)| (name.clone(), Json::from(iri.as_str()))).collect()
    };
    assert_eq!(texts(&terms.classes), *classes);
    assert_eq!(texts(&terms.properties), *section.get("properties").unwrap().as_object().unwrap());
}

/// Proves: SDK-CONNECTOR-CONTROL-R073, SDK-CONNECTOR-CONTROL-R068.4, SDK-CONNECTOR-CONTROL-R019
#[tokio::test]
async fn without_content_only_the_tools_are_served() {
    let surface = desk().tool(answers(tickets())).build().unwrap();
    assert_eq!(uris(&surface).await, ["connector://resources", "connector://status"]);
    let scope = CallScope::default();
    assert!(surface.list_prompts(&scope).await.unwrap().is_empty());
    assert!(surface.list_resource_templates(&scope).await.unwrap().is_empty());
    assert!(!surface.completes());
    for uri in
        ["seed://desk-mcp/seed.ttl", "connector://capability/x", "data://desk-mcp/tickets", "contract://desk-mcp"]
    {
        assert_eq!(body(&surface, uri).await, None, "{uri}");
    }
    assert_eq!(descriptors(&surface).await.len(), 1, "the declaration tells of the data all the same");
    assert_eq!(surface.content().replace(content()), Err(ContentRefusal::NotServed));
    // Content without a seed declaration serves no seed; ontology alone brings no prompt but the built-in one.
    let ontology = read(&[("ontology/desk.ttl", ONTOLOGY.as_bytes())]).unwrap();
    let surface = desk().content(ontology).build().unwrap();
    assert_eq!(uris(&surface).await, ["connector://resources", "connector://status", "ontology://desk-mcp/desk.ttl"]);
    let prompts = surface.list_prompts(&scope).await.unwrap();
    assert_eq!(prompts.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["connector-status"]);
    assert_eq!(body(&surface, "seed://desk-mcp/seed.ttl").await, None);
}

/// Proves: SDK-CONNECTOR-CONTROL-R068.5
#[tokio::test]
async fn the_digest_in_the_metadata_is_the_one_of_the_body() {
    let content = content().seed(&seed(2)).unwrap();
    let surface = desk().tool(answers(tickets())).content(content).build().unwrap();
    let scope = CallScope::default();
    let mut seen = 0;
    for listed in surface.list_resources(&scope).await.unwrap() {
        if listed.uri == "connector://status" {
            continue;
        }
        let body = surface.read_resource(&scope, &listed.uri).await.unwrap();
        let digest = Json::from(format!("sha256:{}", sha256(&body.bytes).to_hex()));
        assert_eq!(listed.meta.get(DIGEST_META_KEY), Some(&digest), "{}", listed.uri);
        assert_eq!(body.meta.get(DIGEST_META_KEY), Some(&digest), "{}", listed.uri);
        assert_eq!(listed.size, Some(body.bytes.len() as u64));
        seen += 1;
    }
    assert_eq!(seen, 7, "declaration, data, ontology, shapes, seed, skill, manifest");
    let seed = surface.read_resource(&scope, "seed://desk-mcp/seed.ttl").await.unwrap();
    let parts = seed.meta.get("team.knuckles/seed").unwrap();
    assert_eq!(parts.get("catalog").unwrap().get("triples"), Some(&Json::from(4_u64)));
    for triple in oxttl::TurtleParser::new().for_slice(&seed.bytes) {
        triple.unwrap();
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.7
#[tokio::test]
async fn a_source_and_a_declaration_override_what_is_derived() {
    let derived = desk().tool(answers(tickets())).content(content()).build().unwrap();
    let [found] = descriptors(&derived).await.try_into().unwrap();
    assert_eq!(found["ontology_class"].as_str(), Some("https://desk.example/ns#Ticket"));
    assert_eq!((found["mapping_status"].as_str(), found["origin"].as_str()), (Some("proposed"), Some("derived")));

    let source = Source::new("tickets", "Ticket", "note")
        .page("page", None, 50)
        .mapping(Mapping::class("Ticket").field("note", "subject").field("id", "xsd:integer"));
    let surface = desk().tool(answers(tickets().source(source))).content(content()).build().unwrap();
    let [found] = descriptors(&surface).await.try_into().unwrap();
    assert_eq!((found["mapping_status"].as_str(), found["origin"].as_str()), (Some("declared"), Some("declared")));
    assert_eq!((found["key_field"].as_str(), found["pagination"].as_str()), (Some("note"), Some("page")));
    let field = |name: &str| {
        let fields = found["fields"].as_array().unwrap();
        let field = fields.iter().find(|field| field.get("name").unwrap().as_str() == Some(name)).unwrap();
        (field.get("ontology_property").unwrap().as_str(), field.get("mapping_status").unwrap().as_str().unwrap())
    };
    assert_eq!(field("note"), (Some("https://desk.example/ns#subject"), "declared"));
    assert_eq!(field("id"), (None, "unmapped"));

    let owner = parse(r#"{"name":"tickets","owner":"desk","credential_ref":"env://DESK_TOKEN"}"#).unwrap();
    let owned = content().data_resource(owner.as_object().unwrap().clone());
    let surface = desk().tool(answers(tickets())).content(owned).build().unwrap();
    let [found] = descriptors(&surface).await.try_into().unwrap();
    assert_eq!((found["owner"].as_str(), found["origin"].as_str()), (Some("desk"), Some("declared")));
    let read = body(&surface, "data://desk-mcp/tickets").await.unwrap();
    assert_eq!(parse(std::str::from_utf8(&read).unwrap()).unwrap(), Json::Object(found));
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.5
#[test]
fn a_bad_data_resource_stops_the_build_with_its_code() {
    let refused = |members: &str| {
        let content = content().data_resource(parse(members).unwrap().as_object().unwrap().clone());
        match desk().tool(answers(tickets())).content(content).build().unwrap_err() {
            ConnectorRefusal::Content { refusal: ContentRefusal::DataResource { code, .. }, .. } => code,
            other => panic!("{members}: {other}"),
        }
    };
    assert_eq!(refused(r#"{"name":"tickets","ontology_class":"https://x.example/Nope"}"#), "RESOURCE_UNMAPPED");
    assert_eq!(refused(r#"{"name":"tickets","access_kind":"ftp"}"#), "ACCESS_KIND_UNKNOWN");
    assert_eq!(refused(r#"{"name":"tickets","pagination":"scroll"}"#), "PAGINATION_UNDECLARED");
    let unpaged = r#"{"name":"notes","ontology_class":"https://desk.example/ns#Ticket","operation":"desk_list_notes","key_field":"id"}"#;
    assert_eq!(refused(unpaged), "PAGINATION_UNDECLARED");
    assert_eq!(refused(r#"{"name":"tickets","credential_ref":"hunter2"}"#), "SECRET_IN_CONTRACT");
    let source = Source::new("tickets", "Ticket", "id").mapping(Mapping::class("Unheard"));
    let refusal = desk().tool(answers(tickets().source(source))).content(content()).build().unwrap_err();
    assert!(refusal.to_string().contains("RESOURCE_UNMAPPED"), "{refusal}");
    let twice = scion_serve::TextResource::new("ontology://desk-mcp/desk.ttl", "x", "text/turtle", "");
    let refusal = desk().text_resource(twice).content(content()).build().unwrap_err();
    assert_eq!(refusal.code(), "resource_duplicate");
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.3, SDK-CONNECTOR-CONTROL-R074.4
#[tokio::test]
async fn one_declaration_feeds_the_listing_and_the_entries_of_a_pack() {
    let surface = desk().tool(answers(tickets())).content(content()).build().unwrap();
    let scope = CallScope::default();
    let catalogue = surface.content().catalogue();
    let entries = catalogue.pack_entries();
    for scheme in ["data://", "ontology://", "shapes://"] {
        let mut live = Vec::new();
        for uri in uris(&surface).await.into_iter().filter(|uri| uri.starts_with(scheme)) {
            let bytes = body(&surface, &uri).await.unwrap();
            live.push((uri, bytes));
        }
        let packed: Vec<_> = entries
            .iter()
            .filter(|entry| entry.uri.starts_with(scheme))
            .map(|entry| (entry.uri.clone(), entry.body.clone()))
            .collect();
        assert!(!live.is_empty());
        assert_eq!(live, packed, "{scheme}");
    }
    let kinds: Vec<(&str, &str)> = entries.iter().map(|entry| (entry.kind.as_str(), entry.uri.as_str())).collect();
    assert_eq!(
        kinds,
        [
            ("resource", "connector://resources"),
            ("resource", "contract://desk-mcp"),
            ("resource", "data://desk-mcp/tickets"),
            ("ontology", "ontology://desk-mcp/desk.ttl"),
            ("prompt", "prompt://desk-mcp/connector-status"),
            ("prompt", "prompt://desk-mcp/hello"),
            ("shapes", "shapes://desk-mcp/desk.ttl"),
            ("skill", "skill://sort/SKILL.md"),
            ("tool", "tool://desk-mcp/desk_list_tickets"),
        ]
    );
    // The parent import stays with the ontology as what a graph must have.
    let ontology = catalogue.get("ontology://desk-mcp/desk.ttl").unwrap();
    assert_eq!(ontology.requires, ["ontology-import:http://knuckles.team/kg"]);
    // Six counts with their digests, beside the declaration and not in it.
    let counts = catalogue.surfaces();
    assert_eq!(ContentSurface::ALL.map(|surface| counts[&surface].count), [1, 2, 1, 1, 1, 1]);
    let manifest = surface.list_resources(&scope).await.unwrap().remove(0);
    let surfaces = manifest.meta.get(SURFACES_META_KEY).unwrap();
    for (surface, count) in counts {
        let wanted =
            [("count", Json::from(count.count as u64)), ("digest", format!("sha256:{}", count.digest.to_hex()).into())];
        assert_eq!(surfaces.get(surface.as_str()), Some(&Json::from(wanted)));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R074.3
#[tokio::test]
async fn the_contract_is_turtle_that_maps_class_access_key_and_pagination() {
    let surface = desk().tool(answers(tickets())).content(content()).build().unwrap();
    let catalogue = surface.content().catalogue();
    let contract = catalogue.get("contract://desk-mcp").unwrap();
    let triples: Vec<_> =
        oxttl::TurtleParser::new().for_slice(contract.body()).map(|triple| triple.unwrap().to_string()).collect();
    let (vg, cp) = (access_contract::VIRTUAL_GRAPH_VOCABULARY, access_contract::PACK_VOCABULARY);
    let subject = "<contract://desk-mcp/data/tickets>";
    for (vocabulary, predicate, object) in [
        (vg, "mapsOntologyClass", "<https://desk.example/ns#Ticket>"),
        (vg, "mapsEntity", "\"tickets\""),
        (vg, "keyField", "\"id\""),
        (cp, "accessKind", "\"mcp_tool\""),
        (cp, "operation", "\"desk_list_tickets\""),
        (cp, "pagination", "\"page\""),
    ] {
        let wanted = format!("{subject} <{vocabulary}{predicate}> {object}");
        assert!(triples.contains(&wanted), "{wanted} is not in {triples:#?}");
    }
}

async fn heard(feed: &mut Box<dyn ChangeFeed>) -> Vec<ServerChange> {
    let mut all = Vec::new();
    while let Ok(change) = tokio::time::timeout(Duration::from_millis(20), feed.next()).await {
        all.extend(change.unwrap());
    }
    all
}

/// Proves: SDK-CONNECTOR-CONTROL-R068.3
#[tokio::test]
async fn a_replacement_is_told_once_and_only_when_something_changed() {
    let surface = desk().content(content().seed(&seed(1)).unwrap()).build().unwrap();
    let mut feed = surface.changes();
    let handle = surface.content();
    assert_eq!(handle.replace_seed(Some(&seed(1))), Ok(ContentChange::default()));
    assert_eq!(heard(&mut feed).await, []);
    let before = body(&surface, "seed://desk-mcp/seed.ttl").await.unwrap();
    assert_eq!(handle.replace_seed(Some(&seed(2))), Ok(ContentChange { resources: true, prompts: false }));
    let uri = "seed://desk-mcp/seed.ttl".to_owned();
    assert_eq!(heard(&mut feed).await, [ServerChange::Resources, ServerChange::Resource(uri)]);
    assert_ne!(body(&surface, "seed://desk-mcp/seed.ttl").await.unwrap(), before);
    assert_eq!(handle.replace_seed(None), Ok(ContentChange { resources: true, prompts: false }));
    assert_eq!(body(&surface, "seed://desk-mcp/seed.ttl").await, None);
    heard(&mut feed).await;
    // A refused replacement leaves everything as it was.
    let bad = content().data_resource(JsonObject::new());
    assert!(handle.replace(bad).is_err());
    assert_eq!(heard(&mut feed).await, []);
    let other = read(&[("prompts/bye.json", PROMPT.as_bytes())]).unwrap();
    assert_eq!(handle.replace(other), Ok(ContentChange { resources: true, prompts: true }));
    let changes = heard(&mut feed).await;
    assert_eq!(changes.iter().filter(|change| **change == ServerChange::Resources).count(), 1);
    assert_eq!(changes.iter().filter(|change| **change == ServerChange::Prompts).count(), 1);
    assert_eq!(uris(&surface).await, ["connector://resources", "connector://status"]);
}

#[tokio::test]
async fn data_resources_can_stay_out_of_the_list() {
    let surface = desk().tool(answers(tickets())).content(content().data_unlisted()).build().unwrap();
    assert!(uris(&surface).await.iter().all(|uri| !uri.starts_with("data://")));
    assert_eq!(descriptors(&surface).await.len(), 1);
    assert_eq!(surface.content().catalogue().surfaces()[&ContentSurface::Data].count, 1);
}

#[tokio::test]
async fn files_of_a_skill_and_capabilities_are_read_by_template() {
    let surface = desk().content(content()).build().unwrap();
    assert_eq!(body(&surface, "skill://sort/icon.png").await.unwrap(), b"\x89PNG\xff");
    assert_eq!(body(&surface, "skill://sort/refs/levels.md").await.unwrap(), b"# Levels\n");
    assert_eq!(
        body(&surface, "connector://capability/anything").await.unwrap(),
        br#"{"server": "desk-mcp", "capability": "anything"}"#
    );
    for uri in [
        "skill://sort/../sort/SKILL.md",
        "skill://sort/refs",
        "skill://other/SKILL.md",
        "connector://capability/",
        "connector://capability/a/b",
        "tool://desk-mcp/x",
        "prompt://desk-mcp/hello",
        "contract://desk-mcp",
        "file:///etc/passwd",
    ] {
        assert_eq!(body(&surface, uri).await, None, "{uri}");
    }
    let complete = async |target: CompletionTarget, argument: &str, value: &str| {
        let (argument, value) = (argument.to_owned(), value.to_owned());
        let request = CompletionRequest { target, argument, value, known: BTreeMap::new() };
        surface.complete(&CallScope::default(), request).await.map(|found| found.values)
    };
    let prompt = || CompletionTarget::Prompt("hello".into());
    assert_eq!(complete(prompt(), "who", "A").await.unwrap(), ["Ada", "Alan"]);
    assert!(complete(prompt(), "other", "").await.unwrap().is_empty());
    let template = CompletionTarget::Template("skill://sort/{path*}".into());
    assert_eq!(complete(template, "path", "refs/").await.unwrap(), ["refs/levels.md"]);
    let unknown = complete(CompletionTarget::Prompt("nope".into()), "x", "").await.unwrap_err();
    assert_eq!(unknown.code(), "surface_unknown_prompt");
}

/// An ontology may have long chains, rings and many classes below one: the check takes time that grows with its size only.
#[test]
fn chains_and_rings_of_classes_cost_no_more_than_their_size() {
    let head = "@prefix : <https://e/#> .\n@prefix k: <http://knuckles.team/kg#> .\n@prefix o: <http://www.w3.org/2002/07/owl#> .\n@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .\n<https://e/> a o:Ontology ; o:imports <http://knuckles.team/kg> .\n";
    let chain = |last: &str| {
        let links: Vec<String> =
            (0..60_000).map(|at| format!(":c{at} a o:Class;r:subClassOf :c{} .\n", at + 1)).collect();
        let links = links.concat();
        format!("{head}{links}:c60000 a o:Class;r:subClassOf {last} .\n")
    };
    let start = std::time::Instant::now();
    assert!(read(&[("ontology/long.ttl", chain("k:Entity").as_bytes())]).is_ok());
    // The last leads to the first: a ring that leads nowhere.
    let refusal = read(&[("ontology/ring.ttl", chain(":c0").as_bytes())]).unwrap_err();
    assert_eq!(refusal.code(), "content_class_unlinked");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let triples: Vec<String> = (0..200_001).map(|at| format!(":a :b {at}.\n")).collect();
    let triples = triples.concat();
    let refusal = read(&[("ontology/rows.ttl", format!("{head}{triples}").as_bytes())]).unwrap_err();
    assert_eq!(refusal.code(), "content_too_many");
}

#[tokio::test]
async fn a_small_call_makes_no_huge_prompt() {
    let many = "{{text}} ".repeat(20_000);
    let file = format!(r#"{{"arguments":[{{"name":"text"}}],"instructions":{{"core_directive":"{many}"}}}}"#);
    let surface = desk().content(read(&[("prompts/echo.json", file.as_bytes())]).unwrap()).build().unwrap();
    let given = |text: String| std::collections::BTreeMap::from([("text".to_owned(), text)]);
    let scope = CallScope::default();
    let large = surface.get_prompt(&scope, "echo", given("x".repeat(65_536))).await.unwrap_err();
    assert!(large.to_string().contains("more than 52 characters"), "{large}");
    // What is filled in is text: no placeholder of it is looked at.
    assert!(surface.get_prompt(&scope, "echo", given("{{text}}".to_owned())).await.is_ok());
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_out_of_a_skill() {
    let surface = desk().content(content()).build().unwrap();
    for path in [
        "../hello.json",
        "refs/../SKILL.md",
        "refs%2Flevels.md",
        "%2e%2e/x",
        "refs//levels.md",
        "/SKILL.md",
        "SKILL.md/",
        "refs\\levels.md",
        "SKILL.md\0",
        "SKILL.md?x",
        "SKILL.md#x",
        "skill.md",
        "./SKILL.md",
        "",
    ] {
        let uri = format!("skill://sort/{path}");
        assert!(surface.read_resource(&CallScope::default(), &uri).await.is_err(), "{uri:?}");
    }
    for uri in [
        "SKILL://sort/SKILL.md",
        "skill://SORT/SKILL.md",
        "skill://x@sort/SKILL.md",
        "connector://capability/../x",
        "connector://capability/%2e",
    ] {
        assert!(surface.read_resource(&CallScope::default(), uri).await.is_err(), "{uri:?}");
    }
    assert!(surface.read_resource(&CallScope::default(), "skill://sort/SKILL.md").await.is_ok());
}

/// Whoever reads while content is replaced gets one state: the digest that comes with the bytes is theirs.
#[test]
fn bytes_and_digests_stay_together_while_content_is_replaced() {
    let surface = std::sync::Arc::new(desk().content(content()).build().unwrap());
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (surface, stop) = (surface.clone(), stop.clone());
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let mut reads = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) || reads == 0 {
                    runtime.block_on(async {
                        let scope = CallScope::default();
                        for listed in surface.list_resources(&scope).await.unwrap() {
                            let Ok(read) = surface.read_resource(&scope, &listed.uri).await else { continue };
                            // What the server makes itself has no bytes of an author, and no digest.
                            let Some(digest) = read.meta.get(DIGEST_META_KEY).and_then(Json::as_str) else { continue };
                            assert_eq!(digest, format!("sha256:{}", sha256(&read.bytes).to_hex()), "{}", listed.uri);
                        }
                    });
                    reads += 1;
                }
            })
        })
        .collect();
    for objects in 0..200 {
        surface.content().replace_seed(Some(&seed(objects % 7))).unwrap();
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for reader in readers {
        reader.join().unwrap();
    }
}
