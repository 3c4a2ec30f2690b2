//! Authors, known by a digest instead of an address.

use std::collections::HashMap;

use gix::ObjectId;

use super::text;

/// A person or program that wrote commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// `a` and 16 hexadecimal digits of a digest of the lower-cased address. The letter keeps a digest that happens to be all
    /// digits from looking like an account number to a privacy guard.
    pub id: String,
    /// The name used with that address most recently, without any address in it.
    pub name: String,
}

/// The authors of a history, in the order of their first commit.
#[derive(Default)]
pub(super) struct AuthorIndex {
    authors: Vec<Author>,
    by_id: HashMap<String, usize>,
}

impl AuthorIndex {
    /// Notes the author of the next newer commit.
    pub(super) fn add(&mut self, author: Author) {
        if let Some(known) = self.by_id.get(&author.id) {
            self.authors[*known] = author;
        } else {
            self.by_id.insert(author.id.clone(), self.authors.len());
            self.authors.push(author);
        }
    }

    pub(super) fn all(&self) -> &[Author] {
        &self.authors
    }
}

/// Who wrote a commit; `None` when its author line cannot be read.
pub(super) fn author_of(commit: &gix::Commit<'_>) -> Option<Author> {
    let signature = commit.author().ok()?;
    Some(Author { id: author_id(&signature), name: name(&signature) })
}

/// The id of whoever signed. Without an address the name stands in for it.
pub(super) fn author_id(signature: &gix::actor::SignatureRef<'_>) -> String {
    let address = text(signature.email).trim().to_lowercase();
    let key = if address.is_empty() { text(signature.name).trim().to_lowercase() } else { address };
    digest(&key)
}

/// A short digest. It hides an address from a reader, not from someone who guesses addresses and compares.
fn digest(key: &str) -> String {
    let full: Option<ObjectId> =
        gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, key.as_bytes()).ok();
    full.map(|id| format!("a{}", id.to_hex_with_len(16))).unwrap_or_default()
}

/// Some people put their address where the name belongs.
fn name(signature: &gix::actor::SignatureRef<'_>) -> String {
    let name = text(signature.name);
    name.split('@').next().unwrap_or_default().trim().to_owned()
}
