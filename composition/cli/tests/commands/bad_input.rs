//! Bad input as one table: what a server may hand out, the code it is refused with, and that nothing accepted changes.

use serde_json::{Value, json};

use crate::support::{Place, desk};

/// Tickets under a strict schema with one typed field, and a log that pages by cursor.
fn scenario() -> Value {
    let mut scenario = desk(12);
    for ticket in scenario["tools"]["list_tickets"]["records"].as_array_mut().unwrap() {
        ticket["rank"] = 1.into();
    }
    let fields = &mut scenario["declaration"]["schema_mappings"]["Ticket"]["fields"];
    (fields["rank"], fields["person"]) = ("xsd:integer".into(), "person".into());
    scenario["declaration"]["schema_mappings"]["Entry"] =
        json!({ "ontology_class": "Entry", "fields": { "text": "text" } });
    let tickets = &mut scenario["declaration"]["sources"][0]["preset"];
    tickets["strict_schema"] = true.into();
    tickets["metadata_fields"] = json!(["id", "title", "state", "updated", "person", "rank"]);
    scenario["declaration"]["sources"].as_array_mut().unwrap().push(json!({
        "source_id": "log", "record_type": "Entry", "tools": ["read_log"], "id_field": "id", "records_path": "items",
        "preset": { "params_style": "args", "pagination": "cursor", "cursor_param": "cursor", "cursor_path": "next" },
    }));
    log_pages(&mut scenario, &[("1", json!("b")), ("b", json!("c")), ("c", Value::Null)]);
    scenario
}

/// The pages of the log: cursor and next cursor; each page has one entry, the same whenever it is read.
fn log_pages(scenario: &mut Value, pages: &[(&str, Value)]) {
    let page =
        |cursor: &str, next: &Value| json!({ "items": [{ "id": cursor, "text": "x" }], "next": next }).to_string();
    let texts = pages.iter().map(|(cursor, next)| ((*cursor).to_owned(), page(cursor, next).into()));
    scenario["tools"]["read_log"] = json!({ "records": [], "texts": texts.collect::<serde_json::Map<_, _>>() });
}

type Change = Box<dyn Fn(&mut Value)>;

/// The second ticket is something else, on a page that has a changed one too.
fn second(ticket: Value) -> Change {
    Box::new(move |scenario| {
        let records = &mut scenario["tools"]["list_tickets"]["records"];
        records[0]["title"] = "changed beside it".into();
        records[1] = ticket.clone();
    })
}

/// The first page of tickets is this text.
fn page(text: impl Into<String>) -> Change {
    let text = text.into();
    Box::new(move |scenario| scenario["tools"]["list_tickets"]["texts"] = json!({ "1": text }))
}

fn log(pages: &'static [(&'static str, &'static str)]) -> Change {
    Box::new(move |scenario| {
        let pages: Vec<_> = pages.iter().map(|(cursor, next)| (*cursor, serde_json::from_str(next).unwrap())).collect();
        log_pages(scenario, &pages);
    })
}

fn table() -> Vec<(&'static str, &'static str, Change)> {
    let ticket = |field: &str, value: Value| {
        let mut ticket = json!({ "id": "t0002", "title": "x", "rank": 1 });
        ticket[field] = value;
        ticket
    };
    vec![
        ("an unknown field", "source_field_undeclared", second(ticket("surprise", 1.into()))),
        ("a text for an integer", "SOURCE_SCHEMA_TYPE_MISMATCH", second(ticket("rank", "high".into()))),
        ("a fraction for an integer", "SOURCE_SCHEMA_TYPE_MISMATCH", second(ticket("rank", 1.5.into()))),
        ("a list for an integer", "SOURCE_SCHEMA_TYPE_MISMATCH", second(ticket("rank", json!([1])))),
        ("an object for a text", "undeclared_nested_value", second(ticket("title", json!({ "a": 1 })))),
        ("the same id twice", "source_duplicate_id", second(ticket("id", "t0001".into()))),
        ("no id", "source_record_without_id", second(json!({ "title": "x" }))),
        ("a null id", "source_record_without_id", second(ticket("id", Value::Null))),
        ("an id that is a list", "source_record_without_id", second(ticket("id", json!(["a"])))),
        ("an empty id", "source_record_without_id", second(ticket("id", "".into()))),
        ("an id with a NUL", "source_record_bad_id", second(ticket("id", "a\0b".into()))),
        ("an id of 10 kB", "source_record_bad_id", second(ticket("id", "x".repeat(10_000).into()))),
        ("a record that is a number", "source_record_not_object", second(7.into())),
        ("a record that is null", "source_record_not_object", second(Value::Null)),
        ("a record that is a list", "source_record_not_object", second(json!([["id", "a"]]))),
        ("no records at all", "source_records_missing", page("\"text\"")),
        ("a page that is no JSON", "source_records_missing", page("[{\"id\": }]")),
        ("half a page", "source_records_missing", page("[{\"id\":\"a\"},")),
        ("a number without an end", "source_records_missing", page("[{\"id\":\"a\",\"rank\":1.}]")),
        (
            "a payload nested 1,000 deep",
            "source_page_unreadable",
            page(format!("[{{\"id\":\"a\",\"title\":{}{}}}]", "[".repeat(1000), "]".repeat(1000))),
        ),
        (
            "a page of 100 MB",
            "message_too_large",
            Box::new(|scenario| scenario["tools"]["list_tickets"]["pad_mib"] = 100.into()),
        ),
        ("a cursor that repeats", "source_position_repeats", log(&[("1", "\"b\""), ("b", "\"b\"")])),
        ("a cursor that goes back", "source_position_repeats", log(&[("1", "\"b\""), ("b", "\"c\""), ("c", "\"b\"")])),
        ("a cursor that is an object", "source_bad_member", log(&[("1", "{}")])),
        (
            "a declaration that changes between pages",
            "contract_not_accepted",
            Box::new(|scenario| {
                let mut changed = scenario["declaration"].clone();
                changed["schema_mappings"]["Ticket"]["fields"]["rank"] = "rank".into();
                scenario["changed_declaration"] = changed;
                scenario["tools"]["list_tickets"]["declare_on_page"] = 2.into();
                scenario["tools"]["list_tickets"]["records"][11]["title"] = "changed".into();
            }),
        ),
    ]
}

