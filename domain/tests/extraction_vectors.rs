//! Pages of an `mcp_tool` source: the peer's cases as far as they are about the page itself, and input no source should
//! send.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_domain::json::{Json, JsonObject};
use scion_domain::model::IngestMode;
use scion_domain::pagination::preset;
use scion_domain::refusal::Refusal as _;
use scion_domain::source::SourcePage;
use support::{Case, Vectors, json};

/// Cases about mappings, relations and the live tool, which are decided elsewhere.
const ELSEWHERE: [&str; 7] = [
    "action-not-listed",
    "typed-unknown-kind",
    "edge-undeclared",
    "edge-source-not-on-page",
    "foreign-mapping",
    "two-mappings-untyped",
    "other-stream-checkpoint",
];

fn preset_of(case: &Case<'_>) -> scion_domain::declaration::SyncPreset {
    let mut object: JsonObject = case.need("preset").as_object().unwrap().clone();
    object.insert("server".to_owned(), "acme-desk-mcp".into());
    object.insert("tool".to_owned(), "desk_list".into());
    support::preset(&Json::Object(object))
}

fn since(case: &Case<'_>, preset: &scion_domain::declaration::SyncPreset) -> (Option<Json>, bool) {
    let checkpoint = case.need("options").get("checkpoint");
    let position = checkpoint.and_then(|checkpoint| checkpoint.get("position"));
    let watermark = checkpoint.and_then(|checkpoint| checkpoint.get("watermark")).cloned();
    let own = position.filter(|_| !preset.checkpoint_path.is_empty()).cloned();
    // A peer is in delta mode as soon as there is a checkpoint.
    (own.or(watermark), checkpoint.is_some() && !preset.updated_since_param.is_empty())
}

fn ids(page: &SourcePage) -> Vec<Json> {
    page.records.iter().map(|record| record.id.as_str().into()).collect()
}

/// Proves: SDK-SOURCE-INGEST-R004.20
#[test]
fn every_page_is_taken_apart_alike() {
    let vectors = Vectors::open("documents");
    let cases = vectors.value("mcp_tool_extraction").get("cases").unwrap().as_array().unwrap();
    let mut ran = 0;
    for value in cases {
        let case = Case { id: value.get("id").unwrap().as_str().unwrap().to_owned(), value };
        let id = case.id.as_str();
        if ELSEWHERE.contains(&id) {
            continue;
        }
        ran += 1;
        let preset = preset_of(&case);
        let result = case.list("results")[0].clone();
        let (since, delta) = since(&case, &preset);
        let arguments = preset::call_arguments_with(&preset, &json("{}"), since.as_ref()).unwrap();
        let page = preset::page(&preset, &json("{}"), result, delta);
        if id == "not-a-list" {
            // Deviation: a single object is one record.
            assert_eq!(ids(&page.unwrap()), [json("\"1\"")]);
            continue;
        }
        if case.fails() {
            let refusal = page.expect_err(id);
            assert!(refusal.code().starts_with("source_"), "{id}: {refusal}");
            continue;
        }
        let page = page.unwrap_or_else(|refusal| panic!("{id}: {refusal}"));
        let ok = case.need("ok");
        let call = &ok.get("calls").unwrap().as_array().unwrap()[0].as_array().unwrap()[1];
        assert_eq!(&Json::Object(arguments), call, "{id}");
        let wanted = ok.get("page").unwrap();
        let records = wanted.get("records").unwrap().as_array().unwrap();
        let wanted_ids: Vec<_> = records.iter().map(|record| record.get("record_id").unwrap().clone()).collect();
        if id == "watermark-skips" {
            // Deviation: a record at the watermark is read again; its digest says whether it changed.
            assert_eq!(ids(&page), [json("\"1\""), json("\"2\"")]);
        } else {
            assert_eq!(ids(&page), wanted_ids, "{id}");
            for (record, wanted) in page.records.iter().zip(records) {
                assert_eq!(Some(&Json::Object(record.payload.clone())), wanted.get("payload"), "{id}");
                assert_eq!(&Json::from(record.updated_at.clone()), wanted.get("updated_at").unwrap(), "{id}");
            }
        }
        assert_eq!(page.mode.map(IngestMode::as_str), wanted.get("mode").unwrap().as_str(), "{id}");
        assert_eq!(Some(page.next_position.is_none()), wanted.get("exhausted").unwrap().as_bool(), "{id}");
        let checkpoint = wanted.get("checkpoint").unwrap();
        if let Some(next) = &page.next_position {
            assert_eq!(Some(next), checkpoint.get("position"), "{id}");
        }
        if let Some(own) = &page.watermark {
            assert_eq!(Some(&json(own)), checkpoint.get("position"), "{id}");
        }
        let live = page.live_ids.map(|ids| ids.iter().map(|id| Json::from(id.as_str())).collect::<Vec<_>>());
        let wanted_live = wanted.get("authoritative_live_ids").unwrap().as_array();
        let wanted_live = wanted_live.map(|all| all.iter().map(|one| one.get("record_id").unwrap().clone()).collect());
        assert_eq!(live, wanted_live, "{id}");
        assert_eq!(page.withdrawals.len(), wanted.get("withdrawals").unwrap().as_array().unwrap().len(), "{id}");
        assert_eq!(page.relationships.len(), wanted.get("relationships").unwrap().as_array().unwrap().len(), "{id}");
    }
    assert_eq!(ran + ELSEWHERE.len(), cases.len());
}

