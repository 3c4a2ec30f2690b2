use crate::id::Digest256;
use crate::json::{Json, JsonObject, parse};
use crate::mcp::ToolHints;
use crate::pack::{ANNOTATIONS_KEY, PackAnnotations, PackRefusal};
use crate::test_vectors::{load, section, text};

fn hints(value: Option<&Json>) -> ToolHints {
    let flag = |name| value.and_then(|hints| hints.get(name)).and_then(Json::as_bool);
    ToolHints {
        read_only: flag("readOnlyHint"),
        destructive: flag("destructiveHint"),
        idempotent: flag("idempotentHint"),
        open_world: flag("openWorldHint"),
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R008, SDK-CONNECTOR-CONTROL-R002
#[test]
fn pack_annotation_declarations_of_the_vectors() {
    let file = load("pack.json");
    for case in section(&file, "annotation_declarations") {
        let id = text(case, "id");
        let meta = match case.get("meta") {
            Some(Json::Object(meta)) => meta.clone(),
            Some(Json::String(_)) => {
                let names: Vec<Json> = (0..65).map(|at| Json::from(format!("n{at}"))).collect();
                JsonObject::from([(ANNOTATIONS_KEY.into(), Json::from([("provides", names.into())]))])
            }
            _ => JsonObject::new(),
        };
        let pin = case.get("contract_pin").and_then(Json::as_str).map(|pin| Digest256::parse_hex(pin).unwrap());
        let read = PackAnnotations::declared("tool://m/t", &meta, hints(case.get("tool_annotations")), pin);
        match case.get("ok") {
            Some(expected) => assert_eq!(&read.unwrap().to_json(), expected, "{id}"),
            None => assert!(matches!(read, Err(PackRefusal::Annotation { .. })), "{id}"),
        }
    }
}

#[test]
fn the_annotation_map_is_closed_and_an_unknown_estimate_is_not_zero() {
    let read = |text: &str| PackAnnotations::from_json("x", &parse(text).unwrap());
    let free = read(r#"{"cost":{"currency":"EUR","per_call_micros":0}}"#).unwrap();
    let unknown = read(r#"{"cost":{"currency":"EUR"}}"#).unwrap();
    assert_ne!(crate::pack::annotations_digest(&free), crate::pack::annotations_digest(&unknown));
    for bad in [
        "[]",
        r#"{"provides":"x"}"#,
        r#"{"provides":[""]}"#,
        r#"{"cost":{"currency":"EUR","tip":1}}"#,
        r#"{"cost":{"currency":"EUR","per_call_micros":1.5}}"#,
        r#"{"latency_declared":{"p50_ms":1}}"#,
        r#"{"tool_mode":"loud"}"#,
        r#"{"sdk_contract_pin":"abc"}"#,
        r#"{"model":{"provider":"p"}}"#,
        r#"{"read_only_hint":1}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let model = r#"{"provides":["a"],"tool_mode":"verbose","model":{"provider":"p","model_identity":"m","context_window_tokens":8,
        "max_output_tokens":4,"supports_vision":false,"shell_proficiency":{"value":"low",
        "evaluation_run_ref":{"evaluation_id":"e","digest":"d"}}}}"#;
    let full = read(model).unwrap();
    assert_eq!(PackAnnotations::from_json("x", &full.to_json()).unwrap(), full);
}
