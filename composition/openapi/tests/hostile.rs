//! Documents that want to break the reader.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use scion_domain::client_profile::ClientProfile;
use scion_domain::refusal::Refusal as _;
use scion_openapi::{ConvertOptions, Limits, Operation, convert};

/// Converts within a time that only an endless loop exceeds, and checks what came out.
fn survives(text: &str) -> Result<usize, &'static str> {
    let start = Instant::now();
    let converted = convert(text.as_bytes(), &ConvertOptions::default());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let model = converted.map_err(|refusal| refusal.code())?;
    let tools: Vec<_> = model.operations.iter().map(Operation::tool).collect();
    assert_eq!(ClientProfile::COMMON.check_listing(&tools), []);
    Ok(tools.len())
}

#[test]
fn references_that_double_at_every_level_stay_small() {
    let mut schemas = String::new();
    for level in 0..200 {
        let next = format!("'#/components/schemas/S{}'", level + 1);
        let _ =
            write!(schemas, "S{level}: {{type: object, properties: {{a: {{$ref: {next}}}, b: {{$ref: {next}}}}}}}, ");
    }
    let text = format!(
        "openapi: 3.0.0\npaths: {{/a: {{post: {{requestBody: {{content: {{application/json: {{schema: {{$ref: '#/components/schemas/S0'}}}}}}}}}}}}}}\ncomponents: {{schemas: {{{schemas} S200: {{type: string}}}}}}"
    );
    assert_eq!(survives(&text), Ok(1));
    let merged =
        text.replace("{type: object, properties: {a: ", "{allOf: [").replace(", b: ", ", ").replace("'}}}, ", "'}]}, ");
    assert_ne!(merged, text);
    assert_eq!(survives(&merged), Ok(1), "{}", &merged[..300]);
}

#[test]
fn many_operations_share_the_parts_there_are() {
    let mut text = String::from("openapi: 3.0.0\ncomponents: {schemas: {B: {type: object, properties: {");
    for index in 0..60 {
        let _ = write!(text, "p{index}: {{type: string, description: 'a text of some length'}}, ");
    }
    text.push_str("}}}}\npaths:\n");
    for index in 0..5000 {
        let _ = writeln!(
            text,
            "  /p{index}: {{post: {{requestBody: {{content: {{application/json: {{schema: {{$ref: '#/components/schemas/B'}}}}}}}}}}}}"
        );
    }
    assert_eq!(survives(&text), Ok(4096));
}

#[test]
fn odd_documents_are_read_or_refused() {
    for text in [
        "",
        "{",
        "openapi: 3.0.0",
        "openapi: 3.0.0\npaths: []",
        "openapi: 3.0.0\npaths: {/a: 1, /b: {get: []}, x-c: {}}",
        "openapi: 3.0.0\npaths: {/a: {get: {parameters: {}, responses: [], security: 1, tags: {}, requestBody: 4}}}",
        "openapi: 3.1.0\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: true}}}}}}",
        "openapi: 3.1.0\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: {type: object, properties: {a: false, b: true}, required: [a, b, 7]}}}}}}}",
        "swagger: '2.0'\nschemes: [1]\nhost: 5\npaths: {/a: {post: {parameters: [{in: formData, name: f}]}}}",
        "openapi: 3.0.0\npaths: {/a: {get: {responses: {'200': {content: {application/json: {schema: {oneOf: [{oneOf: [{}]}, {}]}}}}}}}}",
    ] {
        let _ = survives(text);
    }
    let deep = format!("openapi: 3.0.0\nx: {}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(survives(&deep), Err("openapi_too_deep"));
    assert_eq!(survives(&" ".repeat((16 << 20) + 1)), Err("openapi_too_large"));
}

#[test]
fn what_is_no_document_is_refused_whole() {
    let refused = |bytes: &[u8]| convert(bytes, &ConvertOptions::default()).unwrap_err();
    assert_eq!(refused(b"openapi: \xff").code(), "openapi_not_text");
    assert_eq!(refused(b"a: 1").code(), "openapi_not_an_api");
    assert_eq!(refused(b"").code(), "openapi_not_an_api");
    let cases: [(&[u8], &str); 3] = [
        (b"openapi: 3.0.0\npaths: {hunter2: [\n", "openapi_malformed"),
        (b"openapi: 3.0.0\npaths: !hunter2 {}\n", "openapi_yaml"),
        (b"openapi: 3.0.0\n---\nhunter2: 1\n", "openapi_yaml"),
    ];
    for (document, code) in cases {
        let refusal = refused(document);
        assert_eq!(refusal.code(), code);
        assert!(refusal.to_string().contains("at line") && !refusal.to_string().contains("hunter2"), "{refusal}");
    }
}

#[test]
fn what_exceeds_a_number_is_left_out_and_counted() {
    let text = "openapi: 3.0.0\npaths:\n  /a: {get: {operationId: a}}\n  /b: {get: {operationId: b}}\n  /c: {get: {operationId: c, parameters: [{name: p, in: query}, {name: q, in: query}]}}\n";
    let under = |limits: Limits| {
        let model = convert(text.as_bytes(), &ConvertOptions { limits, ..ConvertOptions::default() }).unwrap();
        let names: Vec<_> = model.operations.iter().map(|operation| operation.name.clone()).collect();
        (names.len(), model.report.refused_by_code())
    };
    let one = |code| std::collections::BTreeMap::from([(code, 1)]);
    assert_eq!(under(Limits::DEFAULT), (3, std::collections::BTreeMap::new()));
    assert_eq!(under(Limits { max_operations: 2, ..Limits::DEFAULT }), (2, one("openapi_too_many_operations")));
    assert_eq!(under(Limits { max_parameters: 1, ..Limits::DEFAULT }), (2, one("openapi_too_many_parameters")));
}
