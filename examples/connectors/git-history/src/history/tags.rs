//! Tags.

use super::{rfc3339, text};
use crate::refusal::GitRefusal;

/// A tag that leads to a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its short name, for example `v1.0`.
    pub name: String,
    /// The full id of the commit.
    pub commit: String,
    /// When it was made: the tagger's date, or the commit's for a plain tag. RFC 3339; `None` when there is no readable date.
    pub tagged_at: Option<String>,
}

/// All of them by name. Tags of single files or trees are left out: they are no point of the history. So are tags whose target
/// a shallow clone does not hold.
pub(super) fn all(repository: &gix::Repository) -> Result<Vec<Tag>, GitRefusal> {
    let unreadable = |_| GitRefusal::Unreadable { what: "tags" };
    let references = repository.references().map_err(unreadable)?;
    let mut tags = Vec::new();
    for reference in references.tags().map_err(unreadable)? {
        let Ok(mut reference) = reference else { return Err(GitRefusal::Unreadable { what: "tags" }) };
        let name = text(reference.name().shorten());
        let annotated = reference.try_id().and_then(|id| annotation_date(repository, id.detach()));
        let Ok(commit) = reference.peel_to_commit() else { continue };
        let committed = || rfc3339(commit.committer().ok()?.time);
        let tagged_at = annotated.or_else(committed);
        tags.push(Tag { name, commit: commit.id.to_string(), tagged_at });
    }
    tags.sort_by(|left, right| left.name.cmp(&right.name));
    tags.dedup_by(|later, earlier| later.name == earlier.name);
    Ok(tags)
}

fn annotation_date(repository: &gix::Repository, id: gix::ObjectId) -> Option<String> {
    let object = repository.try_find_object(id).ok()??;
    let tag = object.try_into_tag().ok()?;
    rfc3339(tag.tagger().ok()??.time)
}
