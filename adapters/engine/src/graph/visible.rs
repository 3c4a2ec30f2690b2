//! A query over what is live. The engine keeps a withdrawn record in the graph and marks it; every pattern is therefore bound to
//! nodes without the mark, so that a query means the same here and in the embedded store.

use oxrdf::{NamedNode, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::sparql::BASE;

/// Whether a query reaches outside the graph.
pub(super) fn leaves_graph(query: &Query) -> bool {
    let mut found = false;
    walk(pattern_of(query), &mut |pattern| found |= matches!(pattern, GraphPattern::Service { .. }));
    found
}

/// The query over live nodes alone.
pub(super) fn live(mut query: Query) -> Query {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = &mut query;
    let whole = std::mem::take(pattern);
    *pattern = rewrite(whole);
    query
}

const fn pattern_of(query: &Query) -> &GraphPattern {
    match query {
        Query::Select { pattern, .. }
        | Query::Construct { pattern, .. }
        | Query::Describe { pattern, .. }
        | Query::Ask { pattern, .. } => pattern,
    }
}

fn walk(pattern: &GraphPattern, see: &mut impl FnMut(&GraphPattern)) {
    see(pattern);
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::LeftJoin { left, right, .. }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            walk(left, see);
            walk(right, see);
        }
        GraphPattern::Filter { inner, expr } => {
            walk(inner, see);
            walk_expression(expr, see);
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Extend { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::Group { inner, .. }
        | GraphPattern::Service { inner, .. } => walk(inner, see),
    }
}

fn walk_expression(expression: &Expression, see: &mut impl FnMut(&GraphPattern)) {
    match expression {
        Expression::Exists(inner) => walk(inner, see),
        Expression::Not(inner) => walk_expression(inner, see),
        Expression::And(one, other) | Expression::Or(one, other) => {
            walk_expression(one, see);
            walk_expression(other, see);
        }
        _ => {}
    }
}

fn rewrite(pattern: GraphPattern) -> GraphPattern {
    let each = |inner: Box<GraphPattern>| Box::new(rewrite(*inner));
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let patterns: Vec<TriplePattern> = patterns
                .into_iter()
                .map(|triple| TriplePattern { subject: named(triple.subject), object: named(triple.object), ..triple })
                .collect();
            let mut nodes: Vec<TermPattern> = Vec::new();
            for node in patterns.iter().flat_map(|triple| [&triple.subject, &triple.object]) {
                if can_be_record(node) && !nodes.contains(node) {
                    nodes.push(node.clone());
                }
            }
            guard(GraphPattern::Bgp { patterns }, nodes)
        }
        GraphPattern::Path { subject, path, object } => {
            let (subject, object) = (named(subject), named(object));
            let nodes = [&subject, &object].into_iter().filter(|node| can_be_record(node)).cloned().collect();
            guard(GraphPattern::Path { subject, path, object }, nodes)
        }
        GraphPattern::Join { left, right } => GraphPattern::Join { left: each(left), right: each(right) },
        GraphPattern::Lateral { left, right } => GraphPattern::Lateral { left: each(left), right: each(right) },
        GraphPattern::LeftJoin { left, right, expression } => GraphPattern::LeftJoin {
            left: each(left),
            right: each(right),
            expression: expression.map(rewrite_expression),
        },
        GraphPattern::Filter { expr, inner } => {
            GraphPattern::Filter { expr: rewrite_expression(expr), inner: each(inner) }
        }
        GraphPattern::Union { left, right } => GraphPattern::Union { left: each(left), right: each(right) },
        GraphPattern::Graph { name, inner } => GraphPattern::Graph { name, inner: each(inner) },
        GraphPattern::Extend { inner, variable, expression } => {
            GraphPattern::Extend { inner: each(inner), variable, expression: rewrite_expression(expression) }
        }
        GraphPattern::Minus { left, right } => GraphPattern::Minus { left: each(left), right: each(right) },
        GraphPattern::OrderBy { inner, expression } => GraphPattern::OrderBy { inner: each(inner), expression },
        GraphPattern::Project { inner, variables } => GraphPattern::Project { inner: each(inner), variables },
        GraphPattern::Distinct { inner } => GraphPattern::Distinct { inner: each(inner) },
        GraphPattern::Reduced { inner } => GraphPattern::Reduced { inner: each(inner) },
        GraphPattern::Slice { inner, start, length } => GraphPattern::Slice { inner: each(inner), start, length },
        GraphPattern::Group { inner, variables, aggregates } => {
            GraphPattern::Group { inner: each(inner), variables, aggregates }
        }
        other @ (GraphPattern::Values { .. } | GraphPattern::Service { .. }) => other,
    }
}

