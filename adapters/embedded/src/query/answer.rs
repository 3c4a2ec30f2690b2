//! One query from text to answer, on the query's own thread.

use std::rc::Rc;
use std::time::Duration;

use oxrdf::{NamedOrBlankNode, Term as RdfTerm};
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest, Term, Triple};
use spareval::{QueryEvaluationError, QueryEvaluator, QueryResults};
use spargebra::{Query, SparqlParser, SparqlSyntaxError};

use super::dataset::GraphDataset;
use super::snapshot::{ReadError, Snapshot};
use super::{Stop, prefixes, shape};
use crate::readers::Readers;

pub(super) fn evaluate(
    readers: &Readers,
    stop: &Stop,
    request: &QueryRequest,
    waited: Duration,
) -> Result<QueryAnswer, QueryRefusal> {
    let begin = || Snapshot::begin(readers.take()?, stop.clone());
    let snapshot = Rc::new(begin().map_err(|failure| failure.into_query(waited))?);
    let outcome = over(&snapshot, stop, request, waited);
    // Everything that borrowed the snapshot is gone by now; a connection that cannot be handed back is closed.
    if let Some(Ok(connection)) = Rc::into_inner(snapshot).map(Snapshot::end) {
        readers.give_back(connection);
    }
    outcome
}

fn over(
    snapshot: &Rc<Snapshot>,
    stop: &Stop,
    request: &QueryRequest,
    waited: Duration,
) -> Result<QueryAnswer, QueryRefusal> {
    let query = parse(snapshot, &request.sparql)?;
    if let Some(feature) = shape::unsupported(&query) {
        return Err(QueryRefusal::Unsupported { feature });
    }
    let late = || QueryRefusal::Timeout { milliseconds: request.timeout_ms };
    let evaluator = QueryEvaluator::new().with_cancellation_token(stop.token.clone());
    let results = evaluator.prepare(&query).execute(GraphDataset(Rc::clone(snapshot)));
    let answer = results.and_then(|results| collect(results, request.max_rows));
    // A stop inside an expression reads as an unbound value: whatever came out after it is not the answer.
    if stop.is_set() {
        return Err(late());
    }
    answer.map_err(|error| refusal(error, waited, late))
}

fn parse(snapshot: &Snapshot, text: &str) -> Result<Query, QueryRefusal> {
    let mut parser = SparqlParser::new();
    for (prefix, iri) in prefixes::of(snapshot.vocabulary.connectors.values().map(|name| &**name)) {
        // The IRIs are this store's own; one the parser does not take is left undeclared.
        parser = parser.clone().with_prefix(prefix, iri).unwrap_or(parser);
    }
    parser.clone().parse_query(text).map_err(|error| {
        if parser.parse_update(text).is_ok_and(|update| !update.operations.is_empty()) {
            return QueryRefusal::Unsupported { feature: "an update" };
        }
        let (line, column) = position(text, &error);
        QueryRefusal::Syntax { line, column }
    })
}

/// Where the parser stopped, moved back to the start of the word it stopped in. It tells the position only in its message,
/// `error at <line>:<column>: …`.
fn position(text: &str, error: &SparqlSyntaxError) -> (u64, u64) {
    let message = error.to_string();
    let place = message.strip_prefix("error at ").and_then(|rest| {
        let (line, rest) = rest.split_once(':')?;
        let column: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((line.parse::<usize>().ok()?, column.parse::<usize>().ok()?))
    });
    let (line, column) = place.unwrap_or((1, 1));
    let before: Vec<char> = text
        .split('\n')
        .nth(line.saturating_sub(1))
        .unwrap_or_default()
        .chars()
        .take(column.saturating_sub(1))
        .collect();
    let word = before.iter().rev().take_while(|c| c.is_alphanumeric() || **c == '_').count();
    (line as u64, (column.saturating_sub(word)) as u64)
}

fn collect(results: QueryResults<'_>, max_rows: usize) -> Result<QueryAnswer, QueryEvaluationError> {
    match results {
        QueryResults::Boolean(answer) => Ok(QueryAnswer::Boolean(answer)),
        QueryResults::Solutions(mut solutions) => {
            let variables = solutions.variables().iter().map(|variable| variable.as_str().to_owned()).collect();
            let mut rows = Vec::new();
            while let Some(solution) = solutions.next().transpose()? {
                if rows.len() == max_rows {
                    return Ok(QueryAnswer::Solutions { variables, rows, truncated: true });
                }
                rows.push(solution.values().iter().map(|term| term.clone().map(term_of)).collect());
            }
            Ok(QueryAnswer::Solutions { variables, rows, truncated: false })
        }
        QueryResults::Graph(mut found) => {
            let mut triples = Vec::new();
            while let Some(triple) = found.next().transpose()? {
                if triples.len() == max_rows {
                    return Ok(QueryAnswer::Graph { triples, truncated: true });
                }
                triples.push(Triple {
                    subject: match triple.subject {
                        NamedOrBlankNode::NamedNode(node) => Term::Iri(node.into_string()),
                        NamedOrBlankNode::BlankNode(node) => Term::Blank(node.into_string()),
                    },
                    predicate: triple.predicate.into_string(),
                    object: term_of(triple.object),
                });
            }
            Ok(QueryAnswer::Graph { triples, truncated: false })
        }
    }
}

fn term_of(term: RdfTerm) -> Term {
    match term {
        RdfTerm::NamedNode(node) => Term::Iri(node.into_string()),
        RdfTerm::BlankNode(node) => Term::Blank(node.into_string()),
        RdfTerm::Literal(literal) => {
            let (value, datatype, language) = literal.destruct();
            Term::Literal { value, language, datatype: datatype.map(oxrdf::NamedNode::into_string) }
        }
    }
}

fn refusal(error: QueryEvaluationError, waited: Duration, late: impl Fn() -> QueryRefusal) -> QueryRefusal {
    match error {
        QueryEvaluationError::Cancelled => late(),
        QueryEvaluationError::Dataset(inner) => match inner.downcast::<ReadError>().map(|error| *error) {
            Ok(ReadError::Stopped) => late(),
            Ok(ReadError::Failed(failure)) => failure.into_query(waited),
            Err(_) => QueryRefusal::Evaluation,
        },
        QueryEvaluationError::UnsupportedService(_)
        | QueryEvaluationError::UnboundService
        | QueryEvaluationError::InvalidServiceName(_)
        | QueryEvaluationError::Service(_) => QueryRefusal::Unsupported { feature: "SERVICE" },
        QueryEvaluationError::UnsupportedCustomFunction(_)
        | QueryEvaluationError::UnsupportedCustomFunctionArity { .. } => {
            QueryRefusal::Unsupported { feature: "a function that SPARQL 1.1 does not define" }
        }
        _ => QueryRefusal::Evaluation,
    }
}
