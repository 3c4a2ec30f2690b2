use std::collections::{BTreeMap, BTreeSet};

use oxrdf::{NamedOrBlankNode, Term};

use super::*;
use crate::access_contract::{PACK_VOCABULARY, VIRTUAL_GRAPH_VOCABULARY, read_contracts};
use crate::declaration::descriptor::OntologyTerms;
use crate::json::{Json, parse, to_compact};
use crate::refusal::Refusal as _;
use crate::semantic_coverage::DeclaredSemanticCoverage;

const TEXT: &str = r#"{
  "connector": "desk-mcp", "contract_version": "3", "features": ["ingest"],
  "sources": [
    {"id": "tickets", "record_type": "Ticket", "class": "https://desk.example/ns#Ticket", "key": "id",
     "fields": [{"field": "subject", "property": "https://desk.example/ns#subject"}],
     "cursor_field": "updated", "incremental": true, "access_policy": "source", "privacy": ["personal"],
     "provenance": ["sourceRecordRef", "tenantReference"],
     "relations": [{"relationship": "assignedTo", "field": "agent.id", "target": "agents"}]},
    {"id": "agents", "record_type": "Agent", "class": "https://desk.example/ns#Agent", "key": "id"}
  ],
  "contracts": [
    {"contract_iri": "contract://desk-mcp/data/tickets", "class_iri": "https://desk.example/ns#Ticket",
     "source_id": "desk-mcp", "entity": "tickets", "key_field": "id", "access_kind": "mcp_tool",
     "operation": "desk_list_tickets", "pushdown": ["filter"], "auth_ref": "env://DESK_TOKEN",
     "predicates": [{"property": "https://desk.example/ns#subject", "field": "subject"}]}
  ],
  "tools": [
    {"name": "desk_list_tickets", "classes": ["https://desk.example/ns#Ticket"], "read_only": true,
     "side_effects": ["none"], "schema_tokens": 40, "declared_by": "mcp_hint", "readable_template": "fitted-terms",
     "readable_chars": 4000},
    {"name": "desk_close"}
  ],
  "prompts": [{"name": "triage", "classes": []}],
  "skills": [{"name": "sort"}]
}"#;

fn declaration() -> ConnectorPackDeclaration {
    ConnectorPackDeclaration::from_text(TEXT.as_bytes(), None).unwrap()
}

