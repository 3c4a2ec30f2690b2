//! Reading contracts out of Turtle.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{NamedOrBlankNode, Term};
use oxttl::TurtleParser;

use super::check::named;
use super::fields::{ACCESS_VOCABULARY, Field, PACK_VOCABULARY, VIRTUAL_GRAPH_VOCABULARY};
use super::{AccessContract, AccessContractRefusal, CostHint, MAX_CONTRACT_BYTES, MAX_CONTRACTS, flat};
use crate::resource_descriptor::{AccessKind, ResourcePagination};
use crate::transport_contract::{AuthModel, Pushdown, StreamMode};

type Read<T> = Result<T, AccessContractRefusal>;

/// An object as it was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    Iri(String),
    Text(String),
    Whole(String),
}

type Facts = BTreeMap<String, BTreeSet<Value>>;

/// The contracts of a text, by IRI. Other statements, for example those of an ontology, are left alone. A text in the flat form
/// is read with the terms of a pack and with those of a peer; both may stand in one text.
///
/// # Errors
/// The first thing that is not acceptable, with the contract and the field; no value is shown.
pub fn read_contracts(turtle: &str) -> Read<Vec<AccessContract>> {
    let subjects = facts(turtle)?;
    let is_contract = |facts: &Facts| {
        let types = facts.get(rdf::TYPE.as_str());
        let ends = [(ACCESS_VOCABULARY, "AccessContract"), (VIRTUAL_GRAPH_VOCABULARY, "VirtualMapping")];
        types.into_iter().flatten().any(|value| match value {
            Value::Iri(iri) => ends.iter().any(|(namespace, name)| iri.strip_prefix(namespace) == Some(name)),
            _ => false,
        })
    };
    let mut contracts = BTreeMap::new();
    for (iri, facts) in subjects.iter().filter(|(_, facts)| is_contract(facts)) {
        if contracts.len() == MAX_CONTRACTS {
            return Err(AccessContractRefusal::TooLarge { what: "contracts", limit: MAX_CONTRACTS });
        }
        contracts.insert(iri.clone(), contract(iri, facts)?);
    }
    pairs(&subjects, &mut contracts)?;
    let contracts: Vec<_> = contracts.into_values().collect();
    contracts.iter().try_for_each(AccessContract::check)?;
    Ok(contracts)
}

/// The kinds of access that contracts declare.
pub fn contract_kinds(contracts: &[AccessContract]) -> BTreeSet<AccessKind> {
    contracts.iter().map(|contract| contract.kind).collect()
}

fn facts(turtle: &str) -> Read<BTreeMap<String, Facts>> {
    if turtle.len() > MAX_CONTRACT_BYTES {
        return Err(AccessContractRefusal::TooLarge { what: "bytes", limit: MAX_CONTRACT_BYTES });
    }
    flat::check(turtle)?;
    let mut subjects: BTreeMap<String, Facts> = BTreeMap::new();
    for triple in TurtleParser::new().for_slice(turtle) {
        let triple = triple.map_err(|error| AccessContractRefusal::Syntax { line: error.location().start.line + 1 })?;
        let (NamedOrBlankNode::NamedNode(subject), Some(value)) = (triple.subject, value(triple.object)) else {
            continue;
        };
        let facts = subjects.entry(subject.into_string()).or_default();
        facts.entry(triple.predicate.into_string()).or_default().insert(value);
    }
    Ok(subjects)
}

/// What the flat form can hold.
fn value(term: Term) -> Option<Value> {
    if let Term::NamedNode(node) = term {
        return Some(Value::Iri(node.into_string()));
    }
    let Term::Literal(literal) = term else { return None };
    let text = literal.value().to_owned();
    Some(if literal.datatype() == xsd::INTEGER { Value::Whole(text) } else { Value::Text(text) })
}

/// The facts of one contract, by field.
struct Source<'f> {
    iri: &'f str,
    fields: BTreeMap<Field, BTreeSet<&'f Value>>,
}

impl<'f> Source<'f> {
    fn new(iri: &'f str, facts: &'f Facts) -> Read<Self> {
        let mut fields: BTreeMap<Field, BTreeSet<&'f Value>> = BTreeMap::new();
        for (predicate, values) in facts {
            match Field::of(predicate) {
                Some(field) => fields.entry(field).or_default().extend(values),
                None if predicate.starts_with(ACCESS_VOCABULARY) || predicate.starts_with(PACK_VOCABULARY) => {
                    return Err(AccessContractRefusal::Term { contract: named(iri) });
                }
                None => {}
            }
        }
        Ok(Self { iri, fields })
    }

    fn wrong(&self, field: Field, what: &'static str) -> AccessContractRefusal {
        AccessContractRefusal::Value { contract: named(self.iri), field: field.name(), what }
    }

