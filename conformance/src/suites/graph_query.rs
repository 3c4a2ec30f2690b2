//! The suite of [`GraphQuery`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest, Term};
use scion_ports::GraphQuery;

use crate::report::Report;
use crate::{ensure, must};

type Checked = Result<(), String>;

/// Makes graphs to test. Each holds the live tickets `a` (subject `one`) and `b` (subject `two`), the withdrawn ticket `c`, the
/// edge `a blocks b`, and edges from `a` to `c` and to a record that never came, where the store keeps such edges.
#[async_trait]
pub trait GraphFixture: Send + Sync {
    /// A graph as described.
    async fn open(&self) -> Arc<dyn GraphQuery>;

    /// Commits the ticket `d`, from elsewhere, while the graph is open.
    async fn add(&self);

    /// The IRI of the property `subject`.
    fn subject_property(&self) -> String;

    /// The IRI of the relation `blocks`.
    fn blocks_property(&self) -> String;
}

/// Runs every check.
pub async fn run(fixture: &dyn GraphFixture) -> Report {
    let mut report = Report::new("GraphQuery");
    report.add("O1", "select_ask_construct_describe_are_answered", forms(fixture).await);
    report.add("O1", "updates_and_service_are_refused", refused(fixture).await);
    report.add("O1", "bad_syntax_has_a_place", syntax(fixture).await);
    report.add("O2", "a_later_query_sees_a_later_commit", later(fixture).await);
    report.add("O3", "rows_are_bounded_and_the_cut_is_named", bounded(fixture).await);
    report.add("O5", "withdrawn_records_and_dangling_edges_are_invisible", invisible(fixture).await);
    // Last: a store whose evaluator cannot be stopped is busy for ever after it.
    report.add("O4", "an_endless_query_ends_in_time", endless(fixture).await);
    report
}

fn ask_for(sparql: String) -> QueryRequest {
    QueryRequest { sparql, max_rows: 1000, timeout_ms: 10_000 }
}

async fn column(graph: &Arc<dyn GraphQuery>, sparql: String) -> Result<Vec<String>, String> {
    match graph.query(&ask_for(sparql)).await {
        Ok(QueryAnswer::Solutions { rows, .. }) => {
            let mut values: Vec<String> = rows
                .into_iter()
                .filter_map(|row| row.into_iter().next().flatten())
                .map(|term| match term {
                    Term::Iri(text) | Term::Blank(text) | Term::Literal { value: text, .. } => text,
                })
                .collect();
            values.sort_unstable();
            Ok(values)
        }
        Ok(other) => Err(format!("a SELECT got {other:?}")),
        Err(refusal) => Err(format!("a SELECT was refused: {refusal}")),
    }
}

async fn subjects(fixture: &dyn GraphFixture, graph: &Arc<dyn GraphQuery>) -> Result<Vec<String>, String> {
    column(graph, format!("SELECT ?s WHERE {{ ?t <{}> ?s }}", fixture.subject_property())).await
}

async fn forms(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    let found = subjects(fixture, &graph).await?;
    ensure!(found == ["one", "two"], "the subjects are {found:?}");
    let property = fixture.subject_property();
    let yes = must!(graph.query(&ask_for(format!("ASK {{ ?t <{property}> \"one\" }}"))).await, "ASK");
    ensure!(yes == QueryAnswer::Boolean(true), "ASK answered {yes:?}");
    let no = must!(graph.query(&ask_for(format!("ASK {{ ?t <{property}> \"none\" }}"))).await, "ASK");
    ensure!(no == QueryAnswer::Boolean(false), "ASK answered {no:?}");
    let construct = format!("CONSTRUCT {{ ?t <urn:x> ?s }} WHERE {{ ?t <{property}> ?s }}");
    match must!(graph.query(&ask_for(construct)).await, "CONSTRUCT") {
        QueryAnswer::Graph { triples, truncated: false } if triples.len() == 2 => {}
        other => return Err(format!("CONSTRUCT answered {other:?}")),
    }
    let describe = format!("DESCRIBE ?t WHERE {{ ?t <{property}> \"one\" }}");
    match must!(graph.query(&ask_for(describe)).await, "DESCRIBE") {
        QueryAnswer::Graph { triples, .. } if triples.iter().any(|triple| triple.predicate == property) => Ok(()),
        other => Err(format!("DESCRIBE answered {other:?}")),
    }
}

async fn refused(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    for sparql in [
        "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "DROP ALL",
        "SELECT ?s WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
    ] {
        if let Ok(answer) = graph.query(&ask_for(sparql.into())).await {
            return Err(format!("`{sparql}` got {answer:?}"));
        }
    }
    let found = subjects(fixture, &graph).await?;
    ensure!(found == ["one", "two"], "an update was carried out: {found:?}");
    Ok(())
}

async fn syntax(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    match graph.query(&ask_for("SELECT ?s\nWHERE { ?s ?p }".into())).await {
        Err(QueryRefusal::Syntax { line: 2, .. }) => Ok(()),
        other => Err(format!("bad syntax got {other:?}")),
    }
}

async fn later(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    let before = subjects(fixture, &graph).await?.len();
    fixture.add().await;
    let after = subjects(fixture, &graph).await?.len();
    ensure!(after == before + 1, "{before} subjects before a commit, {after} after it");
    Ok(())
}

async fn bounded(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    let sparql = format!("SELECT ?s WHERE {{ ?t <{}> ?s }}", fixture.subject_property());
    for (max_rows, expected, cut) in [(1, 1, true), (2, 2, false)] {
        let request = QueryRequest { max_rows, ..ask_for(sparql.clone()) };
        match must!(graph.query(&request).await, "SELECT") {
            QueryAnswer::Solutions { rows, truncated, .. } => {
                ensure!(rows.len() == expected && truncated == cut, "{} rows, truncated {truncated}", rows.len());
            }
            other => return Err(format!("a SELECT got {other:?}")),
        }
    }
    Ok(())
}

async fn endless(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    // A product of many copies of the whole graph, counted: practically without end.
    let patterns = (0..12).map(|n| format!("?s{n} ?p{n} ?o{n}")).collect::<Vec<_>>().join(" . ");
    let request = QueryRequest {
        sparql: format!("SELECT (COUNT(*) AS ?n) WHERE {{ {patterns} }}"),
        max_rows: 10,
        timeout_ms: 200,
    };
    let started = Instant::now();
    let answer = tokio::time::timeout(Duration::from_secs(20), graph.query(&request)).await;
    match answer {
        Ok(Err(QueryRefusal::Timeout { .. })) => Ok(()),
        Ok(other) => Err(format!("an endless query got {other:?} after {} ms", started.elapsed().as_millis())),
        Err(_) => Err("an endless query did not end".into()),
    }
}

async fn invisible(fixture: &dyn GraphFixture) -> Checked {
    let graph = fixture.open().await;
    let ends = column(&graph, format!("SELECT ?b WHERE {{ ?a <{}> ?b }}", fixture.blocks_property())).await?;
    ensure!(ends.len() == 1, "the edges lead to {ends:?}");
    let records = column(&graph, format!("SELECT ?t WHERE {{ ?t <{}> ?s }}", fixture.subject_property())).await?;
    ensure!(records.contains(&ends[0]), "an edge leads to something invisible");
    let sources = column(&graph, format!("SELECT ?a WHERE {{ ?a <{}> ?b }}", fixture.blocks_property())).await?;
    ensure!(sources.iter().all(|source| records.contains(source)), "an edge starts at something invisible");
    Ok(())
}
