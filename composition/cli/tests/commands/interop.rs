//! A server as the peer writes it: tools and declaration byte for byte those of the vectors.

use crate::support::{Place, served_example};

/// Proves: SDK-CONNECTOR-CONTROL-R075.3, SDK-SOURCE-INGEST-R004
#[test]
fn a_server_with_the_peers_declaration_is_synced() {
    let place = Place::new();
    let server = served_example().display().to_string();
    let config = format!("connectors:\n- connector: acme-desk-mcp\n  endpoint:\n    command: \"{server}\"\n");
    place.write("config.yaml", &config);
    let run = place.once();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(place.ids("tickets"), ["T-1", "T-2", "T-3"]);
    assert_eq!(place.ids("people"), ["P-1", "P-2"]);
    let subjects =
        place.column("SELECT ?s { ?t a <https://desk.example/ns#Ticket> ; acme_desk_mcp:subject ?s } ORDER BY ?s");
    assert_eq!(subjects, ["Door", "Light", "Printer"]);
    let (run, report) = place.report();
    assert_eq!(run.code, 0, "{run:?}");
    assert!(report.to_string().contains("\"submitted\":0"), "a second run submits nothing: {report}");
    assert_eq!(place.ids("tickets").len(), 3);
}
