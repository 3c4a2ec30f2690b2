//! The comparison of the graph with the source, once both stand still (I1).

use std::collections::{BTreeMap, BTreeSet};

use scion_domain::canonical::lossless_json;
use scion_domain::json::Json;

use super::drive::{Env, connector};
use super::layout::Kind;
use super::system::{Record, Table};
use super::world::{World, lock};

type Edges = BTreeSet<(String, String, String)>;

/// The graph of one stream as plain text.
struct View<'a> {
    world: &'a World,
    table: &'a Table,
    /// Live records: id to payload.
    live: &'a BTreeMap<(String, String), String>,
    edges: &'a BTreeMap<(String, String), Edges>,
}

fn text(record: &Record) -> String {
    lossless_json(&Json::Object(record.payload()))
}

/// Compares every stream.
pub(super) fn check(env: &Env) {
    let graph = &env.truth.graph;
    let mut live = BTreeMap::new();
    for record in graph.live_records() {
        live.insert((record.entity.stream.to_string(), record.entity.record_id.to_string()), record.payload);
    }
    let mut edges: BTreeMap<(String, String), Edges> = BTreeMap::new();
    for edge in graph.visible_edges() {
        let from = (edge.source.stream.to_string(), edge.source.record_id.to_string());
        let relation = edge.relation.parts(&connector()).map_or_else(String::new, |(_, name)| name.to_owned());
        let to = (relation, edge.target.stream.to_string(), edge.target.record_id.to_string());
        edges.entry(from).or_default().insert(to);
    }
    let system = lock(&env.system);
    for table in &system.tables {
        let view = View { world: &env.world, table, live: &live, edges: &edges };
        for record in table.records.values() {
            view.current(record);
        }
        view.others();
    }
}

impl View<'_> {
    fn name(&self) -> &'static str {
        self.table.layout.name
    }

    fn payload(&self, id: &str) -> Option<&String> {
        self.live.get(&(self.name().to_owned(), id.to_owned()))
    }

    fn edges_of(&self, id: &str) -> Edges {
        self.edges.get(&(self.name().to_owned(), id.to_owned())).cloned().unwrap_or_default()
    }

    /// A record the source has is in the graph as it is, with its edges.
    fn current(&self, record: &Record) {
        let (stream, id) = (self.name(), &record.id);
        match self.payload(id) {
            None => self.world.broken(format!("I1 {stream}/{id} is lost")),
            Some(payload) if *payload != text(record) => {
                self.world.broken(format!("I1 {stream}/{id} is {payload} and should be {}", text(record)));
            }
            Some(_) => {}
        }
        let declared = record.edges(&self.table.layout);
        let visible: Edges = declared
            .iter()
            .filter(|(_, stream, id)| self.live.contains_key(&(stream.clone(), id.clone())))
            .cloned()
            .collect();
        let found = self.edges_of(id);
        if found != visible {
            self.world.broken(format!("I1 the edges of {stream}/{id} are {found:?} and should be {visible:?}"));
        }
        for (_, _, target) in declared.iter().filter(|(_, to, _)| to == stream) {
            // A real record that was withdrawn takes its place in the graph with it until something names it anew.
            let was_real = self.table.layout.kind.is_delta() && self.table.history.contains_key(target);
            if self.payload(target).is_none() && !was_real {
                self.world.broken(format!("I1 {stream}/{target}, which {id} refers to, is lost"));
            }
        }
    }

    /// Whatever else is live was once said by the source, and where the source withdraws it is still said.
    fn others(&self) {
        let (stream, kind) = (self.name(), self.table.layout.kind);
        let here = self.live.iter().filter(|((of, _), _)| of == stream);
        for ((_, id), payload) in here.filter(|((_, id), _)| !self.table.records.contains_key(id)) {
            let stub = payload == "{}";
            let refers = |record: &Record| {
                record.edges(&self.table.layout).iter().any(|(_, to, target)| to == stream && target == id)
            };
            let said = if stub && kind == Kind::Reconcile {
                self.table.records.values().any(refers)
            } else if stub {
                self.table.history.values().flatten().any(refers)
            } else if kind == Kind::Reconcile || kind.is_delta() {
                false
            } else {
                self.table
                    .history
                    .get(id)
                    .is_some_and(|versions| versions.iter().any(|version| text(version) == *payload))
            };
            if !said {
                self.world.broken(format!("I1 {stream}/{id} is live as {payload} and the source does not say so"));
            }
            if !stub {
                let versions = self.table.history.get(id).into_iter().flatten();
                let ever: Vec<Edges> = versions.map(|version| version.edges(&self.table.layout)).collect();
                let found = self.edges_of(id);
                if !ever.iter().any(|edges| found.is_subset(edges)) {
                    self.world.broken(format!("I1 the edges of {stream}/{id} are {found:?}, which no version had"));
                }
            }
        }
    }
}
