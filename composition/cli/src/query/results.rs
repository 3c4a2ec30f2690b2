//! Answers in the SPARQL 1.1 result formats.

use std::io;

use oxrdf::{BlankNode, Literal, NamedNode, Variable};
use scion_domain::command::CommandRefusal;
use scion_domain::query::{QueryAnswer, Term};
use sparesults::{QueryResultsFormat, QueryResultsSerializer};

/// SPARQL 1.1 Query Results JSON Format, with a final newline.
pub(super) fn json(answer: &QueryAnswer) -> Result<Vec<u8>, CommandRefusal> {
    let mut out = serialize(answer, QueryResultsFormat::Json, "json")?;
    out.push(b'\n');
    Ok(out)
}

/// SPARQL 1.1 Query Results CSV Format.
pub(super) fn csv(answer: &QueryAnswer) -> Result<Vec<u8>, CommandRefusal> {
    serialize(answer, QueryResultsFormat::Csv, "csv")
}

fn serialize(answer: &QueryAnswer, format: QueryResultsFormat, name: &'static str) -> Result<Vec<u8>, CommandRefusal> {
    // Writing to memory does not fail.
    let failed = |_: io::Error| CommandRefusal::Output { what: "the answer has no form in this format" };
    let serializer = QueryResultsSerializer::from_format(format);
    match answer {
        QueryAnswer::Boolean(value) => serializer.serialize_boolean_to_writer(Vec::new(), *value).map_err(failed),
        QueryAnswer::Solutions { variables, rows, .. } => {
            let variables: Vec<Variable> = variables.iter().map(Variable::new_unchecked).collect();
            let mut out = serializer.serialize_solutions_to_writer(Vec::new(), variables.clone()).map_err(failed)?;
            for row in rows {
                let terms: Vec<Option<oxrdf::Term>> = row.iter().map(|cell| cell.as_ref().map(term)).collect();
                let bound =
                    variables.iter().zip(&terms).filter_map(|(name, term)| Some((name.as_ref(), term.as_ref()?)));
                out.serialize(bound.map(|(name, term)| (name, term.as_ref()))).map_err(failed)?;
            }
            out.finish().map_err(failed)
        }
        QueryAnswer::Graph { .. } => Err(CommandRefusal::FormatUnfit { format: name, shape: "triples" }),
    }
}

/// The graph has checked its terms.
pub(super) fn term(term: &Term) -> oxrdf::Term {
    match term {
        Term::Iri(iri) => NamedNode::new_unchecked(iri).into(),
        Term::Blank(label) => BlankNode::new_unchecked(label).into(),
        Term::Literal { value, language: Some(language), .. } => {
            Literal::new_language_tagged_literal_unchecked(value, language).into()
        }
        Term::Literal { value, datatype: Some(datatype), .. } => {
            Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype)).into()
        }
        Term::Literal { value, .. } => Literal::new_simple_literal(value).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> QueryAnswer {
        let literal = |value: &str, language: Option<&str>, datatype: Option<&str>| {
            Some(Term::Literal {
                value: value.into(),
                language: language.map(Into::into),
                datatype: datatype.map(Into::into),
            })
        };
        QueryAnswer::Solutions {
            variables: vec!["a".into(), "b".into()],
            rows: vec![
                vec![Some(Term::Iri("urn:x".into())), None],
                vec![
                    literal("a\"b,\nc", None, None),
                    literal("1", None, Some("http://www.w3.org/2001/XMLSchema#integer")),
                ],
                vec![literal("hallo", Some("de"), None), Some(Term::Blank("b0".into()))],
            ],
            truncated: false,
        }
    }

    #[test]
    fn solutions_are_standard_json_and_csv() {
        let json: serde_json::Value = serde_json::from_slice(&json(&answer()).unwrap()).unwrap();
        assert_eq!(json["head"]["vars"], serde_json::json!(["a", "b"]));
        assert_eq!(json["results"]["bindings"][0], serde_json::json!({"a": {"type": "uri", "value": "urn:x"}}));
        assert_eq!(json["results"]["bindings"][2]["a"]["xml:lang"], "de");
        let csv = String::from_utf8(csv(&answer()).unwrap()).unwrap();
        assert_eq!(csv, "a,b\r\nurn:x,\r\n\"a\"\"b,\nc\",1\r\nhallo,_:b0\r\n");
    }

    #[test]
    fn a_format_that_cannot_carry_an_answer_says_so() {
        let graph = QueryAnswer::Graph { triples: vec![], truncated: false };
        assert_eq!(csv(&graph), Err(CommandRefusal::FormatUnfit { format: "csv", shape: "triples" }));
        assert_eq!(json(&QueryAnswer::Boolean(true)).unwrap(), b"{\"head\":{},\"boolean\":true}\n");
    }
}
