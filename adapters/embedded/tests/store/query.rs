//! SPARQL: forms, joins, bounds and refusals.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use scion_domain::model::IngestMode;
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest};
use scion_ports::GraphQuery;

use crate::support::*;

async fn filled() -> Desk {
    let desk = desk().await;
    let people = ["ada", "bob"].map(|id| record("people", "Person", id, &format!(r#"{{"name":"{id} of desk"}}"#)));
    commit(&desk.graph, &batch("people", IngestMode::Full, 1, people.to_vec())).await;
    let tickets = (0..300).map(|n| {
        let status = ["open", "shut", "wait"][n % 3];
        ticket(
            &format!("t{n}"),
            &format!(r#"{{"title":"Ticket {n}","status":"{status}","points":{n},"tags":["k{}","all"]}}"#, n % 7),
        )
    });
    let mut first = full(1, tickets.collect());
    first.relationships = (0..300)
        .map(|n| edge(&format!("t{n}"), "owner", "people", if n % 2 == 0 { "ada" } else { "bob" }))
        .chain((1..300).map(|n| edge(&format!("t{n}"), "parent", "tickets", &format!("t{}", n / 2))))
        .collect();
    commit(&desk.graph, &first).await;
    desk
}

async fn ask(desk: &Desk, sparql: &str) -> Result<QueryAnswer, QueryRefusal> {
    let request = QueryRequest { sparql: sparql.to_owned(), max_rows: 1000, timeout_ms: 20_000 };
    desk.graph.query(&request).await
}

#[tokio::test]
async fn the_four_forms_answer() {
    let desk = filled().await;
    assert_eq!(ask(&desk, "ASK { ?r desk:title \"Ticket 7\" }").await, Ok(QueryAnswer::Boolean(true)));
    assert_eq!(ask(&desk, "ASK { ?r desk:title \"Ticket 700\" }").await, Ok(QueryAnswer::Boolean(false)));
    let Ok(QueryAnswer::Graph { triples, truncated }) =
        ask(&desk, "CONSTRUCT { ?p desk:owns ?r } WHERE { ?r desk:owner ?p ; desk:points ?n FILTER(?n < 10) }").await
    else {
        panic!("not a graph")
    };
    assert_eq!((triples.len(), truncated), (10, false));
    let Ok(QueryAnswer::Graph { triples, .. }) = ask(&desk, "DESCRIBE ?p { ?p desk:name \"ada of desk\" }").await
    else {
        panic!("not a graph")
    };
    // Class, contract, id, stream, connector, source URI, name.
    assert_eq!(triples.len(), 7);
}

/// Answers do not depend on which pattern the evaluator starts from, nor on the way a pattern is read.
#[tokio::test]
async fn joins_filters_paths_and_aggregates_answer() {
    let desk = filled().await;
    let cases = [
        ("SELECT (COUNT(*) AS ?n) { ?r a desk:Ticket }", "300^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r a ?class }", "302^^integer"),
        ("SELECT (COUNT(DISTINCT ?r) AS ?n) { ?r ?p ?o }", "302^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:owner ?o }", "300^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:owner <urn:scion:desk:people:ada> }", "150^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r ?p <urn:scion:desk:people:ada> }", "150^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:status \"open\" ; desk:owner/desk:name \"ada of desk\" }", "50^^integer"),
        (
            "SELECT (COUNT(*) AS ?n) { ?r desk:status \"open\" . FILTER NOT EXISTS { ?r desk:owner <urn:scion:desk:people:ada> } }",
            "50^^integer",
        ),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:points ?p FILTER(?p >= 290) }", "10^^integer"),
        ("SELECT (COUNT(*) AS ?n) { <urn:scion:desk:tickets:t200> desk:parent* ?a }", "9^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?a desk:parent+ <urn:scion:desk:tickets:t150> }", "0^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:tag \"k3\" }", "43^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:tag ?t }", "600^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r scion:stream \"people\" }", "2^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r cp:governedBy <contract:desk#Person> }", "2^^integer"),
        (
            "SELECT (COUNT(*) AS ?n) { ?r desk:owner ?o OPTIONAL { ?r desk:parent ?p } FILTER(!BOUND(?p)) }",
            "1^^integer",
        ),
        ("SELECT (SUM(?p) AS ?n) { ?r desk:points ?p ; desk:status \"wait\" }", "15050^^integer"),
        ("SELECT (COUNT(*) AS ?n) { { ?r desk:status \"open\" } UNION { ?r desk:status \"shut\" } }", "200^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r desk:status \"open\" MINUS { ?r desk:tag \"k0\" } }", "85^^integer"),
        ("SELECT (COUNT(*) AS ?n) { VALUES ?id { \"t1\" \"t2\" \"nobody\" } ?r scion:recordId ?id }", "2^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r <https://nobody.example/p> ?o }", "0^^integer"),
        ("SELECT (COUNT(*) AS ?n) { ?r ?p \"all\" }", "300^^integer"),
        ("SELECT (COUNT(*) AS ?n) { \"all\" ?p ?o }", "0^^integer"),
        ("SELECT ?n { ?r desk:title \"Ticket 42\" ; desk:points ?n }", "42^^integer"),
    ];
    for (sparql, expected) in cases {
        assert_eq!(rows(&desk.graph, sparql).await, [expected], "{sparql}");
    }
    let grouped = rows(&desk.graph, "SELECT ?s (COUNT(?r) AS ?n) { ?r desk:status ?s } GROUP BY ?s ORDER BY ?s").await;
    assert_eq!(grouped, ["open | 100^^integer", "shut | 100^^integer", "wait | 100^^integer"]);
}

#[tokio::test]
async fn rows_are_bounded_and_say_so() {
    let desk = filled().await;
    let request = |sparql: &str, max_rows| QueryRequest { sparql: sparql.to_owned(), max_rows, timeout_ms: 20_000 };
    let all = "SELECT ?r { ?r a desk:Ticket }";
    for (max_rows, expected, more) in [(0, 0, true), (299, 299, true), (300, 300, false), (301, 300, false)] {
        let answer = desk.graph.query(&request(all, max_rows)).await.unwrap();
        let QueryAnswer::Solutions { rows, truncated, .. } = answer else { panic!("not a SELECT") };
        assert_eq!((rows.len(), truncated), (expected, more));
    }
    let answer = desk.graph.query(&request("CONSTRUCT WHERE { ?r desk:title ?t }", 10)).await.unwrap();
    let QueryAnswer::Graph { triples, truncated } = answer else { panic!("not a graph") };
    assert_eq!((triples.len(), truncated), (10, true));
}

#[tokio::test]
async fn what_is_not_offered_is_refused_by_name() {
    let desk = filled().await;
    let cases = [
        ("INSERT DATA { <a:b> <a:b> 1 }", "update"),
        ("DELETE WHERE { ?s ?p ?o }", "update"),
        ("SELECT * { SERVICE <https://elsewhere.example/> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * { SERVICE SILENT <https://elsewhere.example/> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE SILENT <https://e.example/> { ?s ?p ?o } } }", "SERVICE"),
        ("SELECT * { GRAPH ?g { ?s ?p ?o } }", "GRAPH"),
        ("SELECT * FROM <https://g.example/> { ?s ?p ?o }", "FROM"),
        ("SELECT (<https://f.example/>(1) AS ?x) {}", "function"),
    ];
    for (sparql, word) in cases {
        match ask(&desk, sparql).await {
            Err(QueryRefusal::Unsupported { feature }) => assert!(feature.contains(word), "{sparql}: {feature}"),
            other => panic!("{sparql}: {other:?}"),
        }
    }
    assert_eq!(live(&desk.graph).await.len(), 300);
}

#[tokio::test]
async fn syntax_errors_point_at_their_place() {
    let desk = desk().await;
    let trailing = ask(&desk, "SELECT *\n{ ?s ?p ?o } nonsense").await;
    assert_eq!(trailing, Err(QueryRefusal::Syntax { line: 2, column: 14 }));
    for bad in ["", "SELECT", "SELECT * { ?s nobody:p ?o }", "\u{0}", "SELECT * { \"\"\"", "🦀"] {
        match ask(&desk, bad).await {
            Err(QueryRefusal::Syntax { line, column }) => assert!(line > 0 && column > 0, "{bad}"),
            other => panic!("{bad}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn extreme_queries_end_with_a_refusal_and_not_with_the_process() {
    let desk = desk().await;
    let chain = |open: &str, item: &str, count: usize, close: &str| format!("{open}{}{close}", item.repeat(count));
    let cases = HashMap::from([
        ("brackets", chain("SELECT * { FILTER(", "(", 30_000, "")),
        ("groups", chain("SELECT * ", "{", 30_000, "")),
        ("nots", chain("SELECT * { FILTER(", "!", 60_000, "true) }")),
        ("sum", chain("SELECT (1", "+1", 30_000, " AS ?x) {}")),
        ("or", chain("SELECT * { FILTER(true", "||true", 10_000, ") }")),
        ("unions", chain("SELECT * { {}", " UNION {}", 6_000, " }")),
        ("optionals", chain("SELECT * { ", "OPTIONAL{?a ?b ?c}", 500, " }")),
        ("path", chain("SELECT * { ?s <a:b>", "/<a:b>", 8_000, " ?o }")),
        ("alternatives", chain("SELECT * { ?s <a:b>", "|<a:b>", 8_000, " ?o }")),
        ("long", " ".repeat(70_000)),
    ]);
    for (name, sparql) in cases {
        let request = QueryRequest { sparql, max_rows: 10, timeout_ms: 3_000 };
        let start = Instant::now();
        let _ = desk.graph.query(&request).await;
        assert!(start.elapsed() < Duration::from_secs(5), "{name}");
    }
}

#[tokio::test]
async fn a_query_ends_at_its_timeout() {
    let desk = filled().await;
    for sparql in [
        "SELECT (COUNT(*) AS ?n) { ?a desk:points ?x . ?b desk:points ?y . ?c desk:points ?z . ?d desk:points ?w FILTER(?x + ?y + ?z + ?w < 0) }",
        "SELECT * { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z FILTER(STRLEN(CONCAT(STR(?x), STR(?y), STR(?z))) < 0) }",
    ] {
        let request = QueryRequest { sparql: sparql.to_owned(), max_rows: 10, timeout_ms: 200 };
        let start = Instant::now();
        assert_eq!(desk.graph.query(&request).await, Err(QueryRefusal::Timeout { milliseconds: 200 }));
        assert!(start.elapsed() < Duration::from_secs(2));
    }
    assert_eq!(live(&desk.graph).await.len(), 300, "the store still answers");
}
