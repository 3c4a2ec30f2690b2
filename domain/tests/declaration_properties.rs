//! Properties of the declaration's reader and writer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use scion_domain::declaration::{
    ConnectorDeclaration, EdgeSpec, ForEach, PaginationMode, RelationSpec, ResourceSpec, SchemaMapping, SourceSpec,
};
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{Json, JsonObject};
use scion_domain::refusal::Refusal as _;
use support::json;

fn stream(text: &str) -> StreamName {
    StreamName::parse(text).unwrap()
}

fn text() -> impl Strategy<Value = String> {
    "[ -~é\u{1f600}\n]{0,8}"
}

fn word() -> impl Strategy<Value = String> {
    "[a-zA-Z\u{e9}._ -]{1,8}"
}

fn object() -> impl Strategy<Value = JsonObject> {
    let value = prop_oneof![
        Just(Json::Null),
        any::<i64>().prop_map(Json::from),
        text().prop_map(Json::from),
        proptest::collection::vec(text().prop_map(Json::from), 0..3).prop_map(Json::from),
    ];
    proptest::collection::btree_map(text(), value, 0..3)
}

fn edge() -> impl Strategy<Value = EdgeSpec> {
    (
        "[A-Za-z][A-Za-z0-9_]{0,9}",
        word(),
        word(),
        proptest::option::of(word()),
        proptest::option::of(text()),
        proptest::collection::btree_map(word(), text(), 0..3),
        proptest::option::of("[a-z0-9][a-z0-9._-]{0,5}"),
    )
        .prop_map(|(relationship, target_field, target_type, key, template, target_fields, target)| EdgeSpec {
            relationship,
            target_field,
            target_type,
            target_id_key: key,
            target_id_template: template.map_or_else(|| "{type}:{id}".to_owned(), |text| format!("{text}{{id}}")),
            target_fields,
            target_stream: target.map(|name| stream(&name)),
        })
}

/// A source at `index`; a fan-out leads to an earlier one, so that it ends.
fn source(index: usize) -> impl Strategy<Value = SourceSpec> {
    let names = (word(), proptest::collection::btree_set("[a-z_]{1,8}", 1..4), word(), text());
    let fields = (
        proptest::option::of(text()),
        proptest::option::of(text()),
        proptest::option::of(word()),
        any::<bool>(),
        object(),
    );
    let paging = (any::<bool>(), word(), proptest::option::of(word()), 1..=1000u32, 0..1_000_000u64);
    let rest = (
        text(),
        text(),
        proptest::option::of(object()),
        proptest::option::of((0..index.max(1), word(), prop_oneof![Just("id".to_owned()), word()])),
        proptest::collection::vec(edge(), 0..3),
    );
    let set = proptest::collection::vec(any::<bool>(), 20);
    (names, fields, paging, rest, set).prop_map(move |(names, fields, paging, rest, set)| {
        let (record_type, tools, id_field, records_path) = names;
        let (title_field, text_field, cursor_field, incremental, arguments) = fields;
        let (by_page, page_param, page_size_param, page_size, start_page) = paging;
        let (description, server, preset, for_each, edges) = rest;
        let for_each = for_each.filter(|_| index > 0).map(|(parent, argument, field)| ForEach {
            source: stream(&format!("s{parent}")),
            argument,
            field,
        });
        let full = SourceSpec {
            source_id: stream(&format!("s{index}")),
            record_type,
            tools: tools.into_iter().collect(),
            id_field,
            records_path,
            title_field,
            text_field,
            incremental: incremental && cursor_field.is_some(),
            cursor_field,
            arguments,
            pagination: if by_page { PaginationMode::Page } else { PaginationMode::None },
            page_param: Some(page_param),
            page_size_param,
            page_size,
            start_page,
            description,
            server,
            preset,
            for_each,
            edges,
            set_members: Vec::new(),
        };
        only_set(full, &set)
    })
}

