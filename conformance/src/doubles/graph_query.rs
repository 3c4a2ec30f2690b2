//! Wrong graphs. They know the suite's own queries and nothing else, which is enough to break each check.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest, Term, Triple};
use scion_ports::GraphQuery;

use crate::suites::graph_query::GraphFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFlaw {
    /// Nothing; a scripted graph that passes.
    None,
    /// ASK is always true.
    AlwaysTrue,
    /// Takes updates.
    TakesUpdates,
    /// Syntax errors have no place.
    NoPlace,
    /// Sees the first state for ever.
    Stale,
    /// Cuts silently.
    SilentCut,
    /// Never ends.
    Endless,
    /// Shows withdrawn ends.
    ShowsWithdrawn,
}

impl GraphFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::AlwaysTrue,
        Self::TakesUpdates,
        Self::NoPlace,
        Self::Stale,
        Self::SilentCut,
        Self::Endless,
        Self::ShowsWithdrawn,
    ];
}

const SUBJECT: &str = "urn:double#subject";
const BLOCKS: &str = "urn:double#blocks";

#[derive(Debug)]
struct ScriptedGraph {
    flaw: GraphFlaw,
    added: Arc<AtomicBool>,
}

fn text(value: &str) -> Term {
    Term::Literal { value: value.into(), language: None, datatype: None }
}

fn iri(name: &str) -> Term {
    Term::Iri(format!("urn:double:{name}"))
}

impl ScriptedGraph {
    fn rows(&self, sparql: &str) -> Vec<Term> {
        let withdrawn = self.flaw == GraphFlaw::ShowsWithdrawn;
        let added = self.added.load(Ordering::Relaxed) && self.flaw != GraphFlaw::Stale;
        if sparql.starts_with("SELECT ?s ") {
            let mut rows = vec![text("one"), text("two")];
            rows.extend(added.then(|| text("four")));
            rows
        } else if sparql.starts_with("SELECT ?t ") {
            vec![iri("a"), iri("b")]
        } else if sparql.starts_with("SELECT ?b ") {
            let mut rows = vec![iri("b")];
            rows.extend(withdrawn.then(|| iri("c")));
            rows
        } else {
            vec![iri("a")]
        }
    }
}

#[async_trait]
impl GraphQuery for ScriptedGraph {
    async fn query(&self, request: &QueryRequest) -> Result<QueryAnswer, QueryRefusal> {
        let sparql = request.sparql.as_str();
        if sparql.contains("COUNT") {
            let wait = if self.flaw == GraphFlaw::Endless { 3_600_000 } else { request.timeout_ms };
            tokio::time::sleep(Duration::from_millis(wait)).await;
            return Err(QueryRefusal::Timeout { milliseconds: request.timeout_ms });
        }
        if sparql.ends_with("?p }") {
            let line = if self.flaw == GraphFlaw::NoPlace { 0 } else { 2 };
            return Err(QueryRefusal::Syntax { line, column: 15 });
        }
        if ["INSERT", "DELETE", "DROP"].iter().any(|word| sparql.starts_with(word)) || sparql.contains("SERVICE") {
            if self.flaw == GraphFlaw::TakesUpdates {
                return Ok(QueryAnswer::Boolean(true));
            }
            return Err(QueryRefusal::Unsupported { feature: "update" });
        }
        if sparql.starts_with("ASK") {
            return Ok(QueryAnswer::Boolean(self.flaw == GraphFlaw::AlwaysTrue || sparql.contains("\"one\"")));
        }
        if sparql.starts_with("CONSTRUCT") || sparql.starts_with("DESCRIBE") {
            let triple =
                |name: &str, value: &str| Triple { subject: iri(name), predicate: SUBJECT.into(), object: text(value) };
            return Ok(QueryAnswer::Graph { triples: vec![triple("a", "one"), triple("b", "two")], truncated: false });
        }
        let mut rows = self.rows(sparql);
        let truncated = rows.len() > request.max_rows && self.flaw != GraphFlaw::SilentCut;
        rows.truncate(request.max_rows);
        let rows = rows.into_iter().map(|term| vec![Some(term)]).collect();
        Ok(QueryAnswer::Solutions { variables: vec!["x".into()], rows, truncated })
    }
}

/// A fixture of flawed graphs.
#[derive(Debug)]
pub struct FlawedGraphs {
    flaw: GraphFlaw,
    added: std::sync::Mutex<Arc<AtomicBool>>,
}

impl FlawedGraphs {
    /// With a flaw.
    pub fn new(flaw: GraphFlaw) -> Self {
        Self { flaw, added: std::sync::Mutex::default() }
    }
}

#[async_trait]
impl GraphFixture for FlawedGraphs {
    async fn open(&self) -> Arc<dyn GraphQuery> {
        let added = Arc::new(AtomicBool::new(false));
        *self.added.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = added.clone();
        Arc::new(ScriptedGraph { flaw: self.flaw, added })
    }

    async fn add(&self) {
        self.added.lock().unwrap_or_else(std::sync::PoisonError::into_inner).store(true, Ordering::Relaxed);
    }

    fn subject_property(&self) -> String {
        SUBJECT.into()
    }

    fn blocks_property(&self) -> String {
        BLOCKS.into()
    }
}
