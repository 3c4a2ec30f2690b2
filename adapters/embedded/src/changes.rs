//! Change envelopes, the nodes they make, and the feed of those changes.
//!
//! The nodes stand apart from the records that connectors sync: they are read by their name and through the feed, and queries do
//! not see them.

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use scion_domain::json::{Json, JsonObject, parse, to_compact};
use scion_domain::messaging::{
    BatchOutcome, ChangeBatch, ChangeDraft, ChangeKind, ChangePage, ChangePosition, GraphChange, MessageRefusal,
    NodeChange, NodeState, check_limit, check_name,
};
use scion_ports::{ChangeEnvelopes, ChangeFeedReader, async_trait};

use crate::EmbeddedGraph;
use crate::failure::{Failure, Outcome};
use crate::messages::Answered;
use crate::writer::Writer;

/// Changes the feed keeps.
const KEPT_CHANGES: i64 = 65_536;
/// Positions of a partition for which a replay is told from another change.
const KEPT_POSITIONS: i64 = 10_000;

fn object(text: &str) -> Outcome<JsonObject> {
    match parse(text) {
        Ok(Json::Object(object)) => Ok(object),
        _ => Err(Failure::corrupt()),
    }
}

fn text(properties: &JsonObject) -> String {
    to_compact(&Json::Object(properties.clone()))
}

