use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::canonical::peer_json;
use crate::canonical::tests::any_json;
use crate::json::{JsonObject, parse};
use crate::test_vectors::{load, section, text};

fn scope(report: &Json) -> DriftScope {
    DriftScope {
        source: ConnectorName::parse(text(report, "source")).unwrap(),
        stream: StreamName::parse(text(report, "stream")).unwrap(),
        tenant: TenantId::parse(text(report, "tenant")).unwrap(),
        observed_sample_digest: Digest256::parse_hex(text(report, "observed_sample_digest")).unwrap(),
    }
}

fn texts(case: &Json, name: &str) -> Vec<String> {
    case.get(name).unwrap().as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn contract(case: &Json, side: &str) -> Option<SourceContract> {
    let schema = case.get(side).unwrap();
    (!schema.is_null()).then(|| SourceContract {
        schema: schema.clone(),
        identifier_fields: texts(case, &format!("{side}_identifiers")),
        fingerprint: Digest256::ZERO,
    })
}

fn policy(case: &Json) -> EvolutionPolicy {
    match text(case, "policy") {
        "optional_fields" => EvolutionPolicy::OptionalFields,
        _ => EvolutionPolicy::Review,
    }
}

/// Proves: SDK-SOURCE-INGEST-R002
#[test]
fn every_vector() {
    let file = load("drift.json");
    let cases = section(&file, "vectors");
    assert_eq!(cases.len(), 50);
    for case in cases {
        let id = text(case, "id");
        let expected = case.get("report").unwrap();
        let (prior, current) = (contract(case, "prior"), contract(case, "current"));
        for (contract, name) in [(&prior, "prior_canonical"), (&current, "current_canonical")] {
            let canonical = contract.as_ref().map(|contract| ToolContract::of(contract).unwrap());
            let text = canonical.as_ref().map(|contract| contract.canonical_schema.as_str());
            assert_eq!(text, case.get(name).unwrap().as_str(), "{id} {name}");
        }
        let report = classify(prior.as_ref(), current.as_ref(), policy(case), &scope(expected));
        let written = serde_json::to_string(&report).unwrap();
        assert_eq!(peer_json(&parse(&written).unwrap()), peer_json(expected), "{id}");
        assert_eq!(serde_json::from_str::<DriftReport>(&written).unwrap(), report, "{id}");
    }
}

#[test]
fn a_report_has_the_member_order_of_the_peer() {
    let file = load("drift.json");
    let case = &section(&file, "vectors")[0];
    let report = classify(None, None, EvolutionPolicy::Review, &scope(case.get("report").unwrap()));
    let zero = "0".repeat(64);
    assert_eq!(
        serde_json::to_string(&report).unwrap(),
        format!(
            "{{\"source\":\"acme-desk-mcp\",\"stream\":\"tickets\",\"tenant\":\"t1\",\"old_schema_digest\":null,\
             \"new_schema_digest\":null,\"affected_fields\":[\"/\"],\"classification\":\"REQUIRES_REVIEW\",\
             \"observed_sample_digest\":\"{zero}\",\"reason_codes\":[\"MISSING_SCHEMA\"]}}"
        )
    );
}

#[test]
fn every_contract_text() {
    let file = load("drift.json");
    for case in section(&file, "contract_texts") {
        let id = text(case, "id");
        let outcome = ToolContract::parse(text(case, "input"), &[]);
        match case.get("ok") {
            Some(ok) => {
                let contract = outcome.unwrap();
                assert_eq!(contract.canonical_schema, text(ok, "canonical_schema"), "{id}");
                assert_eq!(contract.identifier_fields, texts(ok, "identifier_fields"), "{id}");
            }
            None => assert!(outcome.is_err(), "{id}"),
        }
    }
    let infinite = ToolContract::parse("{\"properties\":{\"a\":{\"maximum\":1e400}}}", &[]);
    assert_eq!(infinite, Err(DriftRefusal::Number { pointer: "/properties/a/maximum".into() }));
}

fn somewhere() -> DriftScope {
    DriftScope {
        source: ConnectorName::parse("desk").unwrap(),
        stream: StreamName::parse("tickets").unwrap(),
        tenant: TenantId::parse("t1").unwrap(),
        observed_sample_digest: Digest256::ZERO,
    }
}

fn report(class: DriftClass) -> DriftReport {
    DriftReport { classification: class, ..classify(None, None, EvolutionPolicy::Review, &somewhere()) }
}

/// Proves: SDK-SOURCE-INGEST-R003
#[test]
fn every_repair_proposal() {
    let file = load("drift.json");
    let mapping = || BTreeMap::from([("name".to_owned(), "label".to_owned())]);
    for case in section(&file, "repair_proposals") {
        let id = text(case, "id");
        let (class, map, proposer, refusal) = match id {
            "compatible" => (DriftClass::Compatible, mapping(), "ada", Some(DriftRefusal::NothingToRepair)),
            "empty-mapping" => (DriftClass::Breaking, BTreeMap::new(), "ada", Some(DriftRefusal::EmptyRepair)),
            "blank-proposer" => (DriftClass::Breaking, mapping(), " \t", Some(DriftRefusal::NoProposer)),
            "accepted" => (DriftClass::Breaking, mapping(), "ada", None),
            other => panic!("a case nobody runs: {other}"),
        };
        let outcome = RepairProposal::new(report(class), map, proposer);
        assert_eq!(outcome.as_ref().err(), refusal.as_ref(), "{id}");
        assert_eq!(outcome.is_ok(), case.get("ok").is_some(), "{id}");
    }
}

/// Proves: SDK-SOURCE-INGEST-R003
#[test]
fn a_proposal_is_a_record_that_pauses_its_stream() {
    let mapping = BTreeMap::from([("name".to_owned(), "label".to_owned())]);
    let proposal = RepairProposal::new(report(DriftClass::RequiresReview), mapping.clone(), "ada").unwrap();
    let written = serde_json::to_string(&proposal).unwrap();
    assert_eq!(serde_json::from_str::<RepairProposal>(&written).unwrap(), proposal);
    assert!(serde_json::from_str::<RepairProposal>(&written.replace("\"ada\"", "\" \"")).is_err());
    let crate::model::StreamHold::RepairPending { proposal_digest } = proposal.to_hold() else { panic!("no hold") };
    assert_eq!(proposal_digest, proposal.digest().to_hex());
    let by_another = RepairProposal::new(report(DriftClass::RequiresReview), mapping, "bob").unwrap();
    assert_ne!(by_another.digest(), proposal.digest());
}

fn of(schema: &str) -> SourceContract {
    SourceContract { schema: parse(schema).unwrap(), identifier_fields: Vec::new(), fingerprint: Digest256::ZERO }
}

fn class(prior: &str, current: &str) -> (DriftClass, Vec<String>) {
    let report = classify(Some(&of(prior)), Some(&of(current)), EvolutionPolicy::Review, &somewhere());
    (report.classification, report.affected_fields.into_iter().collect())
}

#[test]
fn a_parameter_the_fingerprint_cannot_see_is_seen_here() {
    let before = r#"{"properties":{"title":{"type":"string"}}}"#;
    let after = r#"{"properties":{"title":{"type":"integer"}}}"#;
    assert_eq!(class(before, after), (DriftClass::Breaking, vec!["/properties/title/type".into()]));
}

#[test]
fn a_contract_that_is_no_object_needs_review() {
    assert_eq!(class("[1]", "{}"), (DriftClass::RequiresReview, vec!["/".into()]));
    let same = r#"{"properties":[1],"required":"x"}"#;
    assert_eq!(class(same, same), (DriftClass::Compatible, vec![]));
    assert_eq!(
        class(same, r#"{"properties":[1],"required":"y"}"#),
        (DriftClass::RequiresReview, vec!["/required".into()])
    );
    assert_eq!(class("{\"required\":[]}", "{}"), (DriftClass::Compatible, vec![]));
}

fn any_schema() -> impl Strategy<Value = JsonObject> {
    let keyword = prop::sample::select(vec![
        "type",
        "required",
        "enum",
        "properties",
        "items",
        "const",
        "title",
        "anyOf",
        "$defs",
        "x-other",
        "maximum",
    ]);
    let leaf = any_json().prop_map(|value| JsonObject::from([("const".to_owned(), value)]));
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop::collection::btree_map(
            keyword.clone().prop_map(str::to_owned),
            prop_oneof![
                any_json(),
                inner.clone().prop_map(Json::Object),
                prop::collection::btree_map("[a-d]|title|default", inner.prop_map(Json::Object), 0..4)
                    .prop_map(Json::Object),
                prop::collection::vec("[a-d]".prop_map(Json::String), 0..4).prop_map(Json::Array),
            ],
            0..5,
        )
    })
}