/// The document with one value replaced, by a path such as `sources.0.key`.
fn with(path: &str, value: &str) -> Result<ConnectorPackDeclaration, PackDeclarationRefusal> {
    fn put(at: &mut Json, path: &[&str], value: Json) {
        let Some((step, rest)) = path.split_first() else {
            *at = value;
            return;
        };
        match at {
            Json::Object(members) => put(members.entry((*step).to_owned()).or_insert(Json::Null), rest, value),
            Json::Array(items) => {
                let index: usize = step.parse().unwrap();
                if index == items.len() {
                    items.push(Json::Null);
                }
                put(&mut items[index], rest, value);
            }
            _ => unreachable!("the path leads into a value"),
        }
    }
    let mut document = parse(TEXT).unwrap();
    put(&mut document, &path.split('.').collect::<Vec<_>>(), parse(value).unwrap());
    ConnectorPackDeclaration::from_json(&document, None)
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.1
#[test]
fn a_declaration_reads_back_and_takes_no_nested_property() {
    let one = declaration();
    let text = to_compact(&one.to_json());
    assert_eq!(ConnectorPackDeclaration::from_text(text.as_bytes(), None), Ok(one.clone()));
    let tickets = &one.sources["tickets"];
    assert_eq!((tickets.key.as_str(), tickets.access_policy), ("id", AccessPolicy::Source));
    assert_eq!(tickets.privacy, BTreeSet::from([PrivacyClass::Personal]));
    // Who is silent about provenance asks for all of it, and about privacy has said nothing.
    let agents = &one.sources["agents"];
    assert_eq!((agents.provenance.len(), agents.privacy.len()), (4, 0));
    for (path, field) in [
        ("sources.0.sourceProperties", "sources[0].sourceProperties"),
        ("sources.0.fields", "sources[0].fields"),
        ("sources.0.fields.0.property", "sources[0].fields[0].property"),
        ("sources.0.class", "sources[0].class"),
        ("features.0", "features[0]"),
        ("extra", "extra"),
    ] {
        let refusal = with(path, r#"{"a":{"b":"hunter2"}}"#).unwrap_err();
        assert_eq!(refusal, PackDeclarationRefusal::Nested { field: field.to_owned() });
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.6
#[test]
fn each_refusal_names_the_field_and_shows_no_value() {
    for (path, value, code, field) in [
        ("sources.0.class", "\"Ticket\"", "pack_class_unresolved", "sources[tickets].class"),
        ("sources.0.class", "null", "pack_class_unresolved", "sources[0].class"),
        ("skills.0.classes", "[\"hunter2\"]", "pack_class_unresolved", "skills[sort].classes[0]"),
        ("contracts.0.class_iri", "\"Ticket\"", "pack_access_contract", "contracts[contract://desk-mcp/data/tickets]"),
        ("contracts.0.auth_ref", "\"hunter2\"", "pack_access_contract", "contracts[contract://desk-mcp/data/tickets]"),
        (
            "contracts.0.contract_iri",
            "\"contract://desk-mcp/data/a/b\"",
            "pack_declaration_member",
            "contracts[contract://desk-mcp/data/a/b].contract_iri",
        ),
        ("contracts.0.access_kind", "\"hunter2\"", "pack_declaration_member", "contracts[0].access_kind"),
        ("sources.0.key", "null", "pack_key_rule_missing", "sources[0].key"),
        ("sources.0.key", "\" \"", "pack_key_rule_missing", "sources[tickets].key"),
        ("sources.1.id", "\"tickets\"", "pack_duplicate_mapping", "sources[1].id"),
        (
            "sources.0.fields.1",
            r#"{"field":"subject","property":"https://desk.example/ns#title"}"#,
            "pack_duplicate_mapping",
            "sources[0].fields[1].field",
        ),
        ("tools.1.name", "\"desk_list_tickets\"", "pack_duplicate_mapping", "tools[1].name"),
        ("sources.0.relations.0.target", "\"rooms\"", "pack_relation_target", "sources[tickets].relations[0].target"),
        (
            "sources.0.fields.0.property",
            "\"subject\"",
            "pack_declaration_member",
            "sources[tickets].fields[subject].property",
        ),
        ("sources.0.cursor_field", "null", "pack_declaration_member", "sources[tickets].cursor_field"),
        ("sources.0.privacy", "[\"hunter2\"]", "pack_declaration_member", "sources[0].privacy[0]"),
        ("tools.0.side_effects", "[\"external_write\"]", "pack_declaration_member", "tools[0].side_effects"),
        ("colour", "\"hunter2\"", "pack_declaration_member", "colour"),
        ("connector", "\"Not A Name\"", "pack_declaration_member", "connector"),
        (
            "tools.1.name",
            "\"Bearer eyJhbGciOiJIUzI1NiJ9.eyJodW50ZXIyIjoiMSJ9.hunter2hunter2\"",
            "pack_declaration_secret",
            "tools[0].name",
        ),
    ] {
        let refusal = with(path, value).unwrap_err();
        let shown = refusal.to_string();
        assert_eq!(refusal.code(), code, "{path}: {shown}");
        assert!(shown.contains(&format!("`{field}`")) && !shown.contains("hunter2"), "{path}: {shown}");
    }
    let terms = OntologyTerms::from_iris(["https://desk.example/ns#Ticket"], []);
    let refusal = ConnectorPackDeclaration::from_text(TEXT.as_bytes(), Some(&terms)).unwrap_err();
    assert_eq!(refusal, PackDeclarationRefusal::Class { field: "sources[agents].class".to_owned() });
    let broken = ConnectorPackDeclaration::from_text(b"{", None).unwrap_err();
    assert_eq!(broken.code(), "pack_declaration_json");
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.2
#[test]
fn the_turtle_is_sorted_absolute_and_in_the_terms_of_packs() {
    let one = declaration();
    let text = one.to_turtle().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.is_sorted() && lines.len() > 40 && !text.contains("_:") && !text.contains("@prefix"));
    let described: BTreeSet<String> = oxttl::TurtleParser::new()
        .for_slice(PACK_VOCABULARY_TURTLE)
        .filter_map(|triple| match triple.unwrap().subject {
            NamedOrBlankNode::NamedNode(node) => Some(node.into_string()),
            NamedOrBlankNode::BlankNode(_) => None,
        })
        .collect();
    let vg = [
        "VirtualMapping",
        "SourceConnection",
        "MetadataContract",
        "PredicateFieldPair",
        "EndpointRef",
        "mapsContract",
        "mapsEntity",
        "keyField",
        "hasPredicateFieldPair",
        "field",
        "predicate",
        "mapsOntologyClass",
        "endpointRef",
        "sourceKind",
        "url",
        "schemaVersion",
        "declaredCapability",
        "contractSource",
        "contentDigest",
    ];
    let known = |iri: &str| match iri.strip_prefix(VIRTUAL_GRAPH_VOCABULARY) {
        Some(name) => vg.contains(&name),
        None => described.contains(iri),
    };
    for triple in oxttl::TurtleParser::new().for_slice(&text) {
        let triple = triple.unwrap();
        assert!(triple.subject.is_named_node() && !triple.object.is_blank_node());
        let predicate = triple.predicate.as_str();
        match triple.object {
            Term::NamedNode(class) if predicate == oxrdf::vocab::rdf::TYPE.as_str() => {
                assert!(known(class.as_str()), "{class}");
            }
            _ => assert!(known(predicate), "{predicate}"),
        }
    }
    let read = read_contracts(&text).unwrap();
    assert_eq!(read, one.contracts.values().cloned().collect::<Vec<_>>());
    for line in [
        format!(
            "<contract://desk-mcp> <{VIRTUAL_GRAPH_VOCABULARY}contentDigest> \"sha256:{}\" .",
            one.digest().to_hex()
        ),
        format!(
            "<contract://desk-mcp/sources/tickets/relations/assignedTo/agent.id/agents> <{PACK_VOCABULARY}target> <contract://desk-mcp/sources/agents> ."
        ),
        format!("<contract://desk-mcp/tools/desk_list_tickets> <{PACK_VOCABULARY}sideEffect> \"none\" ."),
        format!("<contract://desk-mcp/tools/desk_list_tickets> <{PACK_VOCABULARY}schemaTokens> 40 ."),
    ] {
        assert!(lines.contains(&line.as_str()), "{line}");
    }
    // The order of a document does not matter; any change of meaning does.
    let mut members = parse(TEXT).unwrap().as_object().unwrap().clone();
    let mut reversed = members["sources"].as_array().unwrap().to_vec();
    reversed.reverse();
    members.insert("sources".to_owned(), reversed.into());
    let other = ConnectorPackDeclaration::from_json(&Json::Object(members), None).unwrap();
    assert_eq!(other.to_turtle().unwrap(), text);
    for (path, value) in [
        ("contract_version", "\"4\""),
        ("sources.1.access_policy", "\"source\""),
        ("tools.1.classes", r#"["https://desk.example/ns#Ticket"]"#),
        ("contracts.0.cost_hint", "\"low\""),
        ("prompts.0.name", "\"sort\""),
    ] {
        let changed = with(path, value).unwrap();
        assert_ne!(changed.digest(), one.digest(), "{path}");
        assert_ne!(changed.to_turtle().unwrap(), text, "{path}");
    }
}

#[test]
fn the_shapes_target_every_class_a_contract_has() {
    let shapes = DeclaredSemanticCoverage::parse(PACK_SHAPES_TURTLE).unwrap();
    for class in ["ConnectorPack", "SourceObject", "Relation", "Tool"] {
        assert!(shapes.target_classes().contains(&format!("{PACK_VOCABULARY}{class}")), "{class}");
    }
    for triple in oxttl::TurtleParser::new().for_slice(PACK_SHAPES_TURTLE) {
        triple.unwrap();
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.3
#[test]
fn views_are_rendered_and_a_hand_edit_is_found() {
    let one = declaration();
    let views = one.views();
    let text = &views[MAPPING_VIEW];
    assert!(text.contains("        property: \"https://desk.example/ns#subject\"\n"), "{text}");
    let on_disk = |text: &str| BTreeMap::from([(MAPPING_VIEW.to_owned(), text.as_bytes().to_vec())]);
    assert_eq!(views_fresh(&on_disk(text), &one), Ok(()));
    assert_eq!(views_fresh(&BTreeMap::new(), &one), Err(ViewRefusal::Missing { view: MAPPING_VIEW }));
    let edited = text.replace("\"source\"", "\"connector\"");
    let line = text.lines().position(|line| line.contains("access_policy: \"source\"")).unwrap() as u64 + 1;
    assert_eq!(views_fresh(&on_disk(&edited), &one), Err(ViewRefusal::Stale { view: MAPPING_VIEW, line }));
    for other in [text.trim_end().to_owned(), format!("{text}# a note\n"), String::new()] {
        assert_eq!(views_fresh(&on_disk(&other), &one).unwrap_err().code(), "view_stale");
    }
    // Another declaration, whose mappings are the same, has another digest and so another view.
    let other = with("tools.1.classes", r#"["https://desk.example/ns#Ticket"]"#).unwrap();
    assert_eq!(views_fresh(&on_disk(text), &other), Err(ViewRefusal::Stale { view: MAPPING_VIEW, line: 4 }));
    // What YAML could take for something else stays a text.
    let odd = with("sources.1.key", r#""no: # 'x' \"y\"\n- z""#).unwrap();
    assert!(odd.views()[MAPPING_VIEW].contains(r#"key: "no: # 'x' \"y\"\n- z""#));
}

/// Proves: SDK-CONNECTOR-CONTROL-R067.1
#[test]
fn a_live_connector_is_declared_as_far_as_its_classes_are_known() {
    let text = br#"{"connector":"desk-mcp","sources":[
        {"source_id":"tickets","record_type":"Ticket","tools":["desk_list_tickets"],"id_field":"id",
         "edges":[{"relationship":"assignedTo","target_field":"agent.id","target_type":"Agent"},
                  {"relationship":"inRoom","target_field":"room","target_type":"Room"}]},
        {"source_id":"agents","record_type":"Agent","tools":["desk_list_agents"],"id_field":"id"},
        {"source_id":"rooms","record_type":"Room","tools":["desk_list_rooms"],"id_field":"id"}],
        "schema_mappings":{"Ticket":{"ontology_class":"https://desk.example/ns#Ticket",
            "fields":{"subject":"https://desk.example/ns#subject","opened":"xsd:dateTime","state":"state"}},
            "Agent":{"ontology_class":"Agent"}}}"#;
    let live = crate::declaration::ConnectorDeclaration::from_text(text).unwrap();
    let terms = OntologyTerms::from_iris(["https://desk.example/ns#Agent"], ["https://desk.example/ns#state"]);
    let tools = BTreeMap::from([("desk_list_tickets".to_owned(), PackTool::default())]);
    let names = BTreeSet::from(["sort".to_owned()]);
    let made = |terms| {
        let (prompts, skills) = (&names, &names);
        ConnectorPackDeclaration::of_live(LiveConnector {
            declaration: &live,
            descriptors: &[],
            tools: &tools,
            prompts,
            skills,
            terms,
        })
    };
    let known = made(Some(&terms));
    assert_eq!(known.left_out, [PackDeclarationRefusal::Class { field: "sources[2].class".to_owned() }]);
    let tickets = &known.declaration.sources["tickets"];
    assert_eq!(tickets.fields.keys().collect::<Vec<_>>(), ["state", "subject"]);
    assert_eq!(tickets.relations.len(), 1, "a relation to what is not declared is left out with it");
    assert_eq!(known.declaration.tools["desk_list_tickets"].classes, BTreeSet::from([tickets.class.clone()]));
    assert_eq!(known.declaration.check(None), Ok(()));
    let again = ConnectorPackDeclaration::from_json(&known.declaration.to_json(), None);
    assert_eq!(again, Ok(known.declaration));
    assert_eq!(made(None).left_out.len(), 2);
}
