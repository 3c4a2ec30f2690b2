//! The ledger of changes on their way back to a source.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use scion_domain::id::{ConnectorName, Digest256, TenantId};
use scion_domain::json::{Json, JsonObject, parse, to_compact};
use scion_domain::writeback::{
    AttemptKind, ChangeRequest, Effect, EffectStatus, LedgerEntry, LedgerState, WriteBackRefusal,
};
use scion_ports::{WriteBackLedger, async_trait};

use crate::EmbeddedGraph;
use crate::failure::{Failure, Outcome};
use crate::writer::Writer;

type Answered<T> = Outcome<Result<T, WriteBackRefusal>>;

const KINDS: [AttemptKind; 3] = [AttemptKind::DryRun, AttemptKind::Apply, AttemptKind::Reconciliation];
const STATUSES: [EffectStatus; 3] = [EffectStatus::NoEffect, EffectStatus::Applied, EffectStatus::Uncertain];

fn text_of(change: &ChangeRequest) -> String {
    let texts = |list: &[String]| Json::Array(list.iter().map(|text| text.as_str().into()).collect());
    let provenance =
        change.field_provenance.iter().map(|(field, from)| (field.clone(), from.as_str().into())).collect();
    let members: [(&str, Json); 11] = [
        ("change_set_id", change.change_set_id.as_str().into()),
        ("tenant", change.tenant.as_str().into()),
        ("actor", change.actor.as_str().into()),
        ("connector", change.connector.as_str().into()),
        ("entity_id", change.entity_id.as_str().into()),
        ("field_scope", texts(&change.field_scope)),
        ("base_source_version", change.base_source_version.as_str().into()),
        ("desired_patch", Json::Object(change.desired_patch.clone())),
        ("field_provenance", Json::Object(provenance)),
        ("idempotency_key", change.idempotency_key.as_str().into()),
        ("expires_at_ms", change.expires_at_ms.into()),
    ];
    to_compact(&Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

fn change_of(digest: Digest256, text: &str) -> Option<ChangeRequest> {
    let stored = parse(text).ok()?;
    let text = |name: &str| stored.get(name)?.as_str().map(str::to_owned);
    let object = |name: &str| stored.get(name)?.as_object().cloned();
    let strings = |list: &[Json]| list.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
    let provenance = |object: JsonObject| {
        let pair = |(field, from): (String, Json)| Some((field, from.as_str()?.to_owned()));
        object.into_iter().map(pair).collect::<Option<BTreeMap<_, _>>>()
    };
    Some(ChangeRequest {
        change_set_id: text("change_set_id")?,
        change_set_digest: digest,
        tenant: TenantId::parse(&text("tenant")?).ok()?,
        actor: text("actor")?,
        connector: ConnectorName::parse(&text("connector")?).ok()?,
        entity_id: text("entity_id")?,
        field_scope: strings(stored.get("field_scope")?.as_array()?)?,
        base_source_version: text("base_source_version")?,
        desired_patch: object("desired_patch")?,
        field_provenance: provenance(object("field_provenance")?)?,
        idempotency_key: text("idempotency_key")?,
        expires_at_ms: stored.get("expires_at_ms")?.as_number()?.as_i64()?,
    })
}

fn find(connection: &Connection, digest: &Digest256) -> Outcome<Option<(i64, ChangeRequest)>> {
    let found: Option<(i64, String)> = connection
        .prepare_cached("SELECT id, change FROM write_back_change WHERE digest = ?1")?
        .query_row([digest.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    found.map(|(id, text)| Ok((id, change_of(*digest, &text).ok_or_else(Failure::corrupt)?))).transpose()
}

fn create(writer: &mut Writer, change: &ChangeRequest) -> Answered<()> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let digest = change.change_set_digest.as_bytes();
    let known: Option<(String, Vec<u8>)> = transaction
        .prepare_cached("SELECT change_set_id, digest FROM write_back_change WHERE change_set_id = ?1 OR digest = ?2")?
        .query_row(params![change.change_set_id, digest], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match known {
        Some((id, known)) if id == change.change_set_id && known == digest => Ok(Ok(())),
        Some(_) => Ok(Err(WriteBackRefusal::KeyReused { key: change.change_set_id.clone() })),
        None => {
            transaction
                .prepare_cached("INSERT INTO write_back_change(change_set_id, digest, change) VALUES(?1, ?2, ?3)")?
                .execute(params![change.change_set_id, digest, text_of(change)])?;
            transaction.commit()?;
            Ok(Ok(()))
        }
    }
}

fn entries(
    connection: &Connection,
    id: i64,
    change: &ChangeRequest,
    after: u64,
    limit: usize,
) -> Outcome<Vec<LedgerEntry>> {
    let mut list = connection.prepare_cached(
        "SELECT sequence, kind, status, pre_source_version, post_source_version, observation_digest
         FROM write_back_entry WHERE change = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
    )?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut rows = list.query(params![id, after, i64::try_from(limit).unwrap_or(i64::MAX)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (kind, status): (usize, usize) = (row.get(1)?, row.get(2)?);
        found.push(LedgerEntry {
            change_set_digest: change.change_set_digest,
            idempotency_key: change.idempotency_key.clone(),
            kind: *KINDS.get(kind).ok_or_else(Failure::corrupt)?,
            effect: Effect {
                status: *STATUSES.get(status).ok_or_else(Failure::corrupt)?,
                pre_source_version: row.get(3)?,
                post_source_version: row.get(4)?,
                observation_digest: Digest256::from_bytes(row.get(5)?),
            },
            sequence: row.get(0)?,
        });
    }
    Ok(found)
}

fn record(writer: &mut Writer, entry: &LedgerEntry) -> Answered<u64> {
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some((id, change)) = find(&transaction, &entry.change_set_digest)? else {
        return Ok(Err(WriteBackRefusal::UnknownChange));
    };
    if change.idempotency_key != entry.idempotency_key {
        return Ok(Err(WriteBackRefusal::KeyReused { key: entry.idempotency_key.clone() }));
    }
    let before = entries(&transaction, id, &change, 0, usize::MAX)?;
    let accepted = before.iter().chain([entry]).try_fold(LedgerState::default(), |state, entry| {
        state.after(entry.kind, entry.effect.status, &change.entity_id)
    });
    if let Err(refusal) = accepted {
        return Ok(Err(refusal));
    }
    let sequence = before.len() as u64 + 1;
    let effect = &entry.effect;
    let kind = KINDS.iter().position(|kind| *kind == entry.kind);
    let status = STATUSES.iter().position(|status| *status == effect.status);
    transaction
        .prepare_cached(
            "INSERT INTO write_back_entry(change, sequence, kind, status, pre_source_version, post_source_version,
             observation_digest) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            id,
            sequence,
            kind,
            status,
            effect.pre_source_version,
            effect.post_source_version,
            effect.observation_digest.as_bytes()
        ])?;
    transaction.commit()?;
    Ok(Ok(sequence))
}

impl EmbeddedGraph {
    fn ledger(&self, failure: Failure) -> WriteBackRefusal {
        let gone = failure.is_gone();
        match self.store(failure) {
            _ if gone => WriteBackRefusal::LedgerUnknown,
            scion_domain::sink::StoreRefusal::ReadOnly => {
                WriteBackRefusal::Unreachable { what: "the ledger for writing" }
            }
            _ => WriteBackRefusal::Unreachable { what: "the ledger" },
        }
    }
}

#[async_trait]
impl WriteBackLedger for EmbeddedGraph {
    async fn create(&self, change: &ChangeRequest) -> Result<(), WriteBackRefusal> {
        let change = change.clone();
        self.write(move |writer| create(writer, &change)).await.map_err(|failure| self.ledger(failure))?
    }

    async fn get(&self, change_set_digest: &Digest256) -> Result<Option<ChangeRequest>, WriteBackRefusal> {
        let digest = *change_set_digest;
        let found = self.reading(move |connection| find(connection, &digest)).await;
        Ok(found.map_err(|failure| self.ledger(failure))?.map(|(_, change)| change))
    }

    async fn record(&self, entry: &LedgerEntry) -> Result<u64, WriteBackRefusal> {
        let entry = entry.clone();
        self.write(move |writer| record(writer, &entry)).await.map_err(|failure| self.ledger(failure))?
    }

    async fn entries(
        &self,
        change_set_digest: &Digest256,
        after: u64,
        limit: usize,
    ) -> Result<Vec<LedgerEntry>, WriteBackRefusal> {
        let digest = *change_set_digest;
        let read = move |connection: &Connection| {
            let Some((id, change)) = find(connection, &digest)? else { return Ok(Vec::new()) };
            entries(connection, id, &change, after, limit)
        };
        self.reading(read).await.map_err(|failure| self.ledger(failure))
    }
}
