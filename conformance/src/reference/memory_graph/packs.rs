//! Accepting packs.

use std::collections::BTreeSet;

use scion_domain::id::ConnectorName;
use scion_domain::json::{self, Json};
use scion_domain::model::{PackImport, PackReceipt, PackStatus};
use scion_domain::sink::SinkRefusal;

use super::state::{Accepted, State};

pub(super) fn status(state: &State, connector: &ConnectorName) -> PackStatus {
    state.packs.get(connector).map_or_else(PackStatus::default, |pack| PackStatus {
        accepted_digest: Some(pack.digest),
        revision: Some(pack.revision),
        declaration_digest: Some(pack.declaration),
    })
}

pub(super) fn import(state: &mut State, import: &PackImport) -> Result<PackReceipt, SinkRefusal> {
    let uris: BTreeSet<String> = import.entries.iter().map(|entry| entry.uri.clone()).collect();
    if uris.len() != import.entries.len() {
        return Err(SinkRefusal::PackInvalid { what: "two entries share a URI" });
    }
    let declaration = import.entries.iter().find(|entry| entry.uri == "connector://resources");
    let declaration = declaration.ok_or(SinkRefusal::PackInvalid { what: "it has no connector://resources" })?;
    let declaration_digest = scion_domain::digest::sha256(&declaration.body);
    let declaration = json::parse_with(&declaration.body, json::JsonLimits::DEFAULT)
        .map_err(|_| SinkRefusal::PackInvalid { what: "connector://resources is not JSON" })?;
    if declaration.get("connector").and_then(Json::as_str) != Some(import.connector.as_str()) {
        return Err(SinkRefusal::PackInvalid { what: "connector://resources names another connector" });
    }
    let digest = scion_domain::digest::pack(import);
    let current = state.packs.get(&import.connector);
    if let Some(current) = current.filter(|current| current.digest == digest) {
        return Ok(PackReceipt { pack_digest: digest, revision: current.revision, unchanged: true });
    }
    let revision = current.map_or(0, |current| current.revision);
    if import.expected_revision.is_some_and(|expected| expected != revision) {
        return Err(SinkRefusal::PackConflict { connector: import.connector.to_string() });
    }
    if let Some(current) = current {
        let (before, withdrawn) = (current.uris.len(), current.uris.difference(&uris).count());
        if withdrawn * 2 > before && !import.allow_mass_withdrawal {
            return Err(SinkRefusal::MassWithdrawal { before, withdrawn });
        }
    }
    let accepted = Accepted {
        digest,
        declaration: declaration_digest,
        revision: revision + 1,
        uris,
        record_types: record_types(&declaration),
        relations: relations(&declaration),
    };
    state.packs.insert(import.connector.clone(), accepted);
    Ok(PackReceipt { pack_digest: digest, revision: revision + 1, unchanged: false })
}

fn record_types(declaration: &Json) -> BTreeSet<String> {
    declaration
        .get("schema_mappings")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect()
}

fn relations(declaration: &Json) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (list, owner, edges, name) in
        [("sources", "record_type", "edges", "relationship"), ("resources", "name", "relations", "name")]
    {
        for item in declaration.get(list).and_then(Json::as_array).into_iter().flatten() {
            let owner = item.get(owner).and_then(Json::as_str).unwrap_or_default();
            for edge in item.get(edges).and_then(Json::as_array).into_iter().flatten() {
                if let Some(name) = edge.get(name).and_then(Json::as_str) {
                    found.insert((owner.to_owned(), name.to_owned()));
                }
            }
        }
    }
    found
}
