//! What a commit changed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::diff::tree::recorder::Change;

use super::text;
use crate::refusal::GitRefusal;

/// The most paths kept over all commits; the oldest entries make room.
const MAX_KEPT_PATHS: usize = 500_000;

/// The changes of the commits asked for lately: a sync asks once for the commit and once for its files.
#[derive(Default)]
pub(super) struct ChangeCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_commit: HashMap<ObjectId, Arc<Vec<String>>>,
    by_age: VecDeque<ObjectId>,
    paths: usize,
}

impl ChangeCache {
    /// The paths a commit changed against its first parent, sorted, each once.
    pub(super) fn of(&self, repository: &gix::Repository, commit: ObjectId) -> Result<Arc<Vec<String>>, GitRefusal> {
        if let Some(known) = self.lock().by_commit.get(&commit) {
            return Ok(Arc::clone(known));
        }
        let paths = Arc::new(changed_paths(repository, commit)?);
        self.lock().keep(commit, &paths);
        Ok(paths)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, commit: ObjectId, paths: &Arc<Vec<String>>) {
        if self.by_commit.insert(commit, Arc::clone(paths)).is_some() {
            return;
        }
        self.by_age.push_back(commit);
        // A commit without changes still takes room.
        self.paths += paths.len() + 1;
        while self.paths > MAX_KEPT_PATHS
            && let Some(oldest) = self.by_age.pop_front()
        {
            self.paths -= self.by_commit.remove(&oldest).map_or(0, |gone| gone.len() + 1);
        }
    }
}

/// A merge is compared with its first parent. A commit whose parent is not here, because it is the first one or because the
/// clone is shallow, is compared with nothing: it brought everything it holds. A rename changes both paths.
fn changed_paths(repository: &gix::Repository, commit: ObjectId) -> Result<Vec<String>, GitRefusal> {
    let object = repository
        .try_find_object(commit)
        .map_err(|_| GitRefusal::Unreadable { what: "commits" })?
        .ok_or(GitRefusal::UnknownCommit)?;
    let commit = object.try_into_commit().map_err(|_| GitRefusal::UnknownCommit)?;
    let new = commit.tree().map_err(|_| GitRefusal::Unreadable { what: "trees" })?;
    let parent = commit.parent_ids().next().map(gix::Id::detach);
    let before = match parent {
        Some(parent) => tree_of(repository, parent)?,
        None => None,
    };
    let before = before.unwrap_or_else(|| repository.empty_tree());

    let mut recorder = gix::diff::tree::Recorder::default();
    gix::diff::tree(
        gix::objs::TreeRefIter::from_bytes(&before.data, before.id.kind()),
        gix::objs::TreeRefIter::from_bytes(&new.data, new.id.kind()),
        gix::diff::tree::State::default(),
        &repository.objects,
        &mut recorder,
    )
    .map_err(|_| GitRefusal::Unreadable { what: "trees" })?;

    let mut paths: Vec<String> = recorder.records.iter().filter_map(file).collect();
    paths.sort_unstable();
    // Two names that differ only in bytes outside UTF-8 read the same; one of them stands for both.
    paths.dedup();
    Ok(paths)
}

/// The tree of a commit, `None` when the commit is not here.
fn tree_of(repository: &gix::Repository, commit: ObjectId) -> Result<Option<gix::Tree<'_>>, GitRefusal> {
    let unreadable = |_| GitRefusal::Unreadable { what: "trees" };
    let Some(object) = repository.try_find_object(commit).map_err(unreadable)? else { return Ok(None) };
    let commit = object.try_into_commit().map_err(|_| GitRefusal::Unreadable { what: "commits" })?;
    commit.tree().map(Some).map_err(unreadable)
}

/// The path of a changed file, link or submodule; `None` for a folder.
fn file(change: &Change) -> Option<String> {
    let (Change::Addition { entry_mode, path, .. }
    | Change::Deletion { entry_mode, path, .. }
    | Change::Modification { entry_mode, path, .. }) = change;
    (!entry_mode.is_tree()).then(|| text(path))
}