/// Proves: SDK-SOURCE-INGEST-R001, SDK-SOURCE-INGEST-R004.22, SDK-SOURCE-INGEST-R017.4
#[test]
fn bad_input_is_refused_by_its_code_and_changes_nothing() {
    let place = Place::new();
    place.write_scenario("desk", &scenario());
    place.write_config(&[("desk", "")]);
    let run = place.once();
    assert_eq!(run.code, 0, "{run:?}");
    let before = place.accepted();
    let table = table();
    assert!(!table.is_empty());
    let mut wrong = Vec::new();
    for (name, code, change) in table {
        let mut bad = scenario();
        change(&mut bad);
        place.write_scenario("desk", &bad);
        let (run, report) = place.report();
        let stages = report["connectors"][0]["cycle"]["run"]["stages"].as_array().cloned().unwrap_or_default();
        let codes: Vec<&str> = stages.iter().filter_map(|stage| stage["refusal"]["code"].as_str()).collect();
        if codes != [code] || run.code != 1 || run.err.contains("panicked") {
            wrong.push(format!("{name}: {codes:?} and exit {}, not {code}", run.code));
        }
        if place.accepted() != before {
            wrong.push(format!("{name}: something accepted changed"));
            break;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    place.write_scenario("desk", &scenario());
    assert_eq!(place.once().code, 0, "the good source is synchronised as before");
    assert_eq!(place.accepted(), before, "and had nothing new");
}

/// Proves: SDK-SOURCE-INGEST-R001
#[test]
fn strange_input_that_is_right_is_kept_as_it_is() {
    let place = Place::new();
    let mut odd = scenario();
    let ids = ["a", "\u{430}", "A", "a\nb", "a\"b'c", "<a> & \\", "e\u{301}", "\u{e9}", "a b", "../a", "\u{202e}a"];
    let decimal = "1234567890123456789.0123456789012345678901";
    let ranks = ["9007199254740993", "1e400", "-0", decimal, "123456789012345678901234567890123456789012"];
    let records: Vec<String> = ids
        .iter()
        .enumerate()
        .map(|(index, id)| {
            let number = ranks.get(index).unwrap_or(&"1");
            format!("{{\"id\":{},\"title\":{number}}}", json!(id))
        })
        .collect();
    odd["tools"]["list_tickets"]["texts"] = json!({ "1": format!("[{}]", records.join(",")), "2": "[]" });
    place.write_scenario("desk", &odd);
    place.write_config(&[("desk", "")]);
    let run = place.once();
    assert_eq!(run.code, 0, "{run:?}");
    let answer = place.scion(&[
        "query",
        "--format",
        "json",
        "SELECT ?id ?title { ?r scion:recordId ?id ; scion:stream 'tickets' ; desk:title ?title }",
    ]);
    let answer: Value = serde_json::from_str(&answer.out).unwrap();
    let rows = answer["results"]["bindings"].as_array().unwrap();
    let found =
        |id: &str| rows.iter().find(|row| row["id"]["value"] == id).unwrap_or_else(|| panic!("{id:?}: {rows:?}"));
    for (index, id) in ids.iter().enumerate() {
        assert_eq!(found(id)["title"]["value"], ranks.get(index).copied().unwrap_or("1"), "{id:?}");
    }
    assert_eq!(rows.len(), ids.len());
    let (_, again) = place.report();
    let stages = again["connectors"][0]["cycle"]["run"]["stages"].as_array().unwrap();
    assert!(stages.iter().all(|stage| stage["stream"]["submitted"] == 0), "read again they are the same: {again}");
}
