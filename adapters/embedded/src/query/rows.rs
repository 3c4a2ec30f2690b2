//! Live rows by key, with a small cache and read-ahead: the evaluator asks for the records of a scan one by one, right
//! after the scan named them.

use std::cell::RefCell;
use std::rc::Rc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row as SqlRow};

use crate::admission::SourceUri;
use crate::failure::{Failure, Outcome};
use crate::records::LIVE;

/// A live record.
pub(crate) struct Row {
    pub(crate) key: i64,
    pub(crate) stream: i64,
    pub(crate) record_id: Rc<str>,
    pub(crate) mapping: i64,
    pub(crate) provenance: i64,
    pub(crate) updated_at: Option<Rc<str>>,
    pub(crate) source_uri: SourceUri,
    pub(crate) payload: Vec<u8>,
}

/// Cache slots; a row's key picks its slot.
const SLOTS: i64 = 1024;

/// Keys read at once when reads go forward.
const WINDOW: i64 = 256;

/// Rows with a larger payload are read again rather than kept.
const KEPT_BYTES: usize = 16 << 10;

const COLUMNS: &str = "id, state, stream, record_id, mapping, provenance, updated_at, source_uri, payload";

#[derive(Clone)]
struct Slot {
    key: i64,
    row: Option<Rc<Row>>,
}

pub(crate) struct Rows {
    slots: Vec<Option<Slot>>,
    /// The last key of the last read.
    end: i64,
    point: String,
    range: String,
}

impl Rows {
    pub(crate) fn new() -> RefCell<Self> {
        RefCell::new(Self {
            slots: vec![None; slot_of(SLOTS - 1) + 1],
            end: 0,
            point: format!("SELECT {COLUMNS} FROM record WHERE id = ?1"),
            range: format!("SELECT {COLUMNS} FROM record WHERE id BETWEEN ?1 AND ?2"),
        })
    }

    /// The row, if it is live.
    pub(crate) fn get(&mut self, connection: &Connection, key: i64) -> Outcome<Option<Rc<Row>>> {
        if let Some(slot) = &self.slots[slot_of(key)]
            && slot.key == key
        {
            return Ok(slot.row.clone());
        }
        // A miss just behind the last read is a walk through the table.
        let forward = key > self.end && key - self.end <= WINDOW / 4;
        if !forward {
            let found = connection.prepare_cached(&self.point)?.query_row([key], |row| Ok(read(row))).optional()?;
            let row = found.transpose()?.and_then(|(_, row)| row);
            self.end = key;
            self.keep(key, row.clone());
            return Ok(row);
        }
        let last = key + WINDOW - 1;
        let mut wanted = None;
        let mut statement = connection.prepare_cached(&self.range)?;
        let mut rows = statement.query([key, last])?;
        while let Some(row) = rows.next()? {
            let (found, row) = read(row)?;
            if found == key {
                wanted.clone_from(&row);
            }
            self.keep(found, row);
        }
        self.end = last;
        Ok(wanted)
    }

    fn keep(&mut self, key: i64, row: Option<Rc<Row>>) {
        if row.as_ref().is_none_or(|row| row.payload.len() <= KEPT_BYTES) {
            self.slots[slot_of(key)] = Some(Slot { key, row });
        }
    }
}

fn slot_of(key: i64) -> usize {
    usize::try_from(key.rem_euclid(SLOTS)).unwrap_or_default()
}

fn read(row: &SqlRow<'_>) -> Outcome<(i64, Option<Rc<Row>>)> {
    let key = row.get(0)?;
    if row.get::<_, i64>(1)? != LIVE {
        return Ok((key, None));
    }
    let source_uri = match row.get_ref(7)? {
        ValueRef::Null => SourceUri::Plain,
        ValueRef::Integer(_) => SourceUri::Encoded,
        ValueRef::Text(text) => SourceUri::Text(String::from_utf8(text.to_vec()).map_err(|_| Failure::corrupt())?),
        _ => return Err(Failure::corrupt()),
    };
    let text = |column: usize| -> Outcome<Rc<str>> {
        Ok(row.get_ref(column)?.as_str().map_err(|_| Failure::corrupt())?.into())
    };
    let live = Row {
        key,
        stream: row.get(2)?,
        record_id: text(3)?,
        mapping: row.get(4)?,
        provenance: row.get(5)?,
        updated_at: if row.get_ref(6)? == ValueRef::Null { None } else { Some(text(6)?) },
        source_uri,
        payload: row.get(8)?,
    };
    Ok((key, Some(Rc::new(live))))
}
