//! The tables as the evaluator's dataset: for each pattern, the cheapest way the indexes offer.
//!
//! | bound | way |
//! |---|---|
//! | subject | the row, through the cache |
//! | `rdf:type`, class | index on (mapping, stream) |
//! | `scion:recordId`, id | identity index |
//! | indexed property, value | value index |
//! | relation, target | reverse edge index |
//! | target record | reverse edge index, all relations |
//! | predicate | edges of the relations, records of the mappings that have the property |
//! | nothing | all live records |

use std::collections::VecDeque;
use std::rc::Rc;

use oxrdf::{Literal, NamedNode, Term};
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::scan::{Quads, Say, Scan, Step, Triple};
use super::snapshot::{ReadError, Snapshot};
use super::terms::{JSON, Numeric, TermId};
use super::vocabulary::{Builtin, Mapping, Predicate};
use crate::{iri, value_index};

pub(crate) struct GraphDataset(pub(crate) Rc<Snapshot>);

impl GraphDataset {
    fn triples(
        &self,
        subject: Option<&TermId>,
        predicate: Option<&TermId>,
        object: Option<&TermId>,
    ) -> Result<Quads, ReadError> {
        let predicate = match predicate {
            None => None,
            Some(TermId::Known(known)) => match self.0.vocabulary.predicate(*known) {
                Some(meaning) => Some((*known, meaning)),
                None => return Ok(few(Vec::new())),
            },
            Some(_) => return Ok(few(Vec::new())),
        };
        match (subject, predicate) {
            (Some(TermId::Record(key)), Some((known, meaning))) => self.of_subject(*key, known, meaning, object),
            (Some(TermId::Record(key)), None) => self.all_of_subject(*key, object),
            (Some(_), _) => Ok(few(Vec::new())),
            (None, Some((known, meaning))) => self.of_predicate(known, meaning, object),
            (None, None) => Ok(self.any(object)),
        }
    }

    fn of_subject(
        &self,
        key: i64,
        known: u32,
        meaning: &Predicate,
        object: Option<&TermId>,
    ) -> Result<Quads, ReadError> {
        let Some(row) = self.0.row(key)? else { return Ok(few(Vec::new())) };
        let mut objects = Vec::new();
        // A bound target is one point read, however many edges there are.
        if let (Some(TermId::Record(target)), false) = (object, meaning.relations.is_empty()) {
            let there = self.0.row(*target)?.is_some() && self.0.has_edge(&meaning.relations, key, *target)?;
            let triple = (TermId::Record(key), TermId::Known(known), TermId::Record(*target));
            return Ok(few(there.then_some(triple).into_iter().collect()));
        }
        self.0.objects(&row, meaning, &mut objects)?;
        let triple = |object| (TermId::Record(key), TermId::Known(known), object);
        Ok(few(objects.into_iter().filter(|found| object.is_none_or(|o| o == found)).map(triple).collect()))
    }

    fn all_of_subject(&self, key: i64, object: Option<&TermId>) -> Result<Quads, ReadError> {
        let Some(row) = self.0.row(key)? else { return Ok(few(Vec::new())) };
        let mut statements = Vec::new();
        self.0.statements(&row, &mut statements)?;
        let triple = |(known, object)| (TermId::Record(key), TermId::Known(known), object);
        let wanted = statements.into_iter().filter(|(_, found)| object.is_none_or(|o| o == found));
        Ok(few(wanted.map(triple).collect()))
    }

    fn of_predicate(&self, known: u32, meaning: &Rc<Predicate>, object: Option<&TermId>) -> Result<Quads, ReadError> {
        if let (Some(Builtin::RecordId), Some(object)) = (meaning.builtin, object) {
            return self.by_record_id(known, object);
        }
        let mut steps = VecDeque::new();
        // A relation's object is a record, and nothing else's is.
        let to_record = matches!(object, Some(TermId::Record(_)));
        if !to_record && (meaning.builtin.is_some() || meaning.property.is_some()) {
            self.rows_of_predicate(known, meaning, object, &mut steps);
        }
        for (index, relation) in meaning.relations.iter().enumerate() {
            let (relation, earlier) = (*relation, Rc::from(&meaning.relations[..index]));
            match object {
                None => steps.push_back(Step::Edges { relation, known, earlier, after: (i64::MIN, i64::MIN) }),
                Some(TermId::Record(target)) => {
                    steps.push_back(Step::Incoming { relation, known, earlier, target: *target, after: i64::MIN });
                }
                Some(_) => {}
            }
        }
        Ok(self.scan(steps, object))
    }

    fn rows_of_predicate(
        &self,
        known: u32,
        meaning: &Rc<Predicate>,
        object: Option<&TermId>,
        steps: &mut VecDeque<Step>,
    ) {
        if meaning.builtin == Some(Builtin::Type) {
            let wanted = |mapping: &&Mapping| object.is_none_or(|object| *object == TermId::Known(mapping.class));
            for mapping in self.0.vocabulary.mappings.iter().filter(wanted) {
                self.records(mapping, &Rc::new(Say::Class(mapping.class)), steps);
            }
            return;
        }
        let alone = Predicate { relations: Vec::new(), ..Predicate::clone(meaning) };
        let say = Rc::new(Say::Predicate(known, Rc::new(alone)));
        let key = object.and_then(TermId::as_value).map(value_index::key);
        if let (true, Some(property), Some(value), None) = (meaning.indexed, meaning.property, key, meaning.builtin) {
            steps.push_back(Step::Indexed { property, value: value.into(), after: i64::MIN, say });
            return;
        }
        let governed = meaning.builtin == Some(Builtin::GovernedBy);
        for mapping in &self.0.vocabulary.mappings {
            let possible = match (meaning.builtin, meaning.property) {
                (Some(_), _) if governed => object.is_none_or(|object| *object == TermId::Known(mapping.contract)),
                (Some(_), _) => true,
                (None, property) => property.is_some_and(|key| mapping.properties.binary_search(&key).is_ok()),
            };
            if possible {
                self.records(mapping, &say, steps);
            }
        }
    }

