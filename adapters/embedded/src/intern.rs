//! Integer keys for names that repeat. Rows are only ever added, so a key once read stays right.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use crate::failure::{Failure, Outcome};

/// A provenance without its per-record part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProvenanceKey {
    pub(crate) adapter_kind: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) tool_schema: [u8; 32],
}

/// The writer's memory of keys. Forgotten after a failed transaction, which may have taken rows back.
#[derive(Default)]
pub(crate) struct Interned {
    connectors: HashMap<String, i64>,
    streams: HashMap<(i64, String), i64>,
    relations: HashMap<String, i64>,
    provenances: HashMap<(i64, ProvenanceKey), i64>,
    indexed: Option<Vec<i64>>,
}

/// Provenance keys kept in memory; a source whose tool schema changes often must not grow it without bound.
const PROVENANCES: usize = 4096;

impl Interned {
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn connector(&mut self, connection: &Connection, name: &str) -> Outcome<i64> {
        if let Some(id) = self.connectors.get(name) {
            return Ok(*id);
        }
        let id = find_or_add(
            connection,
            "SELECT id FROM connector WHERE name = ?1",
            "INSERT INTO connector(name) VALUES(?1)",
            &[&name],
        )?;
        self.connectors.insert(name.to_owned(), id);
        Ok(id)
    }

    pub(crate) fn stream(&mut self, connection: &Connection, connector: i64, name: &str) -> Outcome<i64> {
        let key = (connector, name.to_owned());
        if let Some(id) = self.streams.get(&key) {
            return Ok(*id);
        }
        let id = find_or_add(
            connection,
            "SELECT id FROM stream WHERE connector = ?1 AND name = ?2",
            "INSERT INTO stream(connector, name) VALUES(?1, ?2)",
            &[&connector, &name],
        )?;
        self.streams.insert(key, id);
        Ok(id)
    }

    pub(crate) fn relation(
        &mut self,
        connection: &Connection,
        connector: i64,
        reference: &str,
        predicate: &str,
    ) -> Outcome<i64> {
        if let Some(id) = self.relations.get(reference) {
            return Ok(*id);
        }
        let select = "SELECT id FROM relation WHERE reference = ?1";
        let known = connection.prepare_cached(select)?.query_row([reference], |row| row.get(0)).optional()?;
        let id = match known {
            Some(id) => id,
            None => insert(
                connection,
                "INSERT INTO relation(connector, reference, predicate) VALUES(?1, ?2, ?3)",
                &[&connector, &reference, &predicate],
            )?,
        };
        self.relations.insert(reference.to_owned(), id);
        Ok(id)
    }

    pub(crate) fn provenance(&mut self, connection: &Connection, connector: i64, key: &ProvenanceKey) -> Outcome<i64> {
        let lookup = (connector, key.clone());
        if let Some(id) = self.provenances.get(&lookup) {
            return Ok(*id);
        }
        let schema = &key.tool_schema[..];
        let values: [&dyn ToSql; 5] = [&connector, &key.adapter_kind, &key.server, &key.tool, &schema];
        let id = find_or_add(
            connection,
            "SELECT id FROM provenance WHERE connector = ?1 AND adapter_kind = ?2 AND server = ?3 AND tool = ?4
             AND tool_schema = ?5",
            "INSERT INTO provenance(connector, adapter_kind, server, tool, tool_schema) VALUES(?1, ?2, ?3, ?4, ?5)",
            &values,
        )?;
        if self.provenances.len() >= PROVENANCES {
            self.provenances.clear();
        }
        self.provenances.insert(lookup, id);
        Ok(id)
    }

    /// The value-indexed properties, sorted. Read anew in every transaction: another process may add one.
    pub(crate) fn indexed(&mut self, connection: &Connection) -> Outcome<&[i64]> {
        let ids = connection
            .prepare_cached("SELECT id FROM property WHERE indexed = 1 ORDER BY id")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<Vec<i64>, _>>()?;
        Ok(self.indexed.insert(ids))
    }
}

/// A property's key; outside [`Interned`] because the reading side needs no memory of it.
pub(crate) fn property(connection: &Connection, iri: &str) -> Outcome<i64> {
    find_or_add(connection, "SELECT id FROM property WHERE iri = ?1", "INSERT INTO property(iri) VALUES(?1)", &[&iri])
}

/// A mapping's key.
pub(crate) fn mapping(connection: &Connection, connector: i64, record_type: &str, class: &str) -> Outcome<i64> {
    find_or_add(
        connection,
        "SELECT id FROM mapping WHERE connector = ?1 AND record_type = ?2 AND class = ?3",
        "INSERT INTO mapping(connector, record_type, class) VALUES(?1, ?2, ?3)",
        &[&connector, &record_type, &class],
    )
}

/// Notes that records of a mapping may have a property.
pub(crate) fn mapping_property(connection: &Connection, mapping: i64, property: i64) -> Outcome<()> {
    connection
        .prepare_cached("INSERT OR IGNORE INTO mapping_property(mapping, property) VALUES(?1, ?2)")?
        .execute(params![mapping, property])?;
    Ok(())
}

fn find_or_add(connection: &Connection, select: &str, add: &str, values: &[&dyn ToSql]) -> Outcome<i64> {
    let known = connection.prepare_cached(select)?.query_row(values, |row| row.get(0)).optional()?;
    match known {
        Some(id) => Ok(id),
        None => insert(connection, add, values),
    }
}

fn insert(connection: &Connection, add: &str, values: &[&dyn ToSql]) -> Outcome<i64> {
    connection.prepare_cached(add)?.insert(values).map_err(Failure::from)
}
