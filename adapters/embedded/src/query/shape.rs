//! What a parsed query asks for that is not offered. A named graph or a remote service would otherwise be answered with
//! nothing, which reads like "there is none".

use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

/// The first feature of the query that is not offered.
pub(crate) fn unsupported(query: &Query) -> Option<&'static str> {
    if query.dataset().is_some() {
        return Some("FROM (there is one graph, the default one)");
    }
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    in_pattern(pattern)
}

fn in_pattern(pattern: &GraphPattern) -> Option<&'static str> {
    match pattern {
        GraphPattern::Service { .. } => Some("SERVICE"),
        GraphPattern::Graph { .. } => Some("GRAPH (there is one graph, the default one)"),
        GraphPattern::Lateral { .. } => Some("LATERAL (it is not SPARQL 1.1)"),
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => None,
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => in_pattern(left).or_else(|| in_pattern(right)),
        GraphPattern::LeftJoin { left, right, expression } => {
            in_pattern(left).or_else(|| in_pattern(right)).or_else(|| expression.as_ref().and_then(in_expression))
        }
        GraphPattern::Filter { expr: expression, inner } | GraphPattern::Extend { inner, expression, .. } => {
            in_pattern(inner).or_else(|| in_expression(expression))
        }
        GraphPattern::OrderBy { inner, expression } => in_pattern(inner).or_else(|| {
            expression.iter().find_map(|(OrderExpression::Asc(e) | OrderExpression::Desc(e))| in_expression(e))
        }),
        GraphPattern::Group { inner, aggregates, .. } => in_pattern(inner).or_else(|| {
            aggregates.iter().find_map(|(_, aggregate)| match aggregate {
                AggregateExpression::CountSolutions { .. } => None,
                AggregateExpression::FunctionCall { expr, .. } => in_expression(expr),
            })
        }),
        GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => in_pattern(inner),
    }
}

fn in_expression(expression: &Expression) -> Option<&'static str> {
    match expression {
        Expression::Exists(pattern) => in_pattern(pattern),
        Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => None,
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => in_expression(a).or_else(|| in_expression(b)),
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => in_expression(a),
        Expression::If(a, b, c) => in_expression(a).or_else(|| in_expression(b)).or_else(|| in_expression(c)),
        Expression::In(a, list) => in_expression(a).or_else(|| list.iter().find_map(in_expression)),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter().find_map(in_expression),
    }
}
