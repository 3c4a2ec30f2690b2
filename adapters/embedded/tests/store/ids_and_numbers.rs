//! Awkward identities and numbers, in and out through SPARQL.

use scion_domain::id::{IdRefusal, RecordId};
use scion_domain::query::{QueryAnswer, Term};

use crate::support::*;

#[tokio::test]
async fn identities_are_kept_byte_for_byte_and_never_confused() {
    assert!(matches!(RecordId::parse("a\0b"), Err(IdRefusal::BadCharacter { index: 1, .. })));
    let long = "k".repeat(8192);
    let ids = [
        "it's \"quoted\"; DROP TABLE record; --",
        "line\nbreak\r\n",
        "tab\t",
        "a",
        "а",
        "A",
        "é",
        "e\u{301}",
        "\u{202e}rtl",
        " a",
        "a ",
        "%41",
        "a%2Fb",
        "a/b",
        "a:b",
        "<script>",
        "{}",
        "?x",
        "日本",
        "🦀",
        &long,
    ];
    let desk = desk().await;
    let payload = r#"{"title":"same"}"#;
    commit(&desk.graph, &full(1, ids.iter().map(|id| ticket(id, payload)).collect())).await;
    let mut expected: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    expected.sort();
    assert_eq!(live(&desk.graph).await, expected);
    let mut iris = rows(&desk.graph, "SELECT ?r { ?r a desk:Ticket }").await;
    iris.dedup();
    assert_eq!(iris.len(), ids.len());
    for iri in iris {
        let found = rows(&desk.graph, &format!("SELECT ?id {{ <{iri}> scion:recordId ?id }}")).await;
        assert_eq!(found.len(), 1, "{iri}");
    }
    let receipt = commit(&desk.graph, &delta(2, vec![], &["а", "e\u{301}"])).await;
    assert_eq!(receipt.tombstones.len(), 2);
    assert_eq!(live(&desk.graph).await.len(), ids.len() - 2);
}

#[tokio::test]
async fn numbers_come_out_with_the_digits_they_went_in_with() {
    let forty = "0.1234567890123456789012345678901234567890";
    let numbers = [
        ("9007199254740993", "integer"),
        ("-0", "integer"),
        ("123456789012345678901234567890", "integer"),
        (forty, "decimal"),
        ("-0.0", "decimal"),
        ("1.10", "decimal"),
        ("1e400", "double"),
        ("-1.50E-07", "double"),
    ];
    let desk = desk().await;
    let records =
        numbers.iter().enumerate().map(|(n, (text, _))| ticket(&n.to_string(), &format!(r#"{{"size":{text}}}"#)));
    commit(&desk.graph, &full(1, records.collect())).await;
    let mut expected: Vec<String> = numbers.iter().map(|(text, datatype)| format!("{text}^^{datatype}")).collect();
    expected.sort();
    assert_eq!(rows(&desk.graph, "SELECT ?n { ?r <https://desk.example/ns#size> ?n }").await, expected);
    for (text, datatype) in numbers {
        let sparql = format!("SELECT ?r {{ ?r <https://desk.example/ns#size> \"{text}\"^^xsd:{datatype} }}");
        assert_eq!(rows(&desk.graph, &sparql).await.len(), 1, "{text}");
    }
    let above = "SELECT ?n { ?r <https://desk.example/ns#size> ?n FILTER(?n > 1000) }";
    assert_eq!(rows(&desk.graph, above).await, ["1e400^^double", "9007199254740993^^integer"]);
}

#[tokio::test]
async fn values_of_every_kind_have_their_term() {
    let desk = desk().await;
    let payload = r#"{"title":"plain","open":true,"status":null,"tags":["x","x",1,{"a":[1]},["y"],null],"created":"2026-01-01T00:00:00Z"}"#;
    let mut record = ticket("1", payload);
    record.updated_at = Some("2026-01-02".to_owned());
    commit(&desk.graph, &full(1, vec![record])).await;
    let about = |predicate: &str| format!("SELECT ?o {{ <urn:scion:desk:tickets:1> {predicate} ?o }}");
    assert_eq!(rows(&desk.graph, &about("desk:title")).await, ["plain"]);
    assert_eq!(rows(&desk.graph, &about("desk:open")).await, ["true^^boolean"]);
    assert!(rows(&desk.graph, &about("desk:status")).await.is_empty());
    assert_eq!(rows(&desk.graph, &about("desk:tag")).await, ["1^^integer", "[\"y\"]^^JSON", "x", "{\"a\":[1]}^^JSON"]);
    assert_eq!(rows(&desk.graph, &about("desk:created")).await, ["2026-01-01T00:00:00Z"]);
    assert_eq!(rows(&desk.graph, &about("scion:updatedAt")).await, ["2026-01-02"]);
    assert_eq!(rows(&desk.graph, &about("scion:stream")).await, ["tickets"]);
    assert_eq!(rows(&desk.graph, &about("scion:connector")).await, ["desk"]);
    assert_eq!(rows(&desk.graph, &about("scion:sourceUri")).await, ["mcp-tool://desk/list/1^^anyURI"]);
    assert_eq!(rows(&desk.graph, &about("cp:governedBy")).await, ["contract:desk#Ticket"]);
    let QueryAnswer::Graph { triples, .. } = query(&desk.graph, "DESCRIBE <urn:scion:desk:tickets:1>").await else {
        panic!("not a graph")
    };
    assert_eq!(triples.len(), 7 + 3 + 4, "{triples:#?}");
    assert!(triples.iter().all(|triple| triple.subject == Term::Iri("urn:scion:desk:tickets:1".to_owned())));
}

#[tokio::test]
async fn source_uris_of_every_form_come_back() {
    let desk = desk().await;
    let forms = ["a b", "a%20b", "https://elsewhere.example/a"];
    let uris = ["mcp-tool://desk/list/a b", "mcp-tool://desk/list/a%20b", "https://elsewhere.example/a"];
    let records = forms.iter().zip(uris).enumerate().map(|(n, (_, uri))| {
        let mut record = ticket(if n == 2 { "other" } else { "a b" }, "{}");
        record.provenance.source_uri = uri.to_owned();
        record
    });
    for (step, (record, uri)) in records.zip(uris).enumerate() {
        let id = record.entity.record_id.clone();
        commit(&desk.graph, &full(step as u64 + 1, vec![record])).await;
        let sparql = format!("SELECT ?u {{ ?r scion:recordId \"{id}\" ; scion:sourceUri ?u }}");
        assert_eq!(rows(&desk.graph, &sparql).await, [format!("{uri}^^anyURI")]);
    }
}
