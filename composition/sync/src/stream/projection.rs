//! Rewriting change sets before they are committed (R004.34).

use std::collections::HashMap;

use scion_domain::ingest::{ChangeSet, IngestRefusal};
use scion_domain::pseudonym::Pseudonymizer;

/// Rewrites a change set. It sees every change set whole, with nested values taken apart and before it is split into
/// batches, so that it can rewrite both ends of an edge.
pub trait Projection: Send + Sync {
    /// The change set to commit instead. A refusal stops the submission.
    fn project(&self, change_set: ChangeSet) -> Result<ChangeSet, IngestRefusal>;
}

/// Every id becomes a pseudonym, and the properties to redact are dropped.
impl Projection for Pseudonymizer {
    fn project(&self, mut change_set: ChangeSet) -> Result<ChangeSet, IngestRefusal> {
        let entities = change_set.entities.iter_mut().map(|entity| &mut entity.properties);
        let documents = change_set.documents.iter_mut().map(|document| &mut document.properties);
        let media = change_set.media.iter_mut().map(|asset| &mut asset.properties);
        for properties in entities.chain(documents).chain(media) {
            self.redact(properties);
        }
        rewrite_ids(change_set, |node_type, id| Ok(self.pseudonym(node_type, id)?))
    }
}

/// Gives every record of a change set a new id, by type and old id, and rewrites the ends of the edges that name one of
/// them. Withdrawals and live ids carry no type: one that no record of the change set has is refused, because leaving it
/// as it is would withdraw the wrong records.
pub fn rewrite_ids(
    mut change_set: ChangeSet,
    new_id: impl Fn(&str, &str) -> Result<String, IngestRefusal>,
) -> Result<ChangeSet, IngestRefusal> {
    let mut names: HashMap<String, String> = HashMap::with_capacity(change_set.record_count());
    {
        let mut rewrite = |node_type: &str, id: &mut String| -> Result<(), IngestRefusal> {
            let name = new_id(node_type, id)?;
            names.insert(std::mem::replace(id, name.clone()), name);
            Ok(())
        };
        for entity in &mut change_set.entities {
            rewrite(&entity.node_type, &mut entity.id)?;
        }
        for document in &mut change_set.documents {
            rewrite(&document.doc_type, &mut document.id)?;
        }
        for asset in &mut change_set.media {
            rewrite(&asset.node_type, &mut asset.id)?;
        }
    }
    for edge in &mut change_set.relationships {
        for end in [&mut edge.source, &mut edge.target] {
            if let Some(name) = names.get(end.as_str()) {
                end.clone_from(name);
            }
        }
    }
    let withdrawn = change_set.withdrawals.iter_mut().map(|(id, _)| id);
    for id in withdrawn.chain(change_set.live_ids.iter_mut().flatten()) {
        let unknown = IngestRefusal::Projection { what: "it names ids whose type it does not say" };
        id.clone_from(names.get(id.as_str()).ok_or(unknown)?);
    }
    Ok(change_set)
}