/// Puts the members that are not set back to their defaults, as a reader finds them.
fn only_set(mut source: SourceSpec, set: &[bool]) -> SourceSpec {
    let mut wanted = set.iter().copied();
    let mut names = vec!["id_field", "record_type", "source_id", "tools"];
    let mut decide = |name: &'static str, forced: bool| {
        let set = forced || wanted.next().unwrap();
        if set {
            names.push(name);
        }
        set
    };
    if !decide("records_path", false) {
        source.records_path = String::new();
    }
    if !decide("title_field", false) {
        source.title_field = None;
    }
    if !decide("text_field", false) {
        source.text_field = None;
    }
    if !decide("incremental", false) {
        source.incremental = false;
    }
    if !decide("cursor_field", source.incremental) {
        source.cursor_field = None;
    }
    if !decide("arguments", false) {
        source.arguments = JsonObject::new();
    }
    if !decide("pagination", false) {
        source.pagination = PaginationMode::None;
    }
    if !decide("page_param", source.pagination == PaginationMode::Page) {
        source.page_param = None;
    }
    if !decide("page_size_param", false) {
        source.page_size_param = None;
    }
    if !decide("page_size", false) {
        source.page_size = 100;
    }
    if !decide("start_page", false) {
        source.start_page = 1;
    }
    if !decide("description", false) {
        source.description = String::new();
    }
    if !decide("server", false) {
        source.server = String::new();
    }
    if !decide("preset", false) {
        source.preset = None;
    }
    if !decide("for_each", false) {
        source.for_each = None;
    }
    if !decide("edges", false) {
        source.edges = Vec::new();
    }
    names.sort_unstable();
    source.set_members = names.into_iter().map(str::to_owned).collect();
    source
}

fn declaration() -> impl Strategy<Value = ConnectorDeclaration> {
    let mapping = (proptest::option::of(text()), proptest::collection::btree_map(text(), text(), 0..3))
        .prop_map(|(ontology_class, fields)| SchemaMapping { ontology_class, fields });
    let relation = (text(), text(), text(), text()).prop_map(|(name, target, label, lpg_rel_type)| RelationSpec {
        name,
        target,
        label,
        lpg_rel_type,
    });
    let resource = (text(), text(), text(), proptest::collection::vec(relation, 0..3))
        .prop_map(|(name, label, id_prefix, relations)| ResourceSpec { name, label, id_prefix, relations });
    (
        "[a-z0-9][a-z0-9._-]{0,10}",
        (0..4usize).prop_flat_map(|count| (0..count).map(source).collect::<Vec<_>>()),
        proptest::collection::btree_map(text(), mapping, 0..3),
        proptest::collection::vec(resource, 0..3),
        proptest::collection::vec(object(), 0..3),
    )
        .prop_map(|(connector, sources, schema_mappings, resources, descriptors)| ConnectorDeclaration {
            connector: ConnectorName::parse(&connector).unwrap(),
            sources,
            schema_mappings,
            resources,
            descriptors,
        })
}