    fn one(&self, field: Field) -> Read<Option<&'f Value>> {
        let Some(values) = self.fields.get(&field) else { return Ok(None) };
        match (values.first(), values.len()) {
            (Some(only), 1) => Ok(Some(only)),
            _ => Err(AccessContractRefusal::Repeated { contract: named(self.iri), field: field.name() }),
        }
    }

    fn text(&self, field: Field) -> Read<Option<&'f str>> {
        match self.one(field)? {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "a text")),
        }
    }

    fn required(&self, field: Field) -> Read<String> {
        let missing = || AccessContractRefusal::Missing { contract: named(self.iri), field: field.name() };
        self.text(field)?.map(str::to_owned).ok_or_else(missing)
    }

    /// Texts of one field; an IRI is none.
    fn texts(&self, field: Field) -> Read<BTreeSet<String>> {
        let values = self.fields.get(&field).into_iter().flatten();
        let text = |value: &&Value| match value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong(field, "a text")),
        };
        values.map(text).collect()
    }

    fn word<T>(&self, field: Field, parse: fn(&str) -> Option<T>, silent: T, what: &'static str) -> Read<T> {
        let Some(word) = self.text(field)? else { return Ok(silent) };
        parse(word).ok_or_else(|| self.wrong(field, what))
    }

    fn whole(&self, field: Field) -> Read<Option<u64>> {
        match self.one(field)? {
            None => Ok(None),
            Some(Value::Whole(digits)) => {
                digits.parse().map(Some).map_err(|_| self.wrong(field, "a whole number of zero or more"))
            }
            Some(_) => Err(self.wrong(field, "a whole number")),
        }
    }
}

fn contract(iri: &str, facts: &Facts) -> Read<AccessContract> {
    let source = Source::new(iri, facts)?;
    let missing = |field: Field| AccessContractRefusal::Missing { contract: named(iri), field: field.name() };
    let class = match source.one(Field::Class)?.ok_or_else(|| missing(Field::Class))? {
        Value::Iri(class) | Value::Text(class) => class.clone(),
        Value::Whole(_) => return Err(source.wrong(Field::Class, "an absolute IRI")),
    };
    let kind = AccessKind::parse(&source.required(Field::Kind)?);
    let pushdown = source.texts(Field::Pushdown)?.iter().map(|word| Pushdown::parse(word)).collect::<Option<_>>();
    Ok(AccessContract {
        iri: iri.to_owned(),
        class,
        source_id: source.required(Field::Source)?,
        entity: source.required(Field::Entity)?,
        key_field: source.required(Field::Key)?,
        kind: kind.ok_or_else(|| AccessContractRefusal::Kind { contract: named(iri) })?,
        operation: source.required(Field::Operation)?,
        parameters: source.texts(Field::Parameter)?,
        pagination: source.word(
            Field::Pagination,
            ResourcePagination::parse,
            ResourcePagination::None,
            "a known pagination",
        )?,
        streaming: source.word(Field::Streaming, StreamMode::parse, StreamMode::None, "a known way of streaming")?,
        pushdown: pushdown.ok_or_else(|| AccessContractRefusal::Pushdown { contract: named(iri) })?,
        auth_model: source.word(Field::AuthModel, AuthModel::parse, AuthModel::NoAuth, "a known auth model")?,
        auth_ref: source.text(Field::AuthRef)?.map(str::to_owned),
        rate_limit_per_minute: source.whole(Field::Rate)?,
        freshness_seconds: source.whole(Field::Freshness)?,
        cost_hint: source.word(Field::Cost, CostHint::parse, CostHint::Unknown, "low, medium, high or unknown")?,
        predicates: BTreeSet::new(),
    })
}

/// Pairs of property and field. The older form has them on subjects that point to the contract; a pack has the contract point
/// to them.
fn pairs(subjects: &BTreeMap<String, Facts>, contracts: &mut BTreeMap<String, AccessContract>) -> Read<()> {
    let term = |namespace: &str, name: &str| format!("{namespace}{name}");
    let older = ["contract", "property", "field"].map(|name| term(ACCESS_VOCABULARY, name));
    let pack = ["hasPredicateFieldPair", "predicate", "field"].map(|name| term(VIRTUAL_GRAPH_VOCABULARY, name));
    let mut found: Vec<(String, (String, String))> = Vec::new();
    for (subject, facts) in subjects {
        for contract in facts.get(&older[0]).into_iter().flatten() {
            let Value::Iri(contract) = contract else {
                return Err(wrong_pair(subject, "contract", "an IRI"));
            };
            found.push((contract.clone(), pair(contract, facts, &older[1], &older[2])?));
        }
        for group in facts.get(&pack[0]).into_iter().flatten() {
            let Value::Iri(group) = group else {
                return Err(wrong_pair(subject, "hasPredicateFieldPair", "an IRI"));
            };
            let none = Facts::new();
            let facts = subjects.get(group).unwrap_or(&none);
            found.push((subject.clone(), pair(subject, facts, &pack[1], &pack[2])?));
        }
    }
    for (contract, pair) in found {
        // A pair of something that is no contract says nothing about data; it may belong to another reader.
        if let Some(contract) = contracts.get_mut(&contract) {
            contract.predicates.insert(pair);
        }
    }
    Ok(())
}

fn wrong_pair(contract: &str, field: &'static str, what: &'static str) -> AccessContractRefusal {
    AccessContractRefusal::Value { contract: named(contract), field, what }
}

fn pair(contract: &str, facts: &Facts, property: &str, field: &str) -> Read<(String, String)> {
    let one = |predicate: &str, name: &'static str| {
        let values = facts.get(predicate);
        let only = values.and_then(|values| values.first());
        let only = only.ok_or_else(|| AccessContractRefusal::Missing { contract: named(contract), field: name })?;
        if values.is_some_and(|values| values.len() > 1) {
            return Err(AccessContractRefusal::Repeated { contract: named(contract), field: name });
        }
        Ok(only)
    };
    match (one(property, "property")?, one(field, "field")?) {
        (Value::Iri(property), Value::Text(field)) => Ok((property.clone(), field.clone())),
        (Value::Iri(_), _) => Err(wrong_pair(contract, "field", "a text")),
        _ => Err(wrong_pair(contract, "property", "an absolute IRI")),
    }
}