fn rewrite_expression(expression: Expression) -> Expression {
    match expression {
        Expression::Exists(inner) => Expression::Exists(Box::new(rewrite(*inner))),
        Expression::Not(inner) => Expression::Not(Box::new(rewrite_expression(*inner))),
        Expression::And(one, other) => {
            Expression::And(Box::new(rewrite_expression(*one)), Box::new(rewrite_expression(*other)))
        }
        Expression::Or(one, other) => {
            Expression::Or(Box::new(rewrite_expression(*one)), Box::new(rewrite_expression(*other)))
        }
        other => other,
    }
}

/// A blank node of a pattern stands for anything, as a variable does; as a variable it can be named in a condition too.
fn named(term: TermPattern) -> TermPattern {
    match term {
        TermPattern::BlankNode(blank) => {
            TermPattern::Variable(Variable::new_unchecked(format!("blank_{}", blank.as_str())))
        }
        other => other,
    }
}

fn can_be_record(term: &TermPattern) -> bool {
    match term {
        TermPattern::Variable(_) => true,
        TermPattern::NamedNode(node) => node.as_str().starts_with(BASE),
        _ => false,
    }
}

/// The pattern where none of the nodes is marked as withdrawn.
fn guard(pattern: GraphPattern, nodes: Vec<TermPattern>) -> GraphPattern {
    let mark = NamedNode::new_unchecked(format!("{BASE}source_tombstoned"));
    let conditions = nodes.into_iter().enumerate().map(|(number, node)| {
        let object = TermPattern::Variable(Variable::new_unchecked(format!("withdrawn_{number}")));
        let marked = TriplePattern { subject: node, predicate: NamedNodePattern::NamedNode(mark.clone()), object };
        Expression::Not(Box::new(Expression::Exists(Box::new(GraphPattern::Bgp { patterns: vec![marked] }))))
    });
    match conditions.reduce(|one, other| Expression::And(Box::new(one), Box::new(other))) {
        Some(expr) => GraphPattern::Filter { expr, inner: Box::new(pattern) },
        None => pattern,
    }
}

#[cfg(test)]
mod tests {
    use spargebra::SparqlParser;

    use super::*;

    fn lively(text: &str) -> String {
        live(SparqlParser::new().parse_query(text).unwrap()).to_string()
    }

    #[test]
    fn every_node_of_a_pattern_must_be_live() {
        let text = lively("SELECT ?a WHERE { ?a <urn:p> ?b . OPTIONAL { ?b <urn:q> [] } }");
        assert_eq!(text.matches("source_tombstoned").count(), 4, "{text}");
        assert!(SparqlParser::new().parse_query(&text).is_ok(), "{text}");
        let exists = lively("ASK { ?a <urn:p> \"x\" FILTER NOT EXISTS { ?a <urn:q> ?c } }");
        assert_eq!(exists.matches("source_tombstoned").count(), 3, "{exists}");
        let path = lively("SELECT ?b WHERE { <urn:scion:graph#source:1> <urn:p>+ ?b }");
        assert_eq!(path.matches("source_tombstoned").count(), 2, "{path}");
        assert!(SparqlParser::new().parse_query(&path).is_ok(), "{path}");
    }

    #[test]
    fn a_service_is_found_wherever_it_stands() {
        let parse = |text: &str| SparqlParser::new().parse_query(text).unwrap();
        for text in [
            "SELECT * WHERE { SERVICE <http://a/> { ?s ?p ?o } }",
            "SELECT * WHERE { ?a ?b ?c FILTER EXISTS { SERVICE <http://a/> { ?a ?p ?o } } }",
            "SELECT * WHERE { { SELECT ?s WHERE { SERVICE SILENT ?x { ?s ?p ?o } } } }",
        ] {
            assert!(leaves_graph(&parse(text)), "{text}");
        }
        assert!(!leaves_graph(&parse("SELECT * WHERE { ?s ?p \"(service \" }")));
    }
}