/// `(id, position)` of a partition.
fn cursor(connection: &Connection, source: &str, partition: &str) -> Outcome<Option<(i64, Option<i64>)>> {
    Ok(connection
        .prepare_cached("SELECT id, position FROM change_cursor WHERE source = ?1 AND part = ?2")?
        .query_row([source, partition], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

fn node(connection: &Connection, node: &str) -> Outcome<Option<(String, String)>> {
    Ok(connection
        .prepare_cached("SELECT node_type, properties FROM change_node WHERE node = ?1")?
        .query_row([node], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// What a batch is that does not follow the cursor.
fn settle(transaction: &Transaction<'_>, id: i64, batch: &ChangeBatch) -> Answered<BatchOutcome> {
    let mut known = 0;
    for draft in batch.drafts() {
        let digest: Option<Vec<u8>> = transaction
            .prepare_cached("SELECT content_digest FROM change_envelope WHERE cursor = ?1 AND position = ?2")?
            .query_row(params![id, draft.position], |row| row.get(0))
            .optional()?;
        match digest {
            Some(digest) if digest == draft.content_digest.as_bytes() => known += 1,
            Some(_) => return Ok(Err(MessageRefusal::Rejected { what: "a position was taken by another change" })),
            None => {}
        }
    }
    if known == batch.drafts().len() {
        return Ok(Ok(BatchOutcome::Replayed));
    }
    Ok(Err(MessageRefusal::Stale { source_name: batch.source().to_owned() }))
}

fn apply(writer: &mut Writer, batch: &ChangeBatch) -> Answered<BatchOutcome> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (source, partition) = (batch.source(), batch.partition());
    transaction
        .prepare_cached("INSERT OR IGNORE INTO change_cursor(source, part) VALUES(?1, ?2)")?
        .execute([source, partition])?;
    let (id, position) = cursor(&transaction, source, partition)?.ok_or_else(Failure::corrupt)?;
    if position != batch.expected().and_then(|expected| i64::try_from(expected).ok()) {
        return settle(&transaction, id, batch);
    }
    let mut seq: i64 = transaction.query_row("SELECT next_seq FROM change_feed", [], |row| row.get(0))?;
    for draft in batch.drafts() {
        seq += i64::from(change(&transaction, seq, draft)?);
        transaction
            .prepare_cached("INSERT INTO change_envelope(cursor, position, content_digest) VALUES(?1, ?2, ?3)")?
            .execute(params![id, draft.position, draft.content_digest.as_bytes()])?;
    }
    let last = i64::try_from(batch.last()).unwrap_or(i64::MAX);
    transaction.execute("UPDATE change_cursor SET position = ?2 WHERE id = ?1", [id, last])?;
    transaction.execute("UPDATE change_feed SET next_seq = ?1", [seq])?;
    transaction.execute("DELETE FROM change_log WHERE seq < ?1", [seq.saturating_sub(KEPT_CHANGES)])?;
    transaction.execute(
        "DELETE FROM change_envelope WHERE cursor = ?1 AND position < ?2",
        [id, last.saturating_sub(KEPT_POSITIONS)],
    )?;
    transaction.commit()?;
    Ok(Ok(BatchOutcome::Applied))
}

/// Carries out one change and logs it; false when there was nothing to change.
fn change(transaction: &Transaction<'_>, seq: i64, draft: &ChangeDraft) -> Outcome<bool> {
    let name = &draft.event.node;
    let before = node(transaction, name)?;
    let (kind, label, after) = match &draft.event.change {
        NodeChange::Put { node_type, properties } => {
            let properties = text(properties);
            transaction
                .prepare_cached("INSERT OR REPLACE INTO change_node(node, node_type, properties) VALUES(?1, ?2, ?3)")?
                .execute(params![name, node_type, properties])?;
            let kind = if before.is_some() { ChangeKind::UpdateNode } else { ChangeKind::AddNode };
            (kind, node_type.clone(), Some(properties))
        }
        NodeChange::Remove => {
            let Some((node_type, _)) = &before else { return Ok(false) };
            transaction.prepare_cached("DELETE FROM change_node WHERE node = ?1")?.execute([name])?;
            (ChangeKind::RemoveNode, node_type.clone(), None)
        }
    };
    transaction
        .prepare_cached("INSERT INTO change_log(seq, kind, node, label, before, after) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![seq, kind as u8, name, label, before.map(|(_, properties)| properties), after])?;
    Ok(true)
}

fn kind_of(number: u8) -> Outcome<ChangeKind> {
    [ChangeKind::AddNode, ChangeKind::UpdateNode, ChangeKind::RemoveNode]
        .into_iter()
        .find(|kind| *kind as u8 == number)
        .ok_or_else(Failure::corrupt)
}

fn page(connection: &Connection, from: Option<ChangePosition>, limit: usize) -> Outcome<ChangePage> {
    let (epoch, end): (u64, u64) =
        connection.query_row("SELECT epoch, next_seq FROM change_feed", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let first: Option<u64> = connection.query_row("SELECT min(seq) FROM change_log", [], |row| row.get(0))?;
    let first = first.unwrap_or(end);
    let from = from.unwrap_or(ChangePosition { epoch, seq: first });
    if from.epoch != epoch || from.seq < first || from.seq > end {
        return Ok(ChangePage { changes: Vec::new(), gap: true, next: ChangePosition { epoch, seq: end } });
    }
    let mut list = connection.prepare_cached(
        "SELECT seq, kind, node, label, before, after FROM change_log WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
    )?;
    let mut rows = list.query(params![from.seq, limit as u64])?;
    let mut changes: Vec<GraphChange> = Vec::new();
    while let Some(row) = rows.next()? {
        let (before, after): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
        changes.push(GraphChange {
            seq: row.get(0)?,
            kind: kind_of(row.get(1)?)?,
            node: row.get(2)?,
            target: None,
            label: row.get(3)?,
            before: before.as_deref().map(object).transpose()?,
            after: after.as_deref().map(object).transpose()?,
        });
    }
    let seq = changes.last().map_or(from.seq, |change| change.seq + 1);
    Ok(ChangePage { changes, gap: false, next: ChangePosition { epoch, seq } })
}

#[async_trait]
impl ChangeEnvelopes for EmbeddedGraph {
    async fn apply(&self, batch: &ChangeBatch) -> Result<BatchOutcome, MessageRefusal> {
        if i64::try_from(batch.last()).is_err() {
            return Err(MessageRefusal::Invalid { what: "a position is too large" });
        }
        let batch = batch.clone();
        self.write(move |writer| apply(writer, &batch)).await.map_err(self.message("the batch of changes"))?
    }

    async fn cursor(&self, source: &str, partition: &str) -> Result<Option<u64>, MessageRefusal> {
        let (source, partition) = (source.to_owned(), partition.to_owned());
        let found = self.reading(move |connection| cursor(connection, &source, &partition)).await;
        let position = found.map_err(|failure| MessageRefusal::from(self.store(failure)))?.and_then(|(_, at)| at);
        Ok(position.and_then(|position| u64::try_from(position).ok()))
    }

    async fn node(&self, name: &str) -> Result<Option<NodeState>, MessageRefusal> {
        check_name(name)?;
        let name = name.to_owned();
        let read = move |connection: &Connection| {
            let found = node(connection, &name)?;
            found.map(|(node_type, text)| Ok(NodeState { node_type, properties: object(&text)? })).transpose()
        };
        self.reading(read).await.map_err(|failure| self.store(failure).into())
    }
}

#[async_trait]
impl ChangeFeedReader for EmbeddedGraph {
    async fn read(&self, from: Option<ChangePosition>, limit: usize) -> Result<ChangePage, MessageRefusal> {
        check_limit(limit)?;
        let found = self.reading(move |connection| page(connection, from, limit)).await;
        found.map_err(|failure| self.store(failure).into())
    }
}