proptest! {
    #[test]
    fn nothing_drifts_from_itself(schema in any_schema(), ids in prop::collection::vec("[a-c]", 0..4)) {
        let here = somewhere();
        let contract = SourceContract { schema: Json::Object(schema), identifier_fields: ids, fingerprint: Digest256::ZERO };
        let report = classify(Some(&contract), Some(&contract), EvolutionPolicy::Review, &here);
        prop_assert!(report.is_compatible());
        prop_assert!(report.reason_codes.is_empty() && report.affected_fields.is_empty());
        prop_assert_eq!(report.old_schema_digest, report.new_schema_digest);
    }

    #[test]
    fn what_is_not_compatible_says_why_and_where(a in any_schema(), b in any_schema()) {
        let here = somewhere();
        let contract = |schema| SourceContract { schema: Json::Object(schema), identifier_fields: Vec::new(), fingerprint: Digest256::ZERO };
        let (a, b) = (contract(a), contract(b));
        let there = classify(Some(&a), Some(&b), EvolutionPolicy::Review, &here);
        let back = classify(Some(&b), Some(&a), EvolutionPolicy::Review, &here);
        prop_assert_eq!(there.is_compatible(), there.reason_codes.is_empty());
        prop_assert_eq!(there.is_compatible(), back.is_compatible());
        prop_assert_eq!(&there.affected_fields, &back.affected_fields);
        if !there.is_compatible() {
            prop_assert!(!there.affected_fields.is_empty());
            prop_assert_ne!(there.old_schema_digest, there.new_schema_digest);
        }
    }

    #[test]
    fn a_stored_contract_reads_back_to_itself(schema in any_schema()) {
        let contract = SourceContract { schema: Json::Object(schema), identifier_fields: vec!["b".into(), "a".into()], fingerprint: Digest256::ZERO };
        if let Ok(stored) = ToolContract::of(&contract) {
            let again = ToolContract::parse(&stored.canonical_schema, &stored.identifier_fields).unwrap();
            prop_assert_eq!(again.digest(), stored.digest());
            prop_assert_eq!(again, stored);
        }
    }
}
