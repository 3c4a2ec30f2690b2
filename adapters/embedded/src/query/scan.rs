//! Triples of a pattern whose subject is not bound, read chunk by chunk so that an iterator needs no open statement and a
//! query that stops early has read little.

use std::collections::VecDeque;
use std::rc::Rc;

use rusqlite::params;
use spareval::InternalQuad;

use super::snapshot::{ReadError, Snapshot};
use super::terms::TermId;
use super::vocabulary::Predicate;

/// The first chunk, in rows; each one doubles up to the last.
const FIRST_CHUNK: i64 = 32;
const LAST_CHUNK: i64 = 512;

pub(crate) type Triple = (TermId, TermId, TermId);

/// What to say of each row.
pub(crate) enum Say {
    /// Its class; the row itself is not read.
    Class(u32),
    /// The objects of one predicate, relations left out.
    Predicate(u32, Rc<Predicate>),
    /// Everything.
    All,
}

/// One index range, and where reading it stands.
pub(crate) enum Step {
    /// Live records of a mapping in a stream.
    Records { mapping: i64, stream: i64, after: i64, say: Rc<Say> },
    /// Edges of a relation. `earlier` relations with the same predicate have said their edges already.
    Edges { relation: i64, known: u32, earlier: Rc<[i64]>, after: (i64, i64) },
    /// Edges of a relation into a record.
    Incoming { relation: i64, known: u32, earlier: Rc<[i64]>, target: i64, after: i64 },
    /// Records with a value in the index; the value itself is checked on the row.
    Indexed { property: i64, value: Rc<[u8]>, after: i64, say: Rc<Say> },
}

/// The triples of a pattern.
pub(crate) enum Quads {
    Few(std::vec::IntoIter<Triple>),
    Scan(Box<Scan>),
    Failed(Option<ReadError>),
}

pub(crate) struct Scan {
    snapshot: Rc<Snapshot>,
    steps: VecDeque<Step>,
    ready: VecDeque<Triple>,
    /// Only triples with this object.
    object: Option<TermId>,
    chunk: i64,
}

impl Iterator for Quads {
    type Item = Result<InternalQuad<TermId>, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let triple = match self {
            Self::Few(triples) => Ok(triples.next()?),
            Self::Scan(scan) => scan.next()?,
            Self::Failed(error) => Err(error.take()?),
        };
        if triple.is_err() {
            *self = Self::Failed(None);
        }
        Some(triple.map(|(subject, predicate, object)| InternalQuad { subject, predicate, object, graph_name: None }))
    }
}

impl Scan {
    pub(crate) fn new(snapshot: Rc<Snapshot>, steps: VecDeque<Step>, object: Option<TermId>) -> Self {
        Self { snapshot, steps, ready: VecDeque::new(), object, chunk: FIRST_CHUNK }
    }

    fn next(&mut self) -> Option<Result<Triple, ReadError>> {
        loop {
            if let Some(triple) = self.ready.pop_front() {
                return Some(Ok(triple));
            }
            let step = self.steps.pop_front()?;
            let outcome = self.snapshot.check().and_then(|()| self.read(step));
            match outcome {
                Ok(Some(rest)) => {
                    self.steps.push_front(rest);
                    self.chunk = (self.chunk * 2).min(LAST_CHUNK);
                }
                Ok(None) => {}
                Err(error) => {
                    self.steps.clear();
                    return Some(Err(error));
                }
            }
        }
    }

