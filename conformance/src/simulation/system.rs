//! The simulated vendor system: tables of records that change, with their history.

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::json::{Json, JsonObject};

use super::layout::{Kind, Layout};
use super::world::World;

/// The most records of one table.
const MOST: usize = 12;

/// One version of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: String,
    /// The time of the change, which is also the version.
    pub(super) seq: u64,
    pub(super) group: Option<u64>,
    pub(super) peer: Option<String>,
    pub(super) other: Option<String>,
    /// The record of the first stream it belongs to, in a fan-out.
    pub(super) parent: Option<String>,
}

impl Record {
    pub(super) fn payload(&self) -> JsonObject {
        let mut payload = JsonObject::new();
        payload.insert("id".into(), Json::from(self.id.as_str()));
        payload.insert("label".into(), Json::from(format!("version {}", self.seq)));
        payload.insert("seq".into(), Json::from(self.seq));
        if let Some(group) = self.group {
            payload.insert("group".into(), Json::from(group));
        }
        for (name, value) in [("peer", &self.peer), ("other", &self.other), ("parent", &self.parent)] {
            if let Some(value) = value {
                payload.insert(name.into(), Json::from(value.as_str()));
            }
        }
        payload
    }

    /// The edges it declares: relation, stream, id.
    pub(super) fn edges(&self, layout: &Layout) -> BTreeSet<(String, String, String)> {
        let mut edges = BTreeSet::new();
        let own = layout.name.to_owned();
        if let Some(group) = self.group.filter(|_| layout.groups) {
            edges.insert(("in_group".to_owned(), own.clone(), format!("Group:{group}")));
        }
        if let Some(peer) = self.peer.as_ref().filter(|peer| layout.peers && **peer != self.id) {
            edges.insert(("peer_of".to_owned(), own, peer.clone()));
        }
        if let (Some(other), Some(stream)) = (&self.other, layout.other) {
            edges.insert(("refers_to".to_owned(), stream.to_owned(), other.clone()));
        }
        edges
    }
}

/// The content of a table as a sweep pages over it.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) records: Vec<Record>,
    pub(super) gone: Vec<String>,
    pub(super) live: Vec<String>,
    pub(super) mark: u64,
}

/// One table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) layout: Layout,
    pub(super) records: BTreeMap<String, Record>,
    /// When a record was deleted.
    gone: BTreeMap<String, u64>,
    pub(super) snapshots: Vec<Snapshot>,
    /// Every version there ever was.
    pub(super) history: BTreeMap<String, Vec<Record>>,
    /// How often the contract of its tool has changed.
    pub(super) contract: u64,
}

/// All tables and the time.
#[derive(Debug)]
pub(super) struct System {
    pub(super) tables: Vec<Table>,
    now: u64,
}

impl System {
    pub(super) fn new(layouts: Vec<Layout>, world: &World) -> Self {
        let empty = |layout| Table {
            layout,
            records: BTreeMap::new(),
            gone: BTreeMap::new(),
            snapshots: Vec::new(),
            history: BTreeMap::new(),
            contract: 0,
        };
        let mut system = Self { tables: layouts.into_iter().map(empty).collect(), now: 0 };
        for index in 0..system.tables.len() {
            for _ in 0..world.dice.below(9) {
                system.put(index, world);
            }
        }
        system
    }

    pub(super) fn table(&mut self, name: &str) -> Option<&mut Table> {
        self.tables.iter_mut().find(|table| table.layout.name == name)
    }

    /// One random change.
    pub(super) fn change(&mut self, world: &World) {
        let index = usize::try_from(world.dice.below(self.tables.len() as u64)).unwrap_or(0);
        if world.one_in(4) { self.delete(index, world) } else { self.put(index, world) }
    }

    fn put(&mut self, index: usize, world: &World) {
        self.now += 1;
        let parents: Vec<String> = self.tables[0].records.keys().cloned().collect();
        let table = &mut self.tables[index];
        let parent = if table.layout.kind == Kind::FanOut {
            let Some(parent) = choose(&parents, world) else { return };
            Some(parent)
        } else {
            None
        };
        let number = world.dice.below(MOST as u64);
        let id = parent.as_ref().map_or_else(|| format!("r{number}"), |parent| format!("{parent}.{}", number % 2));
        let some_id = || format!("r{}", world.dice.below(MOST as u64 + 2));
        let record = Record {
            id: id.clone(),
            seq: self.now,
            group: world.one_in(2).then(|| world.dice.below(3)),
            peer: world.one_in(2).then(some_id),
            other: world.one_in(2).then(some_id),
            parent,
        };
        table.gone.remove(&id);
        table.history.entry(id.clone()).or_default().push(record.clone());
        table.records.insert(id, record);
    }

    fn delete(&mut self, index: usize, world: &World) {
        self.now += 1;
        let ids: Vec<String> = self.tables[index].records.keys().cloned().collect();
        let Some(id) = choose(&ids, world) else { return };
        self.tables[index].records.remove(&id);
        self.tables[index].gone.insert(id.clone(), self.now);
        if index == 0 {
            // What belonged to it cannot be read any more.
            for table in self.tables.iter_mut().filter(|table| table.layout.kind == Kind::FanOut) {
                table.records.retain(|_, record| record.parent.as_ref() != Some(&id));
            }
        }
    }

    /// A new snapshot of a table; answers its number.
    pub(super) fn snapshot(&mut self, name: &str, since: Option<u64>) -> usize {
        let mark = self.now;
        let Some(table) = self.table(name) else { return 0 };
        let fresh = |seq: u64| since.is_none_or(|since| seq >= since);
        let gone = table.gone.iter().filter(|(_, at)| since.is_some() && fresh(**at));
        table.snapshots.push(Snapshot {
            records: table.records.values().filter(|record| fresh(record.seq)).cloned().collect(),
            gone: gone.map(|(id, _)| id.clone()).collect(),
            live: table.records.keys().cloned().collect(),
            mark,
        });
        table.snapshots.len() - 1
    }
}

fn choose(ids: &[String], world: &World) -> Option<String> {
    let index = usize::try_from(world.dice.below(ids.len() as u64)).unwrap_or(0);
    ids.get(index).cloned()
}
