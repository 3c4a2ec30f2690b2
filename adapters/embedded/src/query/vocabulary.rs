//! The names a snapshot knows, read once per query: few, and the key to everything else.

use std::collections::HashMap;
use std::rc::Rc;

use oxrdf::vocab::rdf;
use rusqlite::Connection;

use crate::failure::Outcome;
use crate::iri;

/// Predicates every record has, whatever its mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Type,
    RecordId,
    Stream,
    Connector,
    UpdatedAt,
    SourceUri,
    GovernedBy,
}

impl Builtin {
    pub(crate) const ALL: [Self; 7] =
        [Self::Type, Self::RecordId, Self::Stream, Self::Connector, Self::UpdatedAt, Self::SourceUri, Self::GovernedBy];

    fn iri(self) -> String {
        let name = match self {
            Self::Type => return rdf::TYPE.as_str().to_owned(),
            Self::GovernedBy => return format!("{}governedBy", iri::CONTRACT_VOCABULARY),
            Self::RecordId => "recordId",
            Self::Stream => "stream",
            Self::Connector => "connector",
            Self::UpdatedAt => "updatedAt",
            Self::SourceUri => "sourceUri",
        };
        format!("{}{name}", iri::VOCABULARY)
    }
}

/// What one IRI means as a predicate; several things at once are possible.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predicate {
    pub(crate) builtin: Option<Builtin>,
    pub(crate) property: Option<i64>,
    pub(crate) indexed: bool,
    pub(crate) relations: Vec<i64>,
}

/// A record type under one class.
pub(crate) struct Mapping {
    pub(crate) key: i64,
    pub(crate) connector: i64,
    pub(crate) class: u32,
    pub(crate) contract: u32,
    /// Properties its records can have, sorted.
    pub(crate) properties: Vec<i64>,
}

pub(crate) struct Stream {
    pub(crate) key: i64,
    pub(crate) connector: i64,
    pub(crate) name: Rc<str>,
}

#[derive(Default)]
pub(crate) struct Vocabulary {
    iris: Vec<Rc<str>>,
    index: HashMap<Rc<str>, u32>,
    /// By IRI index.
    predicates: Vec<Option<Rc<Predicate>>>,
    builtins: Vec<u32>,
    /// Property key to IRI index.
    properties: HashMap<i64, u32>,
    /// Relation key to IRI index.
    relations: HashMap<i64, u32>,
    pub(crate) mappings: Vec<Mapping>,
    by_mapping: HashMap<i64, usize>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) connectors: HashMap<i64, Rc<str>>,
}

impl Vocabulary {
    pub(crate) fn load(connection: &Connection) -> Outcome<Self> {
        let mut out = Self::default();
        for builtin in Builtin::ALL {
            let known = out.intern(&builtin.iri());
            out.builtins.push(known);
            out.predicate_mut(known).builtin = Some(builtin);
        }
        out.load_names(connection)?;
        out.load_mappings(connection)?;
        Ok(out)
    }

    fn load_names(&mut self, connection: &Connection) -> Outcome<()> {
        let mut list = connection.prepare_cached("SELECT id, name FROM connector")?;
        let mut rows = list.query([])?;
        while let Some(row) = rows.next()? {
            self.connectors.insert(row.get(0)?, row.get::<_, String>(1)?.into());
        }
        let mut list = connection.prepare_cached("SELECT id, connector, name FROM stream ORDER BY id")?;
        let mut rows = list.query([])?;
        while let Some(row) = rows.next()? {
            let name = row.get::<_, String>(2)?.into();
            self.streams.push(Stream { key: row.get(0)?, connector: row.get(1)?, name });
        }
        let mut list = connection.prepare_cached("SELECT id, iri, indexed FROM property")?;
        let mut rows = list.query([])?;
        while let Some(row) = rows.next()? {
            let key = row.get(0)?;
            let known = self.intern(&row.get::<_, String>(1)?);
            self.properties.insert(key, known);
            let indexed = row.get(2)?;
            let predicate = self.predicate_mut(known);
            (predicate.property, predicate.indexed) = (Some(key), indexed);
        }
        let mut list = connection.prepare_cached("SELECT id, predicate FROM relation ORDER BY id")?;
        let mut rows = list.query([])?;
        while let Some(row) = rows.next()? {
            let key = row.get(0)?;
            let known = self.intern(&row.get::<_, String>(1)?);
            self.relations.insert(key, known);
            self.predicate_mut(known).relations.push(key);
        }
        Ok(())
    }

