//! What becomes of schemas.

mod common;

use common::{body_schema, compact_body, model};
use scion_domain::json::{parse, to_compact};
use scion_openapi::{TextForm, request_plan};

fn flow(schema: &str) -> String {
    compact_body("3.0.3", "{}", schema)
}

#[test]
fn types_formats_and_choices_are_kept() {
    assert_eq!(
        flow(
            "{type: object, required: [a], properties: {a: {type: string, format: date-time, minLength: 2}, b: {type: array, items: {type: integer, format: int32, minimum: 0}, maxItems: 3}, c: {type: string, enum: [x, y, 3], default: x}}}"
        ),
        r#"{"additionalProperties":false,"properties":{"a":{"format":"date-time","minLength":2,"type":"string"},"b":{"items":{"format":"int32","minimum":0,"type":"integer"},"maxItems":3,"type":"array"},"c":{"default":"x","enum":["x","y","3"],"type":"string"}},"required":["a"],"type":"object"}"#
    );
    assert_eq!(
        flow("{type: object, additionalProperties: {type: number}}"),
        r#"{"additionalProperties":{"type":"number"},"type":"object"}"#
    );
}

#[test]
fn both_dialects_of_nullable_become_a_type() {
    let expected = r#"{"additionalProperties":false,"properties":{"a":{"type":["string","null"]},"b":{"enum":["x",null],"type":["string","null"]}},"type":"object"}"#;
    assert_eq!(
        flow(
            "{type: object, properties: {a: {type: string, nullable: true}, b: {type: string, enum: [x], nullable: true}}}"
        ),
        expected
    );
    assert_eq!(
        compact_body(
            "3.1.0",
            "{}",
            "{type: object, properties: {a: {type: [string, 'null']}, b: {type: [string, 'null'], enum: [x, null]}}}"
        ),
        expected
    );
    assert_eq!(
        compact_body("3.1.0", "{}", "{type: object, properties: {a: {anyOf: [{type: string}, {type: 'null'}]}}}"),
        r#"{"additionalProperties":false,"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"type":"object"}"#
    );
    // A flag in 3.0, a bound of its own in 3.1.
    assert_eq!(flow("{type: number, minimum: 1, exclusiveMinimum: true}"), r#"{"exclusiveMinimum":1,"type":"number"}"#);
    assert_eq!(
        compact_body("3.1.0", "{}", "{type: number, exclusiveMinimum: 1}"),
        r#"{"exclusiveMinimum":1,"type":"number"}"#
    );
}

#[test]
fn all_of_is_merged() {
    let components = "{Base: {type: object, required: [id], properties: {id: {type: string, readOnly: true}, kind: {type: string}}}, \
        Named: {allOf: [{$ref: '#/components/schemas/Base'}, {type: object, required: [name], properties: {name: {type: string}, kind: {enum: [a]}}}]}}";
    assert_eq!(
        compact_body("3.0.0", components, "{$ref: '#/components/schemas/Named'}"),
        r#"{"additionalProperties":false,"properties":{"kind":{"enum":["a"],"type":"string"},"name":{"type":"string"}},"required":["name"],"type":"object"}"#
    );
}

#[test]
fn choices_with_a_discriminator_say_which_is_which() {
    let components = "{Pet: {type: object, required: [kind], properties: {kind: {type: string}}, \
        discriminator: {propertyName: kind, mapping: {cat: '#/components/schemas/Cat', dog: Dog}}, \
        oneOf: [{$ref: '#/components/schemas/Cat'}, {$ref: '#/components/schemas/Dog'}]}, \
        Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {type: object, properties: {lives: {type: integer}}}]}, \
        Dog: {type: object, properties: {bark: {type: boolean}}}}";
    assert_eq!(
        compact_body("3.0.0", components, "{$ref: '#/components/schemas/Pet'}"),
        r#"{"anyOf":[{"additionalProperties":false,"properties":{"kind":{"enum":["cat"],"type":"string"},"lives":{"type":"integer"}},"required":["kind"],"type":"object"},{"additionalProperties":false,"properties":{"bark":{"type":"boolean"},"kind":{"enum":["dog"],"type":"string"}},"required":["kind"],"type":"object"}]}"#
    );
}

#[test]
fn a_type_that_contains_itself_takes_json_text_where_it_would_recur() {
    let components = "{Node: {type: object, properties: {name: {type: string}, children: {type: array, items: {$ref: '#/components/schemas/Node'}}}}}";
    let (schema, operation) = body_schema("3.0.0", components, "{$ref: '#/components/schemas/Node'}");
    let items = schema.get("properties").unwrap().get("children").unwrap().get("items").unwrap();
    assert_eq!(items.get("type").unwrap().as_str(), Some("string"));
    let at = "/properties/body/properties/children/items";
    assert_eq!(operation.texts.get(at), Some(&TextForm::Json));
    let call = parse(r#"{"body":{"name":"a","children":["{\"name\":\"b\"}",{"name":"c"}]}}"#).unwrap();
    let plan = request_plan(&operation, call.as_object().unwrap()).unwrap();
    assert_eq!(&plan.body.unwrap()[..], br#"{"children":[{"name":"b"},{"name":"c"}],"name":"a"}"#);
    let broken = parse(r#"{"body":{"children":["{secret"]}}"#).unwrap();
    let refusal = request_plan(&operation, broken.as_object().unwrap()).unwrap_err();
    assert_eq!(refusal.to_string(), "a text in the argument `body` is not JSON");
}

#[test]
fn mutual_and_wrapped_recursion_ends() {
    let components = "{A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}}}, \
        B: {type: object, properties: {a: {allOf: [{$ref: '#/components/schemas/A'}], nullable: true}}}, \
        C: {allOf: [{$ref: '#/components/schemas/C'}, {type: object, properties: {x: {type: string}}}]}, \
        D: {oneOf: [{$ref: '#/components/schemas/D'}, {type: string}]}, \
        E: {type: object, additionalProperties: {$ref: '#/components/schemas/E'}}, \
        F: {type: array, items: {$ref: '#/components/schemas/F'}}}";
    for name in ["A", "B", "C", "D", "E", "F"] {
        let text = compact_body("3.0.0", components, &format!("{{$ref: '#/components/schemas/{name}'}}"));
        assert!(text.len() < 1000, "{name}: {text}");
    }
}

#[test]
fn what_takes_anything_takes_json_text() {
    for schema in ["{}", "{type: object}", "{type: object, additionalProperties: true}"] {
        let (body, operation) = body_schema("3.0.0", "{}", schema);
        assert_eq!(body.get("contentMediaType").unwrap().as_str(), Some("application/json"), "{schema}");
        assert_eq!(operation.texts.get("/properties/body"), Some(&TextForm::Json));
    }
    assert_eq!(
        flow("{type: object, additionalProperties: false}"),
        r#"{"additionalProperties":false,"type":"object"}"#
    );
}

#[test]
fn wide_integers_take_text() {
    let (body, operation) = body_schema(
        "3.0.0",
        "{}",
        "{type: object, properties: {id: {type: integer, format: int64, maximum: 9223372036854775807}, small: {type: integer, format: int64, minimum: 0, maximum: 10}}}",
    );
    assert_eq!(
        to_compact(&body),
        r#"{"additionalProperties":false,"properties":{"id":{"format":"int64","type":["integer","string"]},"small":{"format":"int64","maximum":10,"minimum":0,"type":"integer"}},"type":"object"}"#
    );
    let call = parse(r#"{"body":{"id":"9223372036854775807"}}"#).unwrap();
    let plan = request_plan(&operation, call.as_object().unwrap()).unwrap();
    assert_eq!(&plan.body.unwrap()[..], br#"{"id":9223372036854775807}"#);
}

#[test]
fn a_schema_that_is_too_large_loses_its_depth_first() {
    use std::fmt::Write as _;
    let mut wide = String::from("{type: object, properties: {");
    for outer in 0..40 {
        let _ = write!(wide, "p{outer}: {{type: object, properties: {{");
        for inner in 0..40 {
            let _ = write!(wide, "q{inner}: {{type: string}}, ");
        }
        wide.push_str("}}, ");
    }
    wide.push_str("}}");
    let (body, operation) = body_schema("3.0.0", "{}", &wide);
    let properties = body.get("properties").unwrap().as_object().unwrap();
    assert_eq!(properties.len(), 40);
    assert_eq!(operation.texts.len(), 40);
}

#[test]
fn outputs_stay_open_and_have_an_object_root() {
    let text = "openapi: 3.0.0\npaths:\n  /a:\n    get:\n      operationId: list\n      responses: {'200': {content: {application/json: {schema: {type: array, items: {type: object, required: [id], properties: {id: {type: integer, format: int64}, secret: {type: string, writeOnly: true}, more: {}}}}}}}}\n";
    let model = model(text);
    let output = model.operations[0].output_schema.as_ref().unwrap();
    assert!(model.operations[0].output_wrapped);
    assert_eq!(
        to_compact(output),
        r#"{"properties":{"result":{"items":{"properties":{"id":{"format":"int64","type":"integer"},"more":{}},"required":["id"],"type":"object"},"type":"array"}},"required":["result"],"type":"object"}"#
    );
}
