//! What governs a record, and a declaration that was not accepted.

use serde_json::json;

use crate::support::{Place, desk};

/// Proves: SDK-SOURCE-INGEST-R017, SDK-SOURCE-INGEST-R017.6
#[test]
fn a_nested_value_is_read_back_with_the_contract_that_governs_it() {
    let place = Place::new();
    let mut scenario = desk(1);
    scenario["tools"]["list_tickets"]["records"][0]["device"] = json!({ "id": "d1", "vendor": "Acme" });
    scenario["declaration"]["schema_mappings"]["Device"] =
        json!({ "ontology_class": "Device", "fields": { "vendor": "vendor" } });
    scenario["declaration"]["sources"][0]["edges"].as_array_mut().unwrap().push(json!({
        "relationship": "uses",
        "target_field": "device",
        "target_type": "Device",
        "target_id_key": "id",
        "target_fields": { "vendor": "vendor" },
    }));
    place.write_scenario("desk", &scenario);
    place.write_config(&[("desk", "")]);
    let run = place.once();
    assert_eq!(run.code, 0, "{run:?}");
    let governed = place.column("SELECT ?c { ?t desk:title 'Ticket 1' ; cp:governedBy ?c }");
    assert_eq!(governed, ["contract:desk#Ticket"]);
    let relation = place.column("SELECT ?name { ?t desk:title 'Ticket 1' ; desk:requester ?p . ?p desk:name ?name }");
    assert_eq!(relation, ["Björn"]);
    let nested = place.column(
        "SELECT ?vendor ?c { ?t desk:title 'Ticket 1' ; desk:uses ?d . ?d a desk:Device ; desk:vendor ?vendor ; \
         cp:governedBy ?c }",
    );
    assert_eq!(nested, ["Acme,contract:desk#Device"]);
}

/// Proves: SDK-SOURCE-INGEST-R017, SDK-SOURCE-INGEST-R017.6
#[test]
fn a_changed_declaration_that_was_not_accepted_sends_nothing() {
    let place = Place::with_desk(3);
    assert_eq!(place.once().code, 0);
    place.write_config(&[("desk", "provision: false")]);
    assert_eq!(place.once().code, 0, "the same declaration needs no import");
    let mut scenario = desk(4);
    scenario["declaration"]["schema_mappings"]["Ticket"]["fields"]["person"] = "person".into();
    place.write_scenario("desk", &scenario);
    place.forget_journal("desk");
    let run = place.once();
    assert_eq!(run.code, 1, "{run:?}");
    assert_eq!(run.event("connector_failed")["code"], "contract_not_accepted");
    assert!(place.journal("desk").is_empty(), "nothing was read either");
    assert_eq!(place.ids("tickets").len(), 3);
    place.write_config(&[("desk", "")]);
    let run = place.once();
    assert_eq!(run.code, 0, "with provision it is imported and accepted: {run:?}");
    assert_eq!(place.ids("tickets").len(), 4);
}
