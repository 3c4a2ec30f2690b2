//! The evaluator's terms: keys instead of text where the store has keys. One RDF term has exactly one form here, because
//! equality of forms is SPARQL's `sameTerm`.

use std::rc::Rc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNodeRef, Term};

use crate::payload::Value;

/// `rdf:JSON`.
pub(crate) const JSON: NamedNodeRef<'static> =
    NamedNodeRef::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON");

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TermId {
    /// A record's IRI, by row.
    Record(i64),
    /// An IRI of the vocabulary, by its index.
    Known(u32),
    /// An `xsd:string`.
    Text(Rc<str>),
    /// A number with its digits.
    Number(Numeric, Rc<str>),
    /// `true` or `false` as such.
    Bool(bool),
    /// An `rdf:JSON` literal.
    Json(Rc<str>),
    /// Everything else.
    Other(Rc<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Numeric {
    Integer,
    Decimal,
    Double,
}

impl Numeric {
    pub(crate) const fn datatype(self) -> NamedNodeRef<'static> {
        match self {
            Self::Integer => xsd::INTEGER,
            Self::Decimal => xsd::DECIMAL,
            Self::Double => xsd::DOUBLE,
        }
    }
}

impl TermId {
    /// The form of a stored scalar; `None` for null and lists, which are no terms.
    pub(crate) fn of_value(value: Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Null | Value::List(_) => return None,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Integer(text) => Self::Number(Numeric::Integer, text.into()),
            Value::Decimal(text) => Self::Number(Numeric::Decimal, text.into()),
            Value::Double(text) => Self::Number(Numeric::Double, text.into()),
            Value::Text(text) => Self::Text(text.into()),
            Value::Json(text) => Self::Json(text.into()),
        })
    }

    /// The form of a literal.
    pub(crate) fn of_literal(literal: Literal) -> Self {
        if literal.language().is_some() {
            return Self::Other(Rc::new(literal.into()));
        }
        let datatype = literal.datatype();
        if datatype == xsd::STRING {
            Self::Text(literal.value().into())
        } else if let Some(kind) =
            [Numeric::Integer, Numeric::Decimal, Numeric::Double].into_iter().find(|kind| kind.datatype() == datatype)
        {
            Self::Number(kind, literal.value().into())
        } else if datatype == xsd::BOOLEAN && matches!(literal.value(), "true" | "false") {
            Self::Bool(literal.value() == "true")
        } else if datatype == JSON {
            Self::Json(literal.value().into())
        } else {
            Self::Other(Rc::new(literal.into()))
        }
    }

    /// The stored scalar this term can equal, for index keys.
    pub(crate) fn as_value(&self) -> Option<Value<'_>> {
        Some(match self {
            Self::Text(text) => Value::Text(text),
            Self::Number(Numeric::Integer, text) => Value::Integer(text),
            Self::Number(Numeric::Decimal, text) => Value::Decimal(text),
            Self::Number(Numeric::Double, text) => Value::Double(text),
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Json(text) => Value::Json(text),
            Self::Record(_) | Self::Known(_) | Self::Other(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_literal_has_one_form() {
        for value in [
            Value::Text("a"),
            Value::Integer("-0"),
            Value::Decimal("1.50"),
            Value::Double("1e400"),
            Value::Bool(true),
            Value::Json("{}"),
        ] {
            let term = TermId::of_value(value).unwrap();
            assert_eq!(term.as_value(), Some(value));
        }
        let integer = Literal::new_typed_literal("5", xsd::INTEGER);
        assert_eq!(TermId::of_literal(integer), TermId::of_value(Value::Integer("5")).unwrap());
        let one = Literal::new_typed_literal("1", xsd::BOOLEAN);
        assert!(matches!(TermId::of_literal(one), TermId::Other(_)));
    }
}
