//! Documents that go to a stream of their own.

use std::collections::HashSet;

use scion_domain::ingest::ChangeSet;

use crate::ingest::IngestBinding;

/// Splits a change set into the part without and the part with documents. An edge goes where its source goes and names the
/// stream of its target when that is the other one.
pub(super) fn split_documents(
    mut change_set: ChangeSet,
    main: &IngestBinding,
    documents: &IngestBinding,
) -> (ChangeSet, ChangeSet) {
    let document_ids: HashSet<String> = change_set.documents.iter().map(|document| document.id.clone()).collect();
    let (from_documents, from_entities): (Vec<_>, Vec<_>) = std::mem::take(&mut change_set.relationships)
        .into_iter()
        .map(|mut edge| {
            let from_document = document_ids.contains(&edge.source);
            let to_document = document_ids.contains(&edge.target);
            if edge.target_stream.is_none() && from_document != to_document {
                let target = if to_document { &documents.stream } else { &main.stream };
                edge.target_stream = Some(target.clone());
            }
            edge
        })
        .partition(|edge| document_ids.contains(&edge.source));
    let second = ChangeSet {
        documents: std::mem::take(&mut change_set.documents),
        relationships: from_documents,
        flat: change_set.flat,
        ..ChangeSet::default()
    };
    change_set.relationships = from_entities;
    (change_set, second)
}
