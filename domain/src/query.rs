//! Questions to a graph and their answers, free of any SPARQL library.

use crate::refusals;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryRequest {
    /// SPARQL 1.1 text: SELECT, ASK, CONSTRUCT or DESCRIBE.
    pub sparql: String,
    /// The most rows or triples to return; reaching it is reported, never silent.
    pub max_rows: usize,
    /// The most time to spend, in milliseconds.
    pub timeout_ms: u64,
}

/// An RDF term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// An IRI.
    Iri(String),
    /// A blank node label.
    Blank(String),
    /// A literal.
    Literal {
        /// Its lexical form.
        value: String,
        /// Its language tag.
        language: Option<String>,
        /// Its datatype IRI; `None` for a plain string.
        datatype: Option<String>,
    },
}

/// An RDF triple.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Triple {
    /// Subject.
    pub subject: Term,
    /// Predicate IRI.
    pub predicate: String,
    /// Object.
    pub object: Term,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryAnswer {
    /// To SELECT.
    Solutions {
        /// Column names.
        variables: Vec<String>,
        /// Rows, one entry per column.
        rows: Vec<Vec<Option<Term>>>,
        /// `max_rows` was reached and there is more.
        truncated: bool,
    },
    /// To ASK.
    Boolean(bool),
    /// To CONSTRUCT and DESCRIBE.
    Graph {
        /// The triples.
        triples: Vec<Triple>,
        /// `max_rows` was reached and there is more.
        truncated: bool,
    },
}

refusals! {
    /// Why a question has no answer.
    pub enum QueryRefusal {
        /// Not SPARQL.
        Syntax { line: u64, column: u64 } => "query_syntax", CallerMistake, Never,
            "not SPARQL 1.1 at line {line}, column {column}", "fix the query there";
        /// A feature that is not offered, for example SERVICE or an update.
        Unsupported { feature: &'static str } => "query_unsupported", CallerMistake, Never,
            "{feature} is not offered", "rewrite the query without it";
        /// It took too long.
        Timeout { milliseconds: u64 } => "query_timeout", Unavailable, Never,
            "the query took longer than {milliseconds} ms", "make the pattern more selective or raise the limit";
        /// The query is longer than allowed.
        TooLong { bytes: usize, limit: usize } => "query_too_long", CallerMistake, Never,
            "the query has {bytes} bytes; at most {limit} are read", "shorten it";
        /// The evaluation failed, for example on a type error that SPARQL does not turn into an unbound value.
        Evaluation => "query_evaluation", CallerMistake, Never,
            "the query cannot be evaluated", "check its expressions and types";
        /// The store does not answer.
        Store { code: &'static str } => "query_store", Unavailable, Later,
            "the store refuses: {code}", "see `scion doctor`";
    }
}