proptest! {
    /// Proves: SDK-SOURCE-INGEST-R004.19, SDK-SOURCE-INGEST-R004.36
    #[test]
    fn what_is_written_reads_back(declaration in declaration()) {
        let text = declaration.to_text();
        let read = ConnectorDeclaration::from_text(text.as_bytes());
        prop_assert_eq!(read.as_ref(), Ok(&declaration), "{}", text);
        prop_assert_eq!(declaration.to_text(), text);
        prop_assert!(ConnectorDeclaration::from_text(&declaration.pack_entry().body).is_ok());
    }

    /// A preset is read or refused, and one without a preset object is read from what the source alone says.
    #[test]
    fn presets_of_valid_declarations_are_answered(declaration in declaration()) {
        let _ = declaration.presets();
        for source in &declaration.sources {
            let bare = SourceSpec { preset: None, ..source.clone() };
            let preset = scion_domain::declaration::SyncPreset::from_source(&bare, &declaration.connector);
            prop_assert!(preset.is_ok(), "{:?}", preset);
        }
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,60}") {
        let _ = ConnectorDeclaration::from_text(text.as_bytes());
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.19
#[test]
fn a_refusal_names_the_place_and_the_closest_member() {
    let source = |extra: &str| {
        format!(
            r#"{{"connector":"c","sources":[{{"source_id":"a","record_type":"T","tools":["t"],"id_field":"id"{extra}}}]}}"#
        )
    };
    for (text, place, hint) in [
        (source(r#","page_sise":5"#), "sources[0].page_sise", "`page_size`"),
        (source(r#","edges":[{"relationshp":"x"}]"#), "sources[0].edges[0].relationshp", "`relationship`"),
        (source(r#","pagination":"pages""#), "sources[0].pagination", "`page`"),
        (source(r#","page_size":"5""#), "sources[0].page_size must be a whole number, not text", ""),
        (source(r#","page_size":5.0"#), "sources[0].page_size", ""),
        (source(r#","for_each":{"source":"b","argument":"x"}"#), "`b`", ""),
        (r#"{"connector":"c","schema_mapping":{}}"#.to_owned(), "schema_mapping", "`schema_mappings`"),
        (r#"{"sources":[]}"#.to_owned(), "connector is missing", ""),
        ("[]".to_owned(), "the declaration must be an object, not list", ""),
    ] {
        let refusal = ConnectorDeclaration::from_text(text.as_bytes()).unwrap_err();
        let shown = refusal.to_string();
        assert!(shown.contains(place) && shown.contains(hint), "{text}: {shown}");
        assert!(refusal.code().starts_with("declaration_"));
    }
}

#[test]
fn hostile_documents_are_refused_in_one_line() {
    let deep = format!(r#"{{"connector":"c","descriptors":[{{"a":{}1{}}}]}}"#, "[".repeat(1000), "]".repeat(1000));
    let long = format!(r#"{{"connector":"c","{}":1}}"#, "\\n".repeat(5000));
    let dots = format!(
        r#"{{"connector":"c","sources":[{{"source_id":"a","record_type":"T","tools":["t"],"id_field":"id","preset":{{"params":{{"{}":1}}}}}}]}}"#,
        "a.".repeat(100_000)
    );
    for text in [deep.as_str(), long.as_str(), r#"{"connector":"c","connector":"d"}"#, "\u{feff}{}", ""] {
        let shown = ConnectorDeclaration::from_text(text.as_bytes()).unwrap_err().to_string();
        assert!(shown.len() < 200 && !shown.contains('\n'), "{shown}");
    }
    let read = ConnectorDeclaration::from_text(dots.as_bytes()).unwrap();
    assert_eq!(read.presets().unwrap_err().code(), "declaration_bad_value");
}

/// Proves: SDK-SOURCE-INGEST-R004.36, SDK-SOURCE-INGEST-R004.28
#[test]
fn a_preset_leads_to_its_edges_and_its_parent() {
    let declaration = ConnectorDeclaration::from_json(&json(
        r#"{"connector":"c","sources":[
            {"source_id":"parents","record_type":"P","tools":["p"],"id_field":"id"},
            {"source_id":"a","record_type":"T","tools":["t"],"id_field":"id","preset":{},
             "for_each":{"source":"parents","argument":"p"},
             "edges":[{"relationship":"of","target_field":"p","target_type":"P","target_stream":"parents"}]}]}"#,
    ))
    .unwrap();
    let presets = declaration.presets().unwrap();
    assert_eq!(presets.len(), 1);
    assert_eq!(declaration.source_of_preset(&presets[0]).unwrap().edges[0].relationship, "of");
    let parent = declaration.parent_preset(&presets[0]).unwrap().unwrap();
    assert_eq!((parent.name.as_str(), parent.tool.as_str()), ("parents", "p"));
    assert_eq!(declaration.parent_preset(&parent), Ok(None));
    assert_eq!(presets[0].max_fan_out, scion_domain::declaration::MAX_FAN_OUT);
    let _: BTreeMap<String, SchemaMapping> = declaration.schema_mappings;
}