    /// Reads one chunk; answers the rest of the step, if there may be one.
    fn read(&mut self, step: Step) -> Result<Option<Step>, ReadError> {
        let chunk = self.chunk;
        match step {
            Step::Records { mapping, stream, after, say } => {
                let sql = "SELECT id FROM record INDEXED BY record_live
                           WHERE state = 1 AND mapping = ?1 AND stream = ?2 AND id > ?3 ORDER BY id LIMIT ?4";
                let keys = self.keys(sql, params![mapping, stream, after, chunk])?;
                let after = self.say_all(&keys, &say)?;
                Ok(after.map(|after| Step::Records { mapping, stream, after, say }))
            }
            Step::Indexed { property, value, after, say } => {
                let sql = "SELECT record FROM indexed_value WHERE property = ?1 AND value = ?2 AND record > ?3
                           ORDER BY record LIMIT ?4";
                let keys = self.keys(sql, params![property, &*value, after, chunk])?;
                let after = self.say_all(&keys, &say)?;
                Ok(after.map(|after| Step::Indexed { property, value, after, say }))
            }
            Step::Incoming { relation, known, earlier, target, after } => {
                let sql = "SELECT source FROM edge INDEXED BY edge_in
                           WHERE target = ?1 AND relation = ?2 AND source > ?3 ORDER BY source LIMIT ?4";
                let sources = self.keys(sql, params![target, relation, after, chunk])?;
                for source in &sources {
                    self.say_edge(*source, known, target, &earlier)?;
                }
                let after = self.more(&sources);
                Ok(after.map(|after| Step::Incoming { relation, known, earlier, target, after }))
            }
            Step::Edges { relation, known, earlier, after } => {
                let sql = "SELECT source, target FROM edge WHERE relation = ?1 AND (source, target) > (?2, ?3)
                           ORDER BY source, target LIMIT ?4";
                let ends = self
                    .snapshot
                    .connection
                    .prepare_cached(sql)?
                    .query_map(params![relation, after.0, after.1, chunk], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect::<Result<Vec<(i64, i64)>, _>>()?;
                for (source, target) in &ends {
                    self.say_edge(*source, known, *target, &earlier)?;
                }
                let last =
                    (ends.len() == usize::try_from(chunk).unwrap_or_default()).then(|| ends.last().copied()).flatten();
                Ok(last.map(|after| Step::Edges { relation, known, earlier, after }))
            }
        }
    }

    fn keys(&self, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<i64>, ReadError> {
        let mut statement = self.snapshot.connection.prepare_cached(sql)?;
        Ok(statement.query_map(values, |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?)
    }

    /// The key to go on after, when a chunk came back full.
    fn more(&self, keys: &[i64]) -> Option<i64> {
        if keys.len() < usize::try_from(self.chunk).unwrap_or_default() { None } else { keys.last().copied() }
    }

    fn say_all(&mut self, keys: &[i64], say: &Say) -> Result<Option<i64>, ReadError> {
        for key in keys {
            self.say(*key, say)?;
        }
        Ok(self.more(keys))
    }

    fn say(&mut self, key: i64, say: &Say) -> Result<(), ReadError> {
        let snapshot = Rc::clone(&self.snapshot);
        match say {
            Say::Class(class) => {
                let predicate = snapshot.vocabulary.builtin(super::vocabulary::Builtin::Type);
                self.push(key, predicate, TermId::Known(*class));
            }
            Say::Predicate(known, predicate) => {
                let Some(row) = snapshot.row(key)? else { return Ok(()) };
                let mut objects = Vec::new();
                snapshot.objects(&row, predicate, &mut objects)?;
                for object in objects {
                    self.push(key, *known, object);
                }
            }
            Say::All => {
                let Some(row) = snapshot.row(key)? else { return Ok(()) };
                let mut statements = Vec::new();
                snapshot.statements(&row, &mut statements)?;
                for (known, object) in statements {
                    self.push(key, known, object);
                }
            }
        }
        Ok(())
    }

    fn say_edge(&mut self, source: i64, known: u32, target: i64, earlier: &[i64]) -> Result<(), ReadError> {
        let visible = self.snapshot.row(source)?.is_some() && self.snapshot.row(target)?.is_some();
        if visible && (earlier.is_empty() || !self.snapshot.has_edge(earlier, source, target)?) {
            self.push(source, known, TermId::Record(target));
        }
        Ok(())
    }

    fn push(&mut self, subject: i64, predicate: u32, object: TermId) {
        if self.object.as_ref().is_none_or(|wanted| *wanted == object) {
            self.ready.push_back((TermId::Record(subject), TermId::Known(predicate), object));
        }
    }
}