    fn load_mappings(&mut self, connection: &Connection) -> Outcome<()> {
        let mut list =
            connection.prepare_cached("SELECT id, connector, record_type, class FROM mapping ORDER BY id")?;
        let mut rows = list.query([])?;
        while let Some(row) = rows.next()? {
            let connector: i64 = row.get(1)?;
            let name = self.connectors.get(&connector).map_or("", |name| &**name);
            let contract = iri::contract(name, &row.get::<_, String>(2)?);
            let mapping = Mapping {
                key: row.get(0)?,
                connector,
                class: self.intern(&row.get::<_, String>(3)?),
                contract: self.intern(&contract),
                properties: Vec::new(),
            };
            self.by_mapping.insert(mapping.key, self.mappings.len());
            self.mappings.push(mapping);
        }
        let mut list =
            connection.prepare_cached("SELECT mapping, property FROM mapping_property ORDER BY mapping, property")?;
        let mut rows = list.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(index) = self.by_mapping.get(&row.get(0)?) {
                self.mappings[*index].properties.push(row.get(1)?);
            }
        }
        Ok(())
    }

    fn intern(&mut self, iri: &str) -> u32 {
        if let Some(known) = self.index.get(iri) {
            return *known;
        }
        // Names are rows of small tables; four thousand million of them do not fit in one.
        let known = u32::try_from(self.iris.len()).unwrap_or(u32::MAX);
        let iri: Rc<str> = iri.into();
        self.iris.push(Rc::clone(&iri));
        self.predicates.push(None);
        self.index.insert(iri, known);
        known
    }

    fn predicate_mut(&mut self, known: u32) -> &mut Predicate {
        let slot = &mut self.predicates[known as usize];
        Rc::make_mut(slot.get_or_insert_with(Rc::default))
    }

    pub(crate) fn find(&self, iri: &str) -> Option<u32> {
        self.index.get(iri).copied()
    }

    pub(crate) fn iri(&self, known: u32) -> &Rc<str> {
        &self.iris[known as usize]
    }

    /// What an IRI means as a predicate, if anything.
    pub(crate) fn predicate(&self, known: u32) -> Option<&Rc<Predicate>> {
        self.predicates[known as usize].as_ref()
    }

    pub(crate) fn builtin(&self, builtin: Builtin) -> u32 {
        self.builtins[builtin as usize]
    }

    pub(crate) fn property(&self, key: i64) -> Option<u32> {
        self.properties.get(&key).copied()
    }

    /// Relation keys with their predicates.
    pub(crate) fn relations(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.relations.iter().map(|(key, known)| (*key, *known))
    }

    pub(crate) fn relation(&self, key: i64) -> Option<u32> {
        self.relations.get(&key).copied()
    }

    pub(crate) fn mapping(&self, key: i64) -> Option<&Mapping> {
        self.by_mapping.get(&key).map(|index| &self.mappings[*index])
    }

    pub(crate) fn stream(&self, key: i64) -> Option<&Stream> {
        self.streams.binary_search_by_key(&key, |stream| stream.key).ok().map(|index| &self.streams[index])
    }

    /// The stream of this name.
    pub(crate) fn find_stream(&self, connector: &str, name: &str) -> Option<i64> {
        self.streams
            .iter()
            .find(|stream| {
                *stream.name == *name && self.connectors.get(&stream.connector).is_some_and(|c| **c == *connector)
            })
            .map(|stream| stream.key)
    }
}
