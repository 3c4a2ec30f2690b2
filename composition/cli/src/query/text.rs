//! Answers for people, and triples as text.

use std::fmt::Write as _;

use scion_domain::command::CommandRefusal;
use scion_domain::query::{QueryAnswer, Term};

use super::results;
use super::shorten::Prefixes;
use crate::table::render;

/// The longest cell, in characters.
const CELL: usize = 80;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// A table with the number of its rows below.
pub(super) fn table(answer: &QueryAnswer, prefixes: &Prefixes, limit: u32) -> String {
    let mut cut_cells = 0usize;
    let mut cell = |text: String| {
        if text.chars().count() <= CELL {
            return text;
        }
        cut_cells += 1;
        text.chars().take(CELL - 1).chain(['…']).collect()
    };
    let (mut out, count, noun, truncated) = match answer {
        QueryAnswer::Boolean(value) => return format!("{}\n", if *value { "yes" } else { "no" }),
        QueryAnswer::Solutions { variables, rows, truncated } => {
            let header: Vec<&str> = variables.iter().map(String::as_str).collect();
            let numbers: Vec<usize> = (0..variables.len()).filter(|column| all_numbers(rows, *column)).collect();
            let shown: Vec<Vec<String>> = rows
                .iter()
                .map(|row| {
                    row.iter().map(|term| cell(term.as_ref().map_or_else(String::new, |t| show(t, prefixes)))).collect()
                })
                .collect();
            let text = if header.is_empty() { String::new() } else { render(&header, &shown, &numbers) };
            (text, rows.len(), "row", *truncated)
        }
        QueryAnswer::Graph { triples, truncated } => {
            let rows: Vec<Vec<String>> = triples
                .iter()
                .map(|triple| {
                    let subject = show(&triple.subject, prefixes);
                    let predicate = prefixes.shorten(&triple.predicate);
                    vec![cell(subject), cell(predicate), cell(show(&triple.object, prefixes))]
                })
                .collect();
            (render(&["subject", "predicate", "object"], &rows, &[]), triples.len(), "triple", *truncated)
        }
    };
    let s = if count == 1 { "" } else { "s" };
    // Writing to a String cannot fail.
    let _ = write!(out, "({count} {noun}{s}");
    if truncated {
        let _ = write!(out, ", truncated: there are more than {limit}; raise --limit");
    }
    if cut_cells > 0 {
        let _ = write!(out, "; {cut_cells} long values end in …; csv and json have them whole");
    }
    out.push_str(")\n");
    out
}

fn all_numbers(rows: &[Vec<Option<Term>>], column: usize) -> bool {
    let numeric = |term: &Option<Term>| match term {
        Some(Term::Literal { datatype: Some(datatype), .. }) => {
            let name = datatype.strip_prefix(XSD);
            matches!(name, Some("integer" | "decimal" | "double" | "float" | "long" | "int"))
        }
        Some(_) => false,
        None => true,
    };
    !rows.is_empty() && rows.iter().all(|row| row.get(column).is_some_and(numeric))
}

/// A term without what only machines need: no quotes, no datatype.
fn show(term: &Term, prefixes: &Prefixes) -> String {
    match term {
        Term::Iri(iri) => prefixes.shorten(iri),
        Term::Blank(label) => format!("_:{label}"),
        Term::Literal { value, language: Some(language), .. } => format!("{value}@{language}"),
        Term::Literal { value, .. } => value.clone(),
    }
}

/// The triples, one a line: N-Triples, which is Turtle.
pub(super) fn triples(answer: &QueryAnswer) -> Result<String, CommandRefusal> {
    let unfit = |shape| Err(CommandRefusal::FormatUnfit { format: "turtle", shape });
    match answer {
        QueryAnswer::Solutions { .. } => unfit("rows"),
        QueryAnswer::Boolean(_) => unfit("a yes or no"),
        QueryAnswer::Graph { triples, .. } => {
            let mut out = String::new();
            for triple in triples {
                let predicate = results::term(&Term::Iri(triple.predicate.clone()));
                let _ =
                    writeln!(out, "{} {predicate} {} .", results::term(&triple.subject), results::term(&triple.object));
            }
            Ok(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use scion_domain::query::Triple;

    use super::*;

    fn text(value: &str) -> Term {
        Term::Literal { value: value.into(), language: None, datatype: None }
    }

    #[test]
    fn a_table_counts_its_rows_and_names_every_cut() {
        let prefixes = Prefixes::of(["desk"]);
        let number =
            Some(Term::Literal { value: "12".into(), language: None, datatype: Some(format!("{XSD}integer")) });
        let answer = QueryAnswer::Solutions {
            variables: vec!["class".into(), "n".into()],
            rows: vec![
                vec![Some(Term::Iri("urn:scion:desk#T".into())), number],
                vec![Some(text(&"x".repeat(100))), None],
            ],
            truncated: true,
        };
        let table = table(&answer, &prefixes, 2);
        assert!(table.contains("desk:T") && table.contains('…'), "{table}");
        assert!(
            table.ends_with(
                "(2 rows, truncated: there are more than 2; raise --limit; 1 long values end in …; csv and json have them whole)\n"
            ),
            "{table}"
        );
        assert_eq!(super::table(&QueryAnswer::Boolean(true), &prefixes, 1), "yes\n");
    }

    #[test]
    fn triples_are_lines_with_everything_escaped() {
        let subject = Term::Iri("urn:a".into());
        let object = text("line\n\"two\"");
        let graph = QueryAnswer::Graph {
            triples: vec![Triple { subject, predicate: "urn:p".into(), object }],
            truncated: false,
        };
        assert_eq!(triples(&graph).unwrap(), "<urn:a> <urn:p> \"line\\n\\\"two\\\"\" .\n");
        assert!(triples(&QueryAnswer::Boolean(false)).is_err());
    }
}
