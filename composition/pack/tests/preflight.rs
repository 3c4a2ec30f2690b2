//! A contract is validated before it is imported.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Mutex;

use async_trait::async_trait;
use scion_domain::id::ConnectorName;
use scion_domain::pack_declaration::{ConnectorPackDeclaration, PACK_SHAPES_TURTLE};
use scion_domain::refusal::Refusal as _;
use scion_domain::shapes::{PreflightRefusal, ShapesRefusal, ShapesReport, ShapesViolation};
use scion_pack::preflight;
use scion_ports::ShaclValidator;

struct Scripted {
    answer: Result<ShapesReport, ShapesRefusal>,
    heard: Mutex<Vec<(String, String)>>,
}

#[async_trait]
impl ShaclValidator for Scripted {
    async fn validate(&self, shapes: &str, data: &str) -> Result<ShapesReport, ShapesRefusal> {
        self.heard.lock().unwrap().push((shapes.to_owned(), data.to_owned()));
        self.answer.clone()
    }
}

#[tokio::test]
async fn the_validator_decides_and_the_refusal_has_a_count_and_a_path() {
    let declaration = ConnectorPackDeclaration::new(ConnectorName::parse("desk-mcp").unwrap(), "1");
    let turtle = declaration.to_turtle().unwrap();
    let look = async |answer| {
        let validator = Scripted { answer, heard: Mutex::default() };
        let outcome = preflight(&validator, PACK_SHAPES_TURTLE, &turtle).await;
        let heard = validator.heard.into_inner().unwrap();
        assert_eq!(heard, [(PACK_SHAPES_TURTLE.to_owned(), turtle.clone())], "asked once, with the whole contract");
        outcome
    };
    assert_eq!(look(Ok(ShapesReport::default())).await, Ok(()));
    let on = |path: Option<&str>| ShapesViolation {
        path: path.map(str::to_owned),
        component: "http://www.w3.org/ns/shacl#MinCountConstraintComponent".to_owned(),
        shape: None,
    };
    let report = ShapesReport::of(vec![on(None), on(Some("urn:b")), on(Some("urn:a"))]);
    assert_eq!(look(Ok(report)).await, Err(PreflightRefusal::Violations { count: 3, path: "urn:a".to_owned() }));
    let refusal = look(Ok(ShapesReport::of(vec![on(None)]))).await.unwrap_err();
    assert_eq!(refusal.to_string(), "the contract violates its shapes 1 times, first on the node itself");
    // No answer is no consent.
    let refusal = look(Err(ShapesRefusal::Unavailable)).await.unwrap_err();
    assert_eq!(
        (refusal.code(), refusal.to_string().contains("shapes_validator_unavailable")),
        ("contract_not_validated", true)
    );
}
