//! Small documents for the tests.

#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

use scion_domain::client_profile::ClientProfile;
use scion_domain::json::{Json, to_compact};
use scion_openapi::{ApiModel, ConvertOptions, Operation, convert};

/// Converts a document; every tool of it must pass the client profile.
pub(crate) fn model(text: &str) -> ApiModel {
    let model = convert(text.as_bytes(), &ConvertOptions::default()).unwrap();
    let tools: Vec<_> = model.operations.iter().map(Operation::tool).collect();
    assert_eq!(ClientProfile::COMMON.check_listing(&tools), []);
    assert_eq!(model.report.operations, model.report.converted + model.report.refused.len());
    model
}

/// The one operation of a document whose paths are given.
pub(crate) fn only(paths: &str) -> Operation {
    let model = model(&format!("openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n{paths}"));
    assert_eq!(model.report.refused, []);
    model.operations.into_iter().next().unwrap()
}

/// The written-out schema of a body, given the components and the schema in YAML flow form.
pub(crate) fn body_schema(version: &str, components: &str, schema: &str) -> (Json, Operation) {
    let text = format!(
        "openapi: {version}\ninfo: {{title: t, version: '1'}}\npaths:\n  /a:\n    post:\n      operationId: op\n      \
         requestBody: {{content: {{application/json: {{schema: {schema}}}}}}}\n      responses: {{}}\n\
         components: {{schemas: {components}}}\n"
    );
    let model = model(&text);
    assert_eq!(model.report.refused, [], "{text}");
    let operation = model.operations.into_iter().next().unwrap();
    let body = operation.input_schema.get("properties").and_then(|properties| properties.get("body")).unwrap().clone();
    (body, operation)
}

pub(crate) fn compact_body(version: &str, components: &str, schema: &str) -> String {
    to_compact(&body_schema(version, components, schema).0)
}
