//! Writing relationships. An edge may lead to a record that is not there yet: the target gets a row without content, and
//! the edge shows once that record is live.

use std::collections::{HashMap, HashSet};

use rusqlite::params;
use scion_domain::sink::SinkRefusal;

use crate::admission::ReadyBatch;
use crate::commit::Context;
use crate::failure::Outcome;
use crate::iri;
use crate::records::{self, Placed, WITHDRAWN};

/// Targets by source and relation, for the sources whose relations are complete.
type Written = HashMap<(i64, i64), HashSet<i64>>;

pub(crate) fn write(context: &mut Context<'_>, batch: &ReadyBatch, placed: &Placed<'_>) -> Outcome<()> {
    let connection = context.connection;
    let mut add = connection.prepare_cached(
        "INSERT OR IGNORE INTO edge(relation, source, target, provenance, properties) VALUES(?1, ?2, ?3, ?4, ?5)",
    )?;
    let mut replace = connection.prepare_cached(
        "UPDATE edge SET provenance = ?4, properties = ?5 WHERE relation = ?1 AND source = ?2 AND target = ?3
         AND (provenance <> ?4 OR properties IS NOT ?5)",
    )?;
    let mut written = Written::new();
    let mut targets: HashMap<(i64, &str), i64> = HashMap::new();
    for (index, edge) in batch.edges.iter().enumerate() {
        let source = match placed.row(edge.source.as_str()) {
            Some(row) => row.key,
            None => match records::find_or_name(connection, context.stream, edge.source.as_str())? {
                (_, WITHDRAWN) => return Err(SinkRefusal::EndpointWithdrawn { index }.into()),
                (key, _) => key,
            },
        };
        let target_stream = if edge.target_stream == batch.stream {
            context.stream
        } else {
            context.interned.stream(connection, context.connector, edge.target_stream.as_str())?
        };
        let target = match placed.row(edge.target.as_str()) {
            Some(row) if target_stream == context.stream => row.key,
            _ => {
                let name = (target_stream, edge.target.as_str());
                if let Some(key) = targets.get(&name) {
                    *key
                } else {
                    let (key, _) = records::find_or_name(connection, target_stream, edge.target.as_str())?;
                    targets.insert(name, key);
                    key
                }
            }
        };
        let relation = relation_key(context, batch, edge.relation.as_str())?;
        let provenance = context.provenances[edge.provenance];
        if add.execute(params![relation, source, target, provenance, edge.properties])? == 1 {
            context.tally.edges += 1;
        } else {
            replace.execute(params![relation, source, target, provenance, edge.properties])?;
        }
        written.entry((source, relation)).or_default().insert(target);
    }
    drop_gone(context, batch, placed, &written)
}

/// Removes the edges a record no longer has, for the relations of which the batch has all.
fn drop_gone(context: &mut Context<'_>, batch: &ReadyBatch, placed: &Placed<'_>, written: &Written) -> Outcome<()> {
    let connection = context.connection;
    let mut present = connection.prepare_cached("SELECT target FROM edge WHERE relation = ?1 AND source = ?2")?;
    let mut remove =
        connection.prepare_cached("DELETE FROM edge WHERE relation = ?1 AND source = ?2 AND target = ?3")?;
    for record in &batch.records {
        let Some(row) = placed.row(record.id.as_str()).filter(|row| !row.new) else { continue };
        for reference in &*record.complete_relations {
            let relation = relation_key(context, batch, reference.as_str())?;
            let kept = written.get(&(row.key, relation));
            let gone = present
                .query_map(params![relation, row.key], |row| row.get(0))?
                .filter(|target| target.as_ref().map_or(true, |target| !kept.is_some_and(|kept| kept.contains(target))))
                .collect::<Result<Vec<i64>, _>>()?;
            for target in gone {
                context.tally.edges -= i64::try_from(remove.execute(params![relation, row.key, target])?).unwrap_or(0);
            }
        }
    }
    Ok(())
}

fn relation_key(context: &mut Context<'_>, batch: &ReadyBatch, reference: &str) -> Outcome<i64> {
    let name = reference.rsplit('/').next().unwrap_or(reference);
    let predicate = iri::name(batch.connector.as_str(), name);
    context.interned.relation(context.connection, context.connector, reference, &predicate)
}

/// Removes the outgoing edges of a record that is withdrawn; those that lead to it wait for its return.
pub(crate) fn forget_outgoing(context: &mut Context<'_>, source: i64) -> Outcome<()> {
    let connection = context.connection;
    let relations = connection
        .prepare_cached("SELECT id FROM relation WHERE connector = ?1")?
        .query_map([context.connector], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let mut remove = connection.prepare_cached("DELETE FROM edge WHERE relation = ?1 AND source = ?2")?;
    for relation in relations {
        context.tally.edges -= i64::try_from(remove.execute(params![relation, source])?).unwrap_or(0);
    }
    Ok(())
}
