//! Reading a repository: the "vendor client" of this connector.

mod authors;
mod changes;
mod order;
mod tags;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;

use crate::refusal::GitRefusal;

pub use authors::Author;
pub use tags::Tag;

use authors::AuthorIndex;
use changes::ChangeCache;

/// One commit, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its full id.
    pub id: String,
    /// The first line of its message.
    pub summary: String,
    /// The rest of its message.
    pub body: String,
    /// RFC 3339 with the committer's own offset; `None` when the commit has no readable date.
    pub committed_at: Option<String>,
    /// RFC 3339 with the author's own offset; `None` when the commit has no readable date.
    pub authored_at: Option<String>,
    /// The author's [`Author::id`].
    pub author_id: String,
    /// The full ids of its parents, whether or not the clone holds them.
    pub parents: Vec<String>,
    /// The paths it changed against its first parent, sorted.
    pub files: Arc<Vec<String>>,
}

/// The history of one repository.
///
/// The order of the commits is worked out once per HEAD and kept; the changes of a commit are worked out when first asked
/// for and kept within a bound. All methods block on the disk.
pub struct History {
    repository: gix::ThreadSafeRepository,
    index: Mutex<Option<Arc<Index>>>,
    changes: ChangeCache,
}

/// What one walk over the history finds out.
struct Index {
    head: ObjectId,
    /// Oldest first; see [`order`].
    commits: Vec<ObjectId>,
    authors: AuthorIndex,
}

impl History {
    /// Opens the repository at or above a folder. A detached HEAD, a shallow clone, a bare repository and a repository
    /// without commits are all fine.
    pub fn open(folder: &Path) -> Result<Self, GitRefusal> {
        let repository = gix::ThreadSafeRepository::discover(folder)
            .map_err(|_| GitRefusal::NotARepository { path: folder.display().to_string() })?;
        Ok(Self { repository, index: Mutex::new(None), changes: ChangeCache::default() })
    }

    /// Commits reachable from HEAD, oldest first, so that a page keeps its place while the history grows.
    pub fn commits(&self, page: Page) -> Result<Vec<Commit>, GitRefusal> {
        let repository = self.local();
        let Some(index) = self.index(&repository)? else { return Ok(Vec::new()) };
        page.of(&index.commits).iter().map(|id| self.commit(&repository, *id)).collect()
    }

    /// Authors of the commits reachable from HEAD, in the order of their first commit.
    pub fn authors(&self, page: Page) -> Result<Vec<Author>, GitRefusal> {
        let index = self.index(&self.local())?;
        Ok(index.map_or_else(Vec::new, |index| page.of(index.authors.all()).to_vec()))
    }

    /// The paths one commit changed against its first parent, sorted.
    pub fn changed_files(&self, commit: &str, page: Page) -> Result<Vec<String>, GitRefusal> {
        let id = ObjectId::from_hex(commit.as_bytes()).map_err(|_| GitRefusal::NotACommitId)?;
        let files = self.changes.of(&self.local(), id)?;
        Ok(page.of(&files).to_vec())
    }

    /// Tags that lead to a commit, by name.
    pub fn tags(&self, page: Page) -> Result<Vec<Tag>, GitRefusal> {
        Ok(page.of(&tags::all(&self.local())?).to_vec())
    }

    fn local(&self) -> gix::Repository {
        let mut repository = self.repository.to_thread_local();
        // Neighbouring commits share most of their trees.
        repository.object_cache_size_if_unset(8 << 20);
        repository
    }

    /// The index of the current HEAD; `None` while there is no commit.
    fn index(&self, repository: &gix::Repository) -> Result<Option<Arc<Index>>, GitRefusal> {
        let unreadable = |_| GitRefusal::Unreadable { what: "HEAD" };
        let mut head = repository.head().map_err(unreadable)?;
        let Some(head) = head.try_peel_to_id().map_err(unreadable)? else { return Ok(None) };
        let head = head.detach();
        // Held during the walk on purpose: callers that arrive meanwhile wait for it instead of walking too.
        let mut known = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = known.as_ref().filter(|index| index.head == head) {
            return Ok(Some(Arc::clone(index)));
        }
        let mut authors = AuthorIndex::default();
        let mut commits = Vec::new();
        for (id, author) in order::oldest_first(repository, head, authors::author_of)? {
            commits.push(id);
            if let Some(author) = author {
                authors.add(author);
            }
        }
        let index = Arc::new(Index { head, commits, authors });
        *known = Some(Arc::clone(&index));
        Ok(Some(index))
    }

    fn commit(&self, repository: &gix::Repository, id: ObjectId) -> Result<Commit, GitRefusal> {
        let unreadable = |_| GitRefusal::Unreadable { what: "commits" };
        let object = repository.find_commit(id).map_err(unreadable)?;
        let commit = object.decode().map_err(unreadable)?;
        let message = commit.message();
        Ok(Commit {
            id: id.to_string(),
            summary: text(&message.summary()).trim().to_owned(),
            body: message.body.map(|body| text(body).trim().to_owned()).unwrap_or_default(),
            committed_at: commit.committer().ok().and_then(|by| rfc3339(by.time)),
            authored_at: commit.author().ok().and_then(|by| rfc3339(by.time)),
            author_id: commit.author().map(|by| authors::author_id(&by)).unwrap_or_default(),
            parents: commit.parents().map(|parent| parent.to_string()).collect(),
            files: self.changes.of(repository, id)?,
        })
    }
}

/// A page: `number` from 1, `size` records each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// From 1.
    pub number: usize,
    /// At least 1.
    pub size: usize,
}

impl Page {
    fn of<T>(self, all: &[T]) -> &[T] {
        let start = self.number.saturating_sub(1).saturating_mul(self.size).min(all.len());
        &all[start..all.len().min(start.saturating_add(self.size))]
    }
}

/// Git keeps bytes; a record keeps text. What is not UTF-8 becomes U+FFFD.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rfc3339(raw: &str) -> Option<String> {
    let time: gix::date::Time = raw.parse().ok()?;
    time.format(gix::date::time::format::ISO8601_STRICT).ok()
}
