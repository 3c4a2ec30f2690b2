//! The order of commits.

use std::collections::HashSet;

use gix::ObjectId;

use crate::refusal::GitRefusal;

/// Every commit reachable from `head`, each after its parents, the first parent's history before the others'.
///
/// This order only grows at its end when commits are added on top of HEAD, so a page number means the same commits before
/// and after. Parents a shallow clone does not hold are passed over. `note` is asked once per commit what to keep of it.
pub(super) fn oldest_first<T>(
    repository: &gix::Repository,
    head: ObjectId,
    note: impl Fn(&gix::Commit<'_>) -> T,
) -> Result<Vec<(ObjectId, T)>, GitRefusal> {
    let mut ordered = Vec::new();
    let mut seen = HashSet::from([head]);
    let first = Frame::read(repository, head, &note)?;
    let mut stack = vec![first.ok_or(GitRefusal::Unreadable { what: "HEAD commit" })?];
    while let Some(frame) = stack.last_mut() {
        match frame.waiting.pop() {
            Some(parent) if seen.insert(parent) => stack.extend(Frame::read(repository, parent, &note)?),
            Some(_) => {}
            None => ordered.extend(stack.pop().map(|done| (done.id, done.kept))),
        }
    }
    Ok(ordered)
}

/// A commit whose parents are still being walked.
struct Frame<T> {
    id: ObjectId,
    kept: T,
    /// The parents not walked yet, the next one last.
    waiting: Vec<ObjectId>,
}

impl<T> Frame<T> {
    /// Reads a commit; `None` when it is not here.
    fn read(
        repository: &gix::Repository,
        id: ObjectId,
        note: &impl Fn(&gix::Commit<'_>) -> T,
    ) -> Result<Option<Self>, GitRefusal> {
        let unreadable = |_| GitRefusal::Unreadable { what: "commits" };
        let Some(object) = repository.try_find_object(id).map_err(unreadable)? else { return Ok(None) };
        let commit = object.try_into_commit().map_err(|_| GitRefusal::Unreadable { what: "commits" })?;
        let mut waiting: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
        waiting.reverse();
        Ok(Some(Self { id, kept: note(&commit), waiting }))
    }
}