fn list_preset(extra: &str) -> scion_domain::declaration::SyncPreset {
    support::preset(&json(&format!(r#"{{"server":"s","tool":"t","params_style":"args"{extra}}}"#)))
}

/// Proves: SDK-SOURCE-INGEST-R004.20
#[test]
fn odd_ids_are_kept_or_refused_never_bent() {
    let preset = list_preset("");
    for (record, id) in [
        (r#"{"id":9007199254740993}"#, "9007199254740993"),
        (r#"{"id":1e400}"#, "1e400"),
        (r#"{"id":-0}"#, "-0"),
        (r#"{"id":"a\"b\nc"}"#, "a\"b\nc"),
        ("{\"id\":\"\u{0430}\"}", "\u{0430}"),
    ] {
        let found = preset::extract(&preset, &json(&format!("[{record}]"))).unwrap();
        assert_eq!(found.records[0].id.as_str(), id);
    }
    let long = format!(r#"[{{"id":"{}"}}]"#, "x".repeat(10_000));
    for (result, code) in [
        (r#"[{"id":"a\u0000b"}]"#, "source_record_bad_id"),
        (long.as_str(), "source_record_bad_id"),
        (r#"[{"id":""}]"#, "source_record_without_id"),
        (r#"[{"id":null}]"#, "source_record_without_id"),
        (r#"[{"id":true}]"#, "source_record_without_id"),
        (r#"[{"id":[1]}]"#, "source_record_without_id"),
        (r#"[{"x":1}]"#, "source_record_without_id"),
        (r#"[{"id":1},{"id":1}]"#, "source_duplicate_id"),
        (r#"[{"id":1},{"id":"1"}]"#, "source_duplicate_id"),
        (r#"[{"id":1},2]"#, "source_record_not_object"),
        (r#"[[{"id":1}]]"#, "source_record_not_object"),
        (r#""text""#, "source_records_missing"),
        ("7", "source_records_missing"),
        (r#"{"error":"denied"}"#, "source_record_without_id"),
    ] {
        assert_eq!(
            preset::extract(&preset, &json(result)).unwrap_err().code(),
            code,
            "{}",
            &result[..result.len().min(40)]
        );
    }
}

/// Proves: SDK-SOURCE-INGEST-R004.20
#[test]
fn empty_is_empty_and_absent_is_refused() {
    let plain = list_preset("");
    let nested = list_preset(r#","records_path":"d.items""#);
    for (preset, result) in [
        (&plain, "[]"),
        (&plain, "null"),
        (&nested, "null"),
        (&nested, r#"{"d":{"items":[]}}"#),
        (&nested, r#"{"d":{"items":null}}"#),
    ] {
        assert_eq!(preset::extract(preset, &json(result)).unwrap().raw_count, 0, "{result}");
    }
    for result in [r#"{"d":{}}"#, "{}", r#"{"d":[]}"#, r#"{"d":{"items":"none"}}"#, "[]"] {
        assert_eq!(preset::extract(&nested, &json(result)).unwrap_err().code(), "source_records_missing", "{result}");
    }
    // A page of a paged source is a list; an envelope with an id of its own is not taken for a record.
    let paged = list_preset(r#","pagination":"page","page_param":"p""#);
    let refusal = preset::extract(&paged, &json(r#"{"id":"request-1","items":[]}"#)).unwrap_err();
    assert_eq!(refusal.code(), "source_records_missing");
    // A peer's server wraps lists; the declared path then names the wrapper.
    let wrapped = list_preset(r#","records_path":"result""#);
    assert_eq!(preset::extract(&wrapped, &json(r#"[{"id":1}]"#)).unwrap().raw_count, 1);
}

#[test]
fn an_authoritative_page_without_its_list_is_refused() {
    let preset = list_preset(r#","records_path":"items","reconcile_path":"live","authoritative_path":"all""#);
    let refusal = preset::extract(&preset, &json(r#"{"items":[],"all":true}"#)).unwrap_err();
    assert_eq!(refusal.code(), "source_bad_member");
    let found = preset::extract(&preset, &json(r#"{"items":[],"all":true,"live":[1,"1",{"id":2}]}"#)).unwrap();
    assert_eq!(found.live_ids.unwrap().len(), 2);
}

#[test]
fn the_call_fits_the_live_tool() {
    let bare = support::preset(&json(
        r#"{"server":"s","tool":"t","params":{"q":"x"},"pagination":"page","page_param":"page"}"#,
    ));
    let call = |schema: &str| {
        let schema = json(schema);
        let fitted = preset::fitted(&bare, &schema);
        let next = preset::next_position(&fitted, &json("{}"), &Json::Null, &[json("{}")]).unwrap();
        let unsettled = preset::call_arguments_for_tool(&bare, &json("{}"), None, &schema).unwrap();
        let arguments = preset::call_arguments(&fitted, &json("{}"), None).unwrap();
        assert_eq!(unsettled.keys().collect::<Vec<_>>(), arguments.keys().collect::<Vec<_>>());
        (Json::Object(arguments), next.unwrap())
    };
    let (zero, one) = (json(r#"{"page":1}"#), json(r#"{"page":2}"#));
    let as_text = json(r#"{"params_json":"{\"page\": 0, \"q\": \"x\"}"}"#);
    let takes_text = r#"{"properties":{"params_json":{"type":"string"}}}"#;
    assert_eq!(call(takes_text), (as_text.clone(), zero.clone()));
    assert_eq!(call("{}"), (as_text, zero.clone()));
    let from_one = r#"{"properties":{"q":{},"page":{"default":1}},"additionalProperties":false}"#;
    assert_eq!(call(from_one), (json(r#"{"q":"x","page":1}"#), one.clone()));
    let at_least_one = r#"{"properties":{"q":{},"page":{"minimum":1}}}"#;
    assert_eq!(call(at_least_one), (json(r#"{"q":"x","page":1}"#), one));
    let empty = r#"{"properties":{},"additionalProperties":false}"#;
    assert_eq!(call(empty), (json(r#"{"q":"x","page":0}"#), zero));
}

#[test]
fn positions_of_another_source_are_refused() {
    let page = list_preset(r#","pagination":"page","page_param":"p""#);
    let cursor = list_preset(r#","pagination":"cursor","cursor_param":"c","cursor_path":"n""#);
    for (preset, position) in [
        (&page, "[]"),
        (&page, r#"{"page":-1}"#),
        (&page, r#"{"page":"2"}"#),
        (&page, r#"{"cursor":"x"}"#),
        (&cursor, r#"{"cursor":{"a":1}}"#),
        (&cursor, r#"{"cursor":null}"#),
    ] {
        let refusal = preset::call_arguments(preset, &json(position), None).unwrap_err();
        assert_eq!(refusal.code(), "source_bad_position", "{position}");
    }
}

#[test]
fn more_without_a_cursor_is_malformed() {
    let preset = list_preset(
        r#","records_path":"i","pagination":"cursor","cursor_param":"c","cursor_path":"n","more_path":"m""#,
    );
    let next = |result: &str| preset::page(&preset, &json("{}"), json(result), false).map(|page| page.next_position);
    assert_eq!(next(r#"{"i":[],"m":true,"n":null}"#).unwrap_err().code(), "source_cursor_missing");
    assert_eq!(next(r#"{"i":[],"m":"yes","n":"x"}"#).unwrap_err().code(), "source_bad_member");
    assert_eq!(next(r#"{"i":[],"m":false,"n":"x"}"#).unwrap(), None);
    assert_eq!(next(r#"{"i":[],"n":["x"]}"#).unwrap_err().code(), "source_bad_member");
    let unpaged = list_preset(r#","records_path":"i","more_path":"m""#);
    let refusal = preset::page(&unpaged, &json("{}"), json(r#"{"i":[],"m":true}"#), false).unwrap_err();
    assert_eq!(refusal.code(), "source_cursor_missing");
}

#[test]
fn endless_empty_pages_are_named() {
    let preset = list_preset(r#","records_path":"i","pagination":"cursor","cursor_param":"c","cursor_path":"n""#);
    let mut position = json("{}");
    for round in 0..=preset::MAX_EMPTY_PAGES {
        let result = Json::from([("i", Json::Array(Vec::new())), ("n", round.into())]);
        match preset::page(&preset, &position, result, false) {
            Ok(page) => position = page.next_position.unwrap(),
            Err(refusal) => {
                assert_eq!((refusal.code(), round), ("source_empty_pages", preset::MAX_EMPTY_PAGES));
                return;
            }
        }
    }
    panic!("never refused");
}