    fn by_record_id(&self, known: u32, object: &TermId) -> Result<Quads, ReadError> {
        let TermId::Text(id) = object else { return Ok(few(Vec::new())) };
        let mut found = Vec::new();
        for stream in &self.0.vocabulary.streams {
            if let Some(key) = self.0.find(stream.key, id)?
                && self.0.row(key)?.is_some()
            {
                found.push((TermId::Record(key), TermId::Known(known), object.clone()));
            }
        }
        Ok(few(found))
    }

    fn any(&self, object: Option<&TermId>) -> Quads {
        let mut steps = VecDeque::new();
        if let Some(TermId::Record(target)) = object {
            let mut relations: Vec<(i64, u32)> = self.0.vocabulary.relations().collect();
            relations.sort_unstable();
            for (relation, known) in relations {
                let same = self.0.vocabulary.predicate(known).map(|p| p.relations.clone()).unwrap_or_default();
                let earlier = same.into_iter().filter(|other| *other < relation).collect();
                steps.push_back(Step::Incoming { relation, known, earlier, target: *target, after: i64::MIN });
            }
        } else {
            let say = Rc::new(Say::All);
            for mapping in &self.0.vocabulary.mappings {
                self.records(mapping, &say, &mut steps);
            }
        }
        self.scan(steps, object)
    }

    /// The live records of a mapping, stream by stream.
    fn records(&self, mapping: &Mapping, say: &Rc<Say>, steps: &mut VecDeque<Step>) {
        for stream in self.0.vocabulary.streams.iter().filter(|stream| stream.connector == mapping.connector) {
            let (mapping, stream, say) = (mapping.key, stream.key, Rc::clone(say));
            steps.push_back(Step::Records { mapping, stream, after: i64::MIN, say });
        }
    }

    fn scan(&self, steps: VecDeque<Step>, object: Option<&TermId>) -> Quads {
        Quads::Scan(Box::new(Scan::new(Rc::clone(&self.0), steps, object.cloned())))
    }
}

fn few(triples: Vec<Triple>) -> Quads {
    Quads::Few(triples.into_iter())
}

impl<'a> QueryableDataset<'a> for GraphDataset {
    type InternalTerm = TermId;
    type Error = ReadError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&TermId>,
        predicate: Option<&TermId>,
        object: Option<&TermId>,
        graph_name: Option<Option<&TermId>>,
    ) -> impl Iterator<Item = Result<InternalQuad<TermId>, ReadError>> + use<'a> {
        // Named graphs are refused before evaluation; only the default graph has triples.
        if graph_name != Some(None) {
            return few(Vec::new());
        }
        self.triples(subject, predicate, object).unwrap_or_else(|error| Quads::Failed(Some(error)))
    }

    fn internalize_term(&self, term: Term) -> Result<TermId, ReadError> {
        let node = match term {
            Term::Literal(literal) => return Ok(TermId::of_literal(literal)),
            Term::NamedNode(node) => node,
            blank @ Term::BlankNode(_) => return Ok(TermId::Other(Rc::new(blank))),
        };
        if let Some(known) = self.0.vocabulary.find(node.as_str()) {
            return Ok(TermId::Known(known));
        }
        if let Some((connector, stream, id)) = iri::parse_record(node.as_str())
            && let Some(stream) = self.0.vocabulary.find_stream(&connector, &stream)
            && let Some(key) = self.0.find(stream, &id)?
        {
            return Ok(TermId::Record(key));
        }
        Ok(TermId::Other(Rc::new(node.into())))
    }

    fn externalize_term(&self, term: TermId) -> Result<Term, ReadError> {
        let typed = |text: &str, datatype| Term::from(Literal::new_typed_literal(text, datatype));
        Ok(match term {
            TermId::Record(key) => NamedNode::new_unchecked(self.0.record_iri(key)?).into(),
            TermId::Known(known) => NamedNode::new_unchecked(&**self.0.vocabulary.iri(known)).into(),
            TermId::Text(text) => Literal::new_simple_literal(&*text).into(),
            TermId::Number(kind, text) => typed(&text, kind.datatype()),
            TermId::Bool(flag) => Literal::from(flag).into(),
            TermId::Json(text) => typed(&text, JSON),
            TermId::Other(term) => Term::clone(&term),
        })
    }

    fn externalize_expression_term(&self, term: TermId) -> Result<ExpressionTerm, ReadError> {
        // Filters over joins in memory read no pattern for a while: this is where they notice the time.
        self.0.check()?;
        Ok(match &term {
            TermId::Text(text) => ExpressionTerm::StringLiteral(text.as_ref().to_owned()),
            TermId::Bool(flag) => ExpressionTerm::BooleanLiteral((*flag).into()),
            TermId::Number(Numeric::Integer, text) => match text.parse::<i64>() {
                Ok(value) => ExpressionTerm::IntegerLiteral(value.into()),
                Err(_) => self.externalize_term(term)?.into(),
            },
            _ => self.externalize_term(term)?.into(),
        })
    }

    fn internalize_expression_term(&self, term: ExpressionTerm) -> Result<TermId, ReadError> {
        match term {
            ExpressionTerm::StringLiteral(text) => Ok(TermId::Text(text.into())),
            ExpressionTerm::BooleanLiteral(flag) => Ok(TermId::Bool(flag.into())),
            other => self.internalize_term(other.into()),
        }
    }
}
