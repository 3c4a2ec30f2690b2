//! Importing a connector's pack: its declaration, and whatever else it publishes, as exact bodies under URIs.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::model::{PackImport, PackReceipt, PackStatus};
use scion_domain::sink::SinkRefusal;

use crate::contract::{self, AcceptedContract, Head};
use crate::failure::Outcome;
use crate::value_index;
use crate::writer::Writer;

/// The engine's own bound (`wire/engine-protocol.md` 6.2).
const MAX_ENTRIES: usize = 8192;

/// The most bytes of all bodies: the engine's frame limit.
const MAX_BYTES: usize = 64 << 20;

/// What can be checked of an import without the store.
pub(crate) fn check(import: &PackImport) -> Result<ConnectorDeclaration, SinkRefusal> {
    let invalid = |what| Err(SinkRefusal::PackInvalid { what });
    if import.entries.len() > MAX_ENTRIES {
        return invalid("it has more than 8192 entries");
    }
    if import.entries.iter().map(|entry| entry.body.len()).sum::<usize>() > MAX_BYTES {
        return invalid("its bodies have more than 64 MiB");
    }
    let mut seen = HashSet::with_capacity(import.entries.len());
    if !import.entries.iter().all(|entry| seen.insert(entry.uri.as_str())) {
        return invalid("two entries have one URI");
    }
    if import.entries.iter().any(|entry| entry.kind == "ontology" && std::str::from_utf8(&entry.body).is_err()) {
        return invalid("an ontology is not UTF-8");
    }
    contract::declaration(&import.connector, &import.entries)
}

pub(crate) fn import(writer: &mut Writer, import: &PackImport) -> Outcome<PackReceipt> {
    let declaration = check(import)?;
    let pack_digest = digest::pack(import);
    let transaction = writer.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let connector = writer.interned.connector(&transaction, import.connector.as_str())?;
    let current = contract::head(&transaction, connector)?;
    // The same pack again is no conflict, whatever revision the caller believes in: its reply may have been lost.
    if let Some((revision, digest)) = current
        && digest == pack_digest
    {
        transaction.rollback()?;
        return Ok(PackReceipt { pack_digest, revision, unchanged: true });
    }
    if import.expected_revision != current.map(|(revision, _)| revision) {
        return Err(SinkRefusal::PackConflict { connector: import.connector.to_string() }.into());
    }
    check_withdrawal(&transaction, connector, import)?;

    let revision = current.map_or(1, |(revision, _)| revision + 1);
    transaction
        .prepare_cached("INSERT OR REPLACE INTO pack(connector, revision, digest) VALUES(?1, ?2, ?3)")?
        .execute(params![connector, revision, pack_digest.as_bytes()])?;
    transaction.prepare_cached("DELETE FROM pack_entry WHERE connector = ?1")?.execute([connector])?;
    let mut add = transaction
        .prepare_cached("INSERT INTO pack_entry(connector, uri, kind, media_type, body) VALUES(?1, ?2, ?3, ?4, ?5)")?;
    for entry in &import.entries {
        add.execute(params![connector, entry.uri, entry.kind, entry.media_type, entry.body])?;
    }
    drop(add);
    let head = Head { key: connector, revision, digest: pack_digest };
    let accepted = contract::compile(&transaction, &import.connector, &head, &declaration, &import.entries)?;
    accepted.note_properties(&transaction)?;
    if writer.options.index_titles {
        index_titles(&transaction, &import.connector, &declaration, &accepted)?;
    }
    transaction.commit()?;
    Ok(PackReceipt { pack_digest, revision, unchanged: false })
}

/// SDK-SOURCE-INGEST-R004.27: more than half of what is published goes only with the caller's word.
fn check_withdrawal(connection: &Connection, connector: i64, import: &PackImport) -> Outcome<()> {
    let kept: HashSet<&str> = import.entries.iter().map(|entry| entry.uri.as_str()).collect();
    let published = connection
        .prepare_cached("SELECT uri FROM pack_entry WHERE connector = ?1")?
        .query_map([connector], |row| row.get(0))?
        .collect::<Result<Vec<String>, _>>()?;
    let withdrawn = published.iter().filter(|uri| !kept.contains(uri.as_str())).count();
    if withdrawn * 2 > published.len() && !import.allow_mass_withdrawal {
        return Err(SinkRefusal::MassWithdrawal { before: published.len(), withdrawn }.into());
    }
    Ok(())
}

fn index_titles(
    connection: &Connection,
    connector: &ConnectorName,
    declaration: &ConnectorDeclaration,
    accepted: &AcceptedContract,
) -> Outcome<()> {
    for source in &declaration.sources {
        let property =
            source.title_field.as_deref().and_then(|field| accepted.property(connector, &source.record_type, field));
        if let Some(property) = property {
            value_index::choose(connection, property)?;
        }
    }
    Ok(())
}

pub(crate) fn status(connection: &Connection, connector: &ConnectorName) -> Outcome<PackStatus> {
    let head: Option<(u64, [u8; 32], Vec<u8>)> = connection
        .prepare_cached(
            "SELECT p.revision, p.digest, e.body FROM connector c JOIN pack p ON p.connector = c.id
             JOIN pack_entry e ON e.connector = c.id AND e.uri = 'connector://resources' WHERE c.name = ?1",
        )?
        .query_row([connector.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    Ok(head.map_or_else(PackStatus::default, |(revision, accepted, declaration)| PackStatus {
        accepted_digest: Some(Digest256::from_bytes(accepted)),
        revision: Some(revision),
        declaration_digest: Some(digest::sha256(&declaration)),
    }))
}
