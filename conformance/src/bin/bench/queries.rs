//! SPARQL over the store of the last size, in process: point lookups and a filtered scan.

use std::path::Path;
use std::time::Instant;

use scion_domain::query::{QueryAnswer, QueryRequest};
use scion_embedded::EmbeddedGraph;
use scion_ports::GraphQuery;

use crate::measure::median;

const ROUNDS: usize = 11;

#[allow(clippy::print_stdout, reason = "this is a command-line program")]
pub(crate) fn run(store: &Path) -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let graph = EmbeddedGraph::open_read_only(store).map_err(|refusal| refusal.to_string())?;
    println!("\n| query | rows | median ms |\n|---|---|---|");
    let found = runtime.block_on(ask(&graph, "SELECT ?r ?t WHERE { ?r seeded_source:title ?t } LIMIT 1"))?;
    let QueryAnswer::Solutions { rows, .. } = found else { return Err("no solutions".into()) };
    let row = rows.first().ok_or("the store is empty")?;
    let (Some(scion_domain::query::Term::Iri(record)), Some(scion_domain::query::Term::Literal { value: title, .. })) =
        (row[0].clone(), row[1].clone())
    else {
        return Err("the first record has no title".into());
    };
    for (name, sparql) in [
        ("point lookup by id", format!("SELECT ?p ?o WHERE {{ <{record}> ?p ?o }}")),
        ("point lookup by indexed value", format!("SELECT ?r WHERE {{ ?r seeded_source:title \"{title}\" }}")),
        (
            "filtered scan, counted",
            "SELECT (COUNT(?r) AS ?n) WHERE { ?r seeded_source:priority ?p . FILTER(?p > 5) }".to_owned(),
        ),
        (
            "filtered scan by type, two properties",
            "SELECT (COUNT(?r) AS ?n) WHERE { ?r a seeded_source:Item ; seeded_source:priority ?p ; seeded_source:status \"open\" . FILTER(?p > 5) }"
                .to_owned(),
        ),
    ] {
        let mut times = Vec::new();
        let mut count = 0;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            let answer = runtime.block_on(ask(&graph, &sparql))?;
            times.push(started.elapsed().as_secs_f64() * 1e3);
            if let QueryAnswer::Solutions { rows, .. } = answer {
                count = rows.len();
            }
        }
        println!("| {name} | {count} | {:.2} |", median(&mut times));
    }
    Ok(())
}

async fn ask(graph: &EmbeddedGraph, sparql: &str) -> Result<QueryAnswer, String> {
    let request = QueryRequest { sparql: sparql.to_owned(), max_rows: 1000, timeout_ms: 120_000 };
    graph.query(&request).await.map_err(|refusal| refusal.to_string())
}
