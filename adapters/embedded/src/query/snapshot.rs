//! One committed state of the store, as a query sees it from its first read to its last.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::Stop;
use super::rows::{Row, Rows};
use super::vocabulary::Vocabulary;
use crate::failure::{Failure, Outcome};
use crate::iri;

pub(crate) struct Snapshot {
    pub(crate) connection: Connection,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) stop: Stop,
    rows: RefCell<Rows>,
    /// Server and tool by provenance key.
    provenances: RefCell<HashMap<i64, Rc<(String, String)>>>,
}

/// Why reading a snapshot ended early.
#[derive(Debug)]
pub(crate) enum ReadError {
    Stopped,
    Failed(Failure),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stopped => "the query was stopped",
            Self::Failed(_) => "the store could not be read",
        })
    }
}

impl std::error::Error for ReadError {}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Snapshot {
    /// Begins reading. The vocabulary is the first read, and fixes the state for all that follow.
    pub(crate) fn begin(connection: Connection, stop: Stop) -> Outcome<Self> {
        connection.execute_batch("BEGIN")?;
        let vocabulary = Vocabulary::load(&connection)?;
        Ok(Self { connection, vocabulary, stop, rows: Rows::new(), provenances: RefCell::default() })
    }

    /// Ends reading and hands the connection back.
    pub(crate) fn end(self) -> Outcome<Connection> {
        self.connection.execute_batch("ROLLBACK")?;
        Ok(self.connection)
    }

    pub(crate) fn check(&self) -> Result<(), ReadError> {
        if self.stop.is_set() { Err(ReadError::Stopped) } else { Ok(()) }
    }

    /// A live record.
    pub(crate) fn row(&self, key: i64) -> Result<Option<Rc<Row>>, ReadError> {
        Ok(self.rows.borrow_mut().get(&self.connection, key)?)
    }

    /// The row of a record that an IRI names, live or not.
    pub(crate) fn find(&self, stream: i64, record_id: &str) -> Result<Option<i64>, ReadError> {
        Ok(self
            .connection
            .prepare_cached("SELECT id FROM record WHERE stream = ?1 AND record_id = ?2")?
            .query_row(params![stream, record_id], |row| row.get(0))
            .optional()?)
    }

    /// The IRI of a row.
    pub(crate) fn record_iri(&self, key: i64) -> Result<String, ReadError> {
        if let Some(row) = self.row(key)? {
            return self.iri_of(row.stream, &row.record_id);
        }
        let (stream, record_id): (i64, String) = self
            .connection
            .prepare_cached("SELECT stream, record_id FROM record WHERE id = ?1")?
            .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.iri_of(stream, &record_id)
    }

    fn iri_of(&self, stream: i64, record_id: &str) -> Result<String, ReadError> {
        let stream = self.vocabulary.stream(stream).ok_or_else(Failure::corrupt)?;
        let connector = self.vocabulary.connectors.get(&stream.connector).ok_or_else(Failure::corrupt)?;
        Ok(iri::record(connector, &stream.name, record_id))
    }

    /// Server and tool of a provenance.
    pub(crate) fn provenance(&self, key: i64) -> Result<Rc<(String, String)>, ReadError> {
        if let Some(known) = self.provenances.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let found: (String, String) = self
            .connection
            .prepare_cached("SELECT server, tool FROM provenance WHERE id = ?1")?
            .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found = Rc::new(found);
        self.provenances.borrow_mut().insert(key, Rc::clone(&found));
        Ok(found)
    }
}
