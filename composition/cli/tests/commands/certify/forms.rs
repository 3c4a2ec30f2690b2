//! What a person, a CI system and a second run read.

use serde_json::{Value, json};

use super::toy::{declaration, source, tool, toy};
use crate::support::Place;

fn mixed() -> Value {
    let args = json!({ "params_style": "args" });
    toy(&declaration(&[source("b", "nope", &args), source("a", "ls", &args)]))
}

fn good() -> Value {
    toy(&declaration(&[source("a", "ls", &json!({ "params_style": "args" }))]))
}

/// Proves: SDK-CONNECTOR-CONTROL-R045.11
#[test]
fn it_lists_and_reads_the_declaration_and_writes_nothing() {
    let place = Place::new();
    let mut server = good();
    server["journal"] = place.path("journal").display().to_string().into();
    place.write_server("toy", &server);
    let run = place.certify_server("toy", &[]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{run:?}");
    let journal = std::fs::read_to_string(place.path("journal")).unwrap();
    let asked: Vec<&str> =
        journal.lines().filter(|line| !line.contains("discover") && !line.starts_with("init")).collect();
    assert_eq!(asked, ["tools/list ", "resources/read connector://resources"]);
    let mut files: Vec<_> = std::fs::read_dir(place.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["journal", "toy"]);
}

#[test]
fn a_person_reads_what_failed_and_what_to_do() {
    let place = Place::new();
    place.write_server("toy", &mixed());
    let run = place.certify_server("toy", &["--format", "text"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""), "{run:?}");
    assert!(run.out.starts_with("toy (toy 9.9, MCP 2025-11-25)\n"), "{}", run.out);
    for line in [
        "  ok    tool ls for a\n",
        "  FAIL  tool nope: the server lists no tool `nope` [certify_tool_missing]\n        next: serve the tool",
        "not certified: 1 of 2 tools, 1 failed",
    ] {
        assert!(run.out.contains(line), "{line}\n{}", run.out);
    }
    assert!(!run.out.contains('\u{1b}'), "colour is for terminals");
}

#[test]
fn sarif_has_the_structure_of_its_schema() {
    let place = Place::new();
    place.write_server("toy", &mixed());
    let run = place.certify_server("toy", &["--format", "sarif"]);
    assert_eq!(run.code, 1);
    let log: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let [only] = log["runs"].as_array().unwrap().as_slice() else { panic!("one run") };
    assert_eq!(only["tool"]["driver"]["name"], "connector-certify");
    assert_eq!(only["invocations"][0]["executionSuccessful"], true);
    let rules = only["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "each rule once");
    let results = only["results"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], ids[index]);
        assert!(matches!(result["level"].as_str(), Some("error" | "warning")));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["logicalLocations"][0];
        assert!(place["fullyQualifiedName"].as_str().unwrap().starts_with("toy"));
    }
    let missing = results.iter().find(|result| result["ruleId"] == "certify_tool_missing").unwrap();
    assert_eq!(missing["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "toy/nope");
    assert_eq!(missing["level"], "error");
}

/// Elements of a small XML document as `name` with their attributes, and whether every one is closed where it should be.
fn elements(xml: &str) -> Vec<(String, String)> {
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap();
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "text is escaped");
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let (body, empty) = tag.strip_suffix('/').map_or((tag, false), |body| (body, true));
        let (name, attributes) = body.split_once(' ').unwrap_or((body, ""));
        assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
        all.push((name.to_owned(), attributes.to_owned()));
        if !empty {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

#[test]
fn junit_is_well_formed_and_counts_what_it_holds() {
    let place = Place::new();
    let args = json!({ "params_style": "args" });
    let hostile = toy(&declaration(&[source("b", "no<pe> & \"so\"", &args), source("a", "ls", &args)]));
    place.write_server("toy", &hostile);
    let run = place.certify_server("toy", &["--format", "junit"]);
    assert_eq!(run.code, 1);
    let all = elements(&run.out);
    let count = |wanted: &str| all.iter().filter(|(name, _)| name == wanted).count();
    assert_eq!((count("testsuites"), count("testsuite"), count("failure"), count("error")), (1, 1, 1, 0));
    let (_, suite) = all.iter().find(|(name, _)| name == "testsuite").unwrap();
    let told = format!("tests=\"{}\" failures=\"1\" errors=\"0\" skipped=\"{}\"", count("testcase"), count("skipped"));
    assert!(suite.contains(&told), "{suite}");
    for (_, case) in all.iter().filter(|(name, _)| name == "testcase") {
        assert!(case.contains("classname=\"toy.") && case.contains(" name=\""), "{case}");
    }
    place.write_server("gone", &json!({ "exit": 1 }));
    let run = place.certify_server("gone", &["--format", "junit"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("errors=\"1\"") && run.out.contains("<error type=\"certify_not_listed\""), "{}", run.out);
}

/// Proves: SDK-CONNECTOR-CONTROL-R002, SDK-CONNECTOR-CONTROL-R004
#[test]
fn pins_of_an_earlier_run_are_recomputed_and_compared() {
    let place = Place::new();
    place.write_server("toy", &good());
    assert_eq!(place.certify_server("toy", &["--report", "pins.json"]).code, 0);
    assert_eq!(place.certify_server("toy", &["--against", "pins.json"]).code, 0);

    let mut described = good();
    described["tools"][3]["description"] = "Now with words".into();
    place.write_server("described", &described);
    assert_eq!(place.certify_server("described", &["--against", "pins.json"]).code, 0, "words change no contract");

    let mut changed = good();
    changed["tools"][3] = tool("ls", &json!({ "page": { "type": "integer" }, "more": { "type": "string" } }), &[]);
    place.write_server("changed", &changed);
    assert_eq!(place.certify_server("changed", &[]).code, 0);
    let run = place.certify_server("changed", &["--against", "pins.json"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("[certify_pin_changed]") && run.err.contains("input schema of `ls`"), "{}", run.err);

    // A pin that somebody wrote by hand is found out: it is recomputed, not believed.
    let forged = std::fs::read_to_string(place.path("pins.json")).unwrap().replace("1fdf4778", "00000000");
    place.write("forged.json", &forged);
    assert_eq!(place.certify_server("toy", &["--against", "forged.json"]).code, 1);
    place.write("none.json", "{}");
    let run = place.certify_server("toy", &["--against", "none.json", "--report", "unwritten.json"]);
    assert_eq!((run.code, place.path("unwritten.json").exists()), (2, false), "{run:?}");
    assert!(run.err.contains("pins_not_a_report"), "{}", run.err);
}

#[test]
fn a_tool_without_an_output_schema_has_a_digest_all_the_same() {
    let place = Place::new();
    let mut server = good();
    server["tools"][3].as_object_mut().unwrap().remove("outputSchema");
    place.write_server("toy", &server);
    let run = place.certify_server("toy", &["--format", "json"]);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    let digest = report["tools"][0]["output_schema_sha256"].as_str().unwrap();
    assert_eq!(digest.len(), 64);
    assert_eq!(digest, scion_domain::fingerprint::output_schema(None).to_hex());
    assert_eq!(report["scion"]["tools"]["ls"]["input_schema_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn what_would_stop_a_sync_is_found() {
    let place = Place::new();
    let args = json!({ "params_style": "args" });
    let code = |server: &Value| {
        place.write_server("toy", server);
        let run = place.certify_server("toy", &["--format", "json"]);
        let report: Value = serde_json::from_str(&run.out).unwrap();
        let code = report["scion"]["tools"]["ls"]["findings"][0]["code"].as_str().unwrap_or_default().to_owned();
        (run.code, code)
    };
    let mut writes = good();
    writes["tools"][3]["annotations"] = json!({ "readOnlyHint": false });
    assert_eq!(code(&writes), (1, "certify_not_read_only".into()));
    let mut required = good();
    required["tools"][3]["inputSchema"]["required"] = json!(["page"]);
    assert_eq!(code(&required), (1, "certify_missing_argument".into()));
    let mut twice = good();
    let again = twice["tools"][3].clone();
    twice["tools"].as_array_mut().unwrap().push(again);
    assert_eq!(code(&twice), (1, "certify_tool_twice".into()));
    let mut paged = source("a", "ls", &args);
    paged["preset"] =
        json!({ "params_style": "args", "pagination": "cursor", "cursor_param": "after", "cursor_path": "next" });
    assert_eq!(code(&toy(&declaration(&[paged]))), (1, "certify_unknown_argument".into()));
    let mut empty = good();
    empty["tools"][3]["inputSchema"] = json!({});
    assert_eq!(code(&empty).0, 1);

    let mut parent = source("p", "missing", &args);
    parent.as_object_mut().unwrap().remove("preset");
    let mut child = source("a", "ls", &args);
    child["for_each"] = json!({ "source": "p", "argument": "page" });
    place.write_server("toy", &toy(&declaration(&[parent, child])));
    let run = place.certify_server("toy", &[]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("fan out parent missing"), "{}", run.err);
}

#[test]
fn warnings_fail_only_when_asked_and_another_connector_always() {
    let place = Place::new();
    let mut open = good();
    open["tools"][3]["inputSchema"].as_object_mut().unwrap().remove("additionalProperties");
    place.write_server("toy", &open);
    let run = place.certify_server("toy", &["--connector", "toy"]);
    assert_eq!(run.code, 0);
    assert!(run.err.contains("warn  client profile ls"), "{}", run.err);
    assert_eq!(place.certify_server("toy", &["--strict"]).code, 1);
    let run = place.certify_server("toy", &["--connector", "tray"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("certify_other_connector"), "{}", run.err);
}
