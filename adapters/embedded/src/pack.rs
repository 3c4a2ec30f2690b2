//! Importing a connector's pack: its declaration, and whatever else it publishes, as exact bodies under URIs.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use scion_domain::declaration::ConnectorDeclaration;
use scion_domain::digest;
use scion_domain::id::{ConnectorName, Digest256};
use scion_domain::json::{Json, to_compact};
use scion_domain::model::{PackEntry, PackImport, PackReceipt, PackReference, PackStatus};
use scion_domain::pack::{EntryKind, MAX_ARCHIVE_BYTES, MAX_ENTRIES};
use scion_domain::sink::SinkRefusal;

use crate::contract::{self, AcceptedContract, Head};
use crate::failure::Outcome;
use crate::value_index;
use crate::writer::Writer;

/// What can be checked of an import without the store.
pub(crate) fn check(import: &PackImport) -> Result<ConnectorDeclaration, SinkRefusal> {
    let invalid = |what| Err(SinkRefusal::PackInvalid { what });
    if import.entries.len() > MAX_ENTRIES {
        return invalid("it has more than 8192 entries");
    }
    let schema = |schema: &Option<Vec<u8>>| schema.as_ref().map_or(0, Vec::len);
    let size = |entry: &PackEntry| entry.body.len() + schema(&entry.input_schema) + schema(&entry.output_schema);
    if import.entries.iter().map(size).sum::<usize>() > MAX_ARCHIVE_BYTES {
        return invalid("its bodies and schemas have more than 64 MiB");
    }
    if import.entries.iter().any(|entry| EntryKind::parse(&entry.kind).is_none_or(|kind| kind == EntryKind::McpServer))
    {
        return invalid("an entry is of no kind that a pack holds");
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
    let mut add = transaction.prepare_cached(
        "INSERT INTO pack_entry(connector, uri, kind, media_type, body, name, input_schema, output_schema, annotations, links, facts)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    for entry in &import.entries {
        add.execute(params![
            connector,
            entry.uri,
            entry.kind,
            entry.media_type,
            entry.body,
            entry.name,
            entry.input_schema,
            entry.output_schema,
            to_compact(&entry.annotations.to_json()),
            to_compact(&links(entry)),
            entry.facts.as_ref().map(|facts| to_compact(&facts.to_json())),
        ])?;
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

fn links(entry: &PackEntry) -> Json {
    let link = |link: &PackReference| {
        Json::from([("kind", Json::from(link.kind.as_str())), ("uri", Json::from(link.uri.as_str()))])
    };
    entry.references.iter().map(link).collect::<Vec<_>>().into()
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
