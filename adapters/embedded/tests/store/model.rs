//! Random batches against a naive model that keeps everything in maps.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;
use scion_domain::model::{IngestMode, RelationshipRecord, SourceBatch, Withdrawal};
use scion_ports::{RecordDigests, Sink, StreamCatalog};

use crate::support::*;

const IDS: u8 = 8;

/// What one batch tries to do, in small numbers.
#[derive(Clone, Debug)]
struct Plan {
    mode: IngestMode,
    /// Id to title.
    records: BTreeMap<u8, u8>,
    /// From, to; `true` leads to another stream.
    edges: BTreeSet<(u8, u8, bool)>,
    complete: bool,
    withdrawn: BTreeSet<u8>,
    listed: BTreeSet<u8>,
    stale: bool,
}

impl Plan {
    /// An edge never leads to its own start.
    fn edges(&self) -> impl Iterator<Item = (u8, u8, bool)> {
        self.edges.iter().copied().filter(|(from, to, _)| from != to)
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let mode = prop_oneof![Just(IngestMode::Full), Just(IngestMode::Delta), Just(IngestMode::Reconcile)];
    (
        mode,
        btree_map(0..IDS, any::<u8>(), 0..4),
        btree_set((0..IDS, 0..IDS, any::<bool>()), 0..5),
        any::<bool>(),
        btree_set(0..IDS, 0..3),
        btree_set(0..IDS, 0..6),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(mode, records, edges, complete, withdrawn, listed, stale)| Plan {
            mode,
            records,
            edges,
            complete,
            withdrawn,
            listed,
            stale,
        })
}

#[derive(Clone, Default)]
struct Model {
    step: u64,
    live: BTreeMap<u8, u8>,
    withdrawn: BTreeSet<u8>,
    edges: BTreeSet<(u8, u8, bool)>,
}

fn name(id: u8) -> String {
    format!("id {id}")
}

impl Model {
    fn batch(&self, plan: &Plan) -> SourceBatch {
        let step = if plan.stale { self.step.max(1) } else { self.step + 1 };
        let mut records: Vec<_> =
            plan.records.iter().map(|(id, title)| ticket(&name(*id), &format!(r#"{{"title":"{title}"}}"#))).collect();
        if plan.complete {
            for record in &mut records {
                record.complete_relations = vec![relation("Ticket", "parent"), relation("Ticket", "owner")].into();
            }
        }
        let mut batch = batch("tickets", plan.mode, step, records);
        batch.relationships = plan.edges().map(to_edge).collect();
        if plan.mode == IngestMode::Delta {
            let gone = plan.withdrawn.iter().filter(|id| !plan.records.contains_key(id));
            batch.withdrawals = gone
                .map(|id| Withdrawal { entity: entity("tickets", &name(*id)), reason: "gone".to_owned() })
                .collect();
        }
        if plan.mode == IngestMode::Reconcile {
            let listed = plan.listed.iter().chain(plan.records.keys()).collect::<BTreeSet<_>>();
            batch.authoritative_live_ids = Some(listed.iter().map(|id| entity("tickets", &name(**id))).collect());
        }
        let empty = match &batch.authoritative_live_ids {
            Some(listed) => listed.is_empty(),
            None => plan.mode == IngestMode::Full && batch.is_empty(),
        };
        batch.empty_authoritative_approval = empty.then(|| "meant".to_owned());
        batch
    }

    /// The state after the batch, or `None` when it must be refused.
    fn apply(&self, plan: &Plan, batch: &SourceBatch) -> Option<Self> {
        if plan.stale && self.step > 0 {
            return None;
        }
        let mut next = Self { step: self.step + 1, ..self.clone() };
        for (id, title) in &plan.records {
            if plan.complete {
                next.edges.retain(|(from, ..)| from != id);
            }
            next.live.insert(*id, *title);
            next.withdrawn.remove(id);
        }
        for edge in plan.edges() {
            if next.withdrawn.contains(&edge.0) {
                return None;
            }
            next.edges.insert(edge);
        }
        let gone: Vec<u8> = match &batch.authoritative_live_ids {
            Some(_) => next
                .live
                .keys()
                .copied()
                .filter(|id| !plan.listed.contains(id) && !plan.records.contains_key(id))
                .collect(),
            None if plan.mode == IngestMode::Delta => {
                plan.withdrawn.iter().copied().filter(|id| !plan.records.contains_key(id)).collect()
            }
            None => Vec::new(),
        };
        for id in gone {
            next.live.remove(&id)?;
            next.withdrawn.insert(id);
            next.edges.retain(|(from, ..)| *from != id);
        }
        Some(next)
    }

    fn visible_edges(&self) -> Vec<String> {
        // Nobody ever commits to the other stream, so only edges inside the stream can show.
        let inside = self
            .edges
            .iter()
            .filter(|(from, to, other)| !other && self.live.contains_key(from) && self.live.contains_key(to));
        let mut out: Vec<String> = inside.map(|(from, to, _)| format!("{} | {}", name(*from), name(*to))).collect();
        out.sort();
        out
    }
}

fn to_edge(edge: (u8, u8, bool)) -> RelationshipRecord {
    let (relation, target) = if edge.2 { ("owner", "people") } else { ("parent", "tickets") };
    crate::support::edge(&name(edge.0), relation, target, &name(edge.1))
}

async fn agree(desk: &Desk, model: &Model) {
    let titles: Vec<String> = model.live.iter().map(|(id, title)| format!("{} | {title}", name(*id))).collect();
    assert_eq!(rows(&desk.graph, "SELECT ?id ?t { ?r scion:recordId ?id ; desk:title ?t }").await, titles);
    let edges = "SELECT ?a ?b { ?x desk:parent ?y . ?x scion:recordId ?a . ?y scion:recordId ?b }";
    assert_eq!(rows(&desk.graph, edges).await, model.visible_edges());
    for (id, title) in &model.live {
        let indexed = format!("SELECT ?id {{ ?r desk:title \"{title}\" ; scion:recordId ?id }}");
        assert!(rows(&desk.graph, &indexed).await.contains(&name(*id)));
    }
    let status = desk.graph.status(&connector(), &stream("tickets")).await.unwrap();
    assert_eq!(status.accepted_checkpoint, checkpoint("tickets", model.step));
    if let Some(tickets) = desk.graph.streams().await.unwrap().first() {
        assert_eq!(tickets.live_records, model.live.len() as u64);
        assert_eq!(tickets.withdrawn_records, model.withdrawn.len() as u64);
        assert_eq!(tickets.relationships, model.visible_edges().len() as u64);
    }
    let ids: Vec<_> = (0..IDS).map(|n| id(&name(n))).collect();
    let digests = desk.graph.lookup(&connector(), &stream("tickets"), &ids).await.unwrap();
    let known: Vec<bool> = digests.iter().map(Option::is_some).collect();
    assert_eq!(known, (0..IDS).map(|n| model.live.contains_key(&n)).collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_store_agrees_with_the_model(plans in prop::collection::vec(plan(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let desk = desk().await;
            let mut model = Model::default();
            for plan in &plans {
                let batch = model.batch(plan);
                let expected = model.apply(plan, &batch);
                let answer = desk.graph.commit(&batch).await;
                match expected {
                    Some(next) => {
                        let receipt = answer.unwrap();
                        assert_eq!(receipt.affected_count, (batch.records.len() + batch.relationships.len()) as u64);
                        model = next;
                    }
                    // A stale batch may be the very one accepted before: then it is a replay, and changes nothing.
                    None => prop_assert!(plan.stale || answer.is_err()),
                }
                agree(&desk, &model).await;
            }
            Ok(())
        })?;
    }
}
