//! The triples of one live record.

use std::collections::HashSet;
use std::rc::Rc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term};
use rusqlite::params;

use super::rows::Row;
use super::snapshot::{ReadError, Snapshot};
use super::terms::TermId;
use super::vocabulary::{Builtin, Predicate};
use crate::admission::SourceUri;
use crate::failure::Failure;
use crate::iri;
use crate::payload::Properties;

impl Snapshot {
    /// Appends the objects of `row predicate ?`, each once.
    pub(crate) fn objects(&self, row: &Row, predicate: &Predicate, out: &mut Vec<TermId>) -> Result<(), ReadError> {
        let start = out.len();
        if let Some(builtin) = predicate.builtin {
            self.builtin(row, builtin, out)?;
        }
        if let Some(property) = predicate.property
            && let Some((_, value)) = Properties(&row.payload).find(|(key, _)| *key == property)
        {
            value.each(|scalar| out.extend(TermId::of_value(scalar)));
        }
        for relation in &predicate.relations {
            self.targets(row.key, *relation, out)?;
        }
        dedup(out, start);
        Ok(())
    }

    /// Appends `(predicate, object)` of everything a record says, each once.
    pub(crate) fn statements(&self, row: &Row, out: &mut Vec<(u32, TermId)>) -> Result<(), ReadError> {
        let mut objects = Vec::new();
        let mut add =
            |known: u32, objects: &mut Vec<TermId>| out.extend(objects.drain(..).map(|object| (known, object)));
        let mut seen = Vec::new();
        for builtin in Builtin::ALL {
            self.objects_once(row, self.vocabulary.builtin(builtin), &mut seen, &mut objects)?;
            add(self.vocabulary.builtin(builtin), &mut objects);
        }
        let properties = Properties(&row.payload).filter_map(|(key, _)| self.vocabulary.property(key));
        let relations = self.relations_of(row.key)?;
        for known in properties.chain(relations.iter().filter_map(|key| self.vocabulary.relation(*key))) {
            self.objects_once(row, known, &mut seen, &mut objects)?;
            add(known, &mut objects);
        }
        Ok(())
    }

    fn objects_once(&self, row: &Row, known: u32, seen: &mut Vec<u32>, out: &mut Vec<TermId>) -> Result<(), ReadError> {
        if !seen.contains(&known)
            && let Some(predicate) = self.vocabulary.predicate(known)
        {
            seen.push(known);
            self.objects(row, predicate, out)?;
        }
        Ok(())
    }

    fn builtin(&self, row: &Row, builtin: Builtin, out: &mut Vec<TermId>) -> Result<(), ReadError> {
        match builtin {
            Builtin::Type => out.push(TermId::Known(self.mapping(row)?.class)),
            Builtin::GovernedBy => out.push(TermId::Known(self.mapping(row)?.contract)),
            Builtin::RecordId => out.push(TermId::Text(Rc::clone(&row.record_id))),
            Builtin::UpdatedAt => out.extend(row.updated_at.clone().map(TermId::Text)),
            Builtin::Stream => {
                let stream = self.vocabulary.stream(row.stream).ok_or_else(Failure::corrupt)?;
                out.push(TermId::Text(Rc::clone(&stream.name)));
            }
            Builtin::Connector => {
                let connector = self.vocabulary.connectors.get(&self.mapping(row)?.connector);
                out.push(TermId::Text(Rc::clone(connector.ok_or_else(Failure::corrupt)?)));
            }
            Builtin::SourceUri => {
                let uri = match &row.source_uri {
                    SourceUri::Text(uri) => uri.clone(),
                    standard => {
                        let provenance = self.provenance(row.provenance)?;
                        let id = if *standard == SourceUri::Plain {
                            row.record_id.to_string()
                        } else {
                            iri::encode(&row.record_id)
                        };
                        format!("mcp-tool://{}/{}/{id}", provenance.0, provenance.1)
                    }
                };
                out.push(TermId::Other(Rc::new(Term::from(Literal::new_typed_literal(uri, xsd::ANY_URI)))));
            }
        }
        Ok(())
    }

    fn mapping(&self, row: &Row) -> Result<&super::vocabulary::Mapping, ReadError> {
        Ok(self.vocabulary.mapping(row.mapping).ok_or_else(Failure::corrupt)?)
    }

    /// Live targets of one relation.
    fn targets(&self, source: i64, relation: i64, out: &mut Vec<TermId>) -> Result<(), ReadError> {
        let targets = self
            .connection
            .prepare_cached("SELECT target FROM edge WHERE relation = ?1 AND source = ?2")?
            .query_map(params![relation, source], |row| row.get(0))?
            .collect::<Result<Vec<i64>, _>>()?;
        for target in targets {
            if self.row(target)?.is_some() {
                out.push(TermId::Record(target));
            }
        }
        Ok(())
    }

    /// Relations a record has at least one edge of.
    fn relations_of(&self, source: i64) -> Result<Vec<i64>, ReadError> {
        let mut any =
            self.connection.prepare_cached("SELECT 1 FROM edge WHERE relation = ?1 AND source = ?2 LIMIT 1")?;
        let mut out = Vec::new();
        for (relation, _) in self.vocabulary.relations() {
            if any.exists(params![relation, source])? {
                out.push(relation);
            }
        }
        out.sort_unstable();
        Ok(out)
    }

    /// Whether an edge is there under any of some relations.
    pub(crate) fn has_edge(&self, relations: &[i64], source: i64, target: i64) -> Result<bool, ReadError> {
        let mut any =
            self.connection.prepare_cached("SELECT 1 FROM edge WHERE relation = ?1 AND source = ?2 AND target = ?3")?;
        for relation in relations {
            if any.exists(params![relation, source, target])? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Removes repeated terms from `start` on, keeping the order.
fn dedup(terms: &mut Vec<TermId>, start: usize) {
    if terms.len() - start < 2 {
        return;
    }
    let mut seen: HashSet<TermId> = HashSet::new();
    let mut index = 0;
    terms.retain(|term| {
        index += 1;
        index <= start || seen.insert(term.clone())
    });
}
