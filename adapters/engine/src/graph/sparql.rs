//! Questions in SPARQL (`wire/engine-protocol.md` 9.1).

use scion_domain::engine::EngineRefusal;
use scion_domain::query::{QueryAnswer, QueryRefusal, QueryRequest, Term, Triple};
use spargebra::{Query, SparqlParser, SparqlSyntaxError};

use super::{Inner, visible};
use crate::client::{Call, Repeats};
use crate::{Body, Value};

/// The longest query, in bytes.
const MAX_QUERY: usize = 1 << 20;
/// Names of classes, properties and relations stand below this IRI in a query.
pub(crate) const BASE: &str = "urn:scion:graph#";

impl Inner {
    /// The engine cuts nothing and names no place of an error, so the query is parsed here first and the rows are counted here. It
    /// gives literals without datatype and language; they come as plain strings.
    pub(super) async fn query(&self, request: &QueryRequest) -> Result<QueryAnswer, QueryRefusal> {
        if request.sparql.len() > MAX_QUERY {
            return Err(QueryRefusal::TooLong { bytes: request.sparql.len(), limit: MAX_QUERY });
        }
        let (form, sparql) = prepare(&request.sparql)?;
        let body = Body::with(
            "Sparql",
            [
                ("query", sparql.into()),
                ("base_iri", BASE.into()),
                ("type_convention", "raw".into()),
                ("explain", false.into()),
            ],
        );
        let timeout = QueryRefusal::Timeout { milliseconds: request.timeout_ms };
        let limit = std::time::Duration::from_millis(request.timeout_ms);
        let call = Call { graph: &self.graph, body, idempotency_key: None, repeats: Repeats::Freely };
        let answer = self.client.read_within(call, limit).await.map_err(|refusal| match refusal {
            EngineRefusal::Opaque { .. } => QueryRefusal::Evaluation,
            EngineRefusal::Timeout { .. } => timeout,
            other => {
                use scion_domain::refusal::Refusal as _;
                QueryRefusal::Store { code: other.engine_code().map_or_else(|| other.code(), |code| code.as_str()) }
            }
        })?;
        read(&answer, form, request.max_rows).ok_or(QueryRefusal::Store { code: "engine_reply_malformed" })
    }
}

#[derive(Clone, Copy)]
enum Form {
    Select,
    Ask,
    Graph,
}

/// Parses a query, and gives the text that is sent.
fn prepare(sparql: &str) -> Result<(Form, String), QueryRefusal> {
    let parsed = SparqlParser::new().parse_query(sparql);
    let query = parsed.map_err(|error| {
        if SparqlParser::new().parse_update(sparql).is_ok_and(|update| !update.operations.is_empty()) {
            return QueryRefusal::Unsupported { feature: "an update" };
        }
        let (line, column) = position(&error);
        QueryRefusal::Syntax { line, column }
    })?;
    if visible::leaves_graph(&query) {
        return Err(QueryRefusal::Unsupported { feature: "SERVICE" });
    }
    let form = match query {
        Query::Select { .. } => Form::Select,
        Query::Ask { .. } => Form::Ask,
        Query::Construct { .. } | Query::Describe { .. } => Form::Graph,
    };
    Ok((form, visible::live(query).to_string()))
}

/// The parser tells the position only in its message, `error at <line>:<column>: …`.
fn position(error: &SparqlSyntaxError) -> (u64, u64) {
    let message = error.to_string();
    let read = || {
        let (line, rest) = message.strip_prefix("error at ")?.split_once(':')?;
        let column: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((line.parse().ok()?, column.parse().ok()?))
    };
    read().unwrap_or((1, 1))
}

fn read(answer: &Value, form: Form, max_rows: usize) -> Option<QueryAnswer> {
    let rows = answer.get("rows").map_or(Some(&[] as &[Value]), Value::as_list)?;
    let cells = |row: &Value| {
        row.as_list()?
            .iter()
            .map(|cell| match cell {
                Value::Nil => Some(None),
                cell => cell.as_text().map(|text| Some(term(text))),
            })
            .collect::<Option<Vec<_>>>()
    };
    let truncated = rows.len() > max_rows;
    let kept = rows.iter().take(max_rows);
    Some(match form {
        Form::Ask => QueryAnswer::Boolean(rows.first()?.as_list()?.first()?.as_text()? == "true"),
        Form::Select => QueryAnswer::Solutions {
            variables: answer
                .get("vars")?
                .as_list()?
                .iter()
                .map(|name| name.as_text().map(str::to_owned))
                .collect::<Option<_>>()?,
            rows: kept.map(cells).collect::<Option<_>>()?,
            truncated,
        },
        Form::Graph => QueryAnswer::Graph {
            triples: kept
                .map(|row| {
                    let mut cells = cells(row)?.into_iter();
                    let mut next = || cells.next().flatten();
                    let (subject, predicate, object) = (next()?, next()?, next()?);
                    let (Term::Iri(predicate) | Term::Blank(predicate) | Term::Literal { value: predicate, .. }) =
                        predicate;
                    Some(Triple { subject, predicate, object })
                })
                .collect::<Option<_>>()?,
            truncated,
        },
    })
}

fn term(text: &str) -> Term {
    match text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
        Some(iri) => Term::Iri(iri.to_owned()),
        None => Term::Literal { value: text.to_owned(), language: None, datatype: None },
    }
}
