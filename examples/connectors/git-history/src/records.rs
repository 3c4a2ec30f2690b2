//! What a record looks like on the wire.

use scion::domain::json::Json;

use crate::history::{Author, Commit, Tag};

/// The most characters of a message body in a record.
pub const MAX_BODY: usize = 4_000;
/// The most paths listed in a commit's record; `files_count` says how many there are. `git_list_commit_files` gives all.
pub const MAX_FILES: usize = 1_000;

/// A commit: `id`, `short`, `summary`, `message`, `committed_at`, `authored_at`, `author_id`, `parents`, `files`, `files_count`.
pub fn commit(commit: &Commit) -> Json {
    let files: Vec<Json> = commit.files.iter().take(MAX_FILES).map(|path| path.as_str().into()).collect();
    let parents: Vec<Json> = commit.parents.iter().map(|id| id.as_str().into()).collect();
    Json::from([
        ("id", commit.id.as_str().into()),
        ("short", short(&commit.id).into()),
        ("summary", commit.summary.as_str().into()),
        ("message", bounded(&commit.body, MAX_BODY).into()),
        ("committed_at", commit.committed_at.clone().into()),
        ("authored_at", commit.authored_at.clone().into()),
        ("author_id", commit.author_id.as_str().into()),
        ("parents", parents.into()),
        ("files", files.into()),
        ("files_count", Json::from(commit.files.len() as u64)),
    ])
}

/// An author: `id`, `name`.
pub fn author(author: &Author) -> Json {
    Json::from([("id", author.id.as_str().into()), ("name", author.name.as_str().into())])
}

/// A file, known by its path from the top of the repository: `id`, `name`, `extension`, `directory`.
pub fn file(path: &str) -> Json {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    // A leading dot makes a hidden name, not an extension.
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, extension)| extension);
    Json::from([
        ("id", path.into()),
        ("name", name.into()),
        ("extension", extension.into()),
        ("directory", directory.into()),
    ])
}

/// A tag: `id`, `name`, `commit`, `tagged_at`.
pub fn tag(tag: &Tag) -> Json {
    Json::from([
        ("id", tag.name.as_str().into()),
        ("name", tag.name.as_str().into()),
        ("commit", tag.commit.as_str().into()),
        ("tagged_at", tag.tagged_at.clone().into()),
    ])
}

/// The first 12 digits of an id, or as many more as it takes to hold a letter: a run of digits alone looks like a telephone
/// number to a privacy guard.
fn short(id: &str) -> &str {
    let letter = id.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(0);
    id.get(..12.max(letter + 1)).unwrap_or(id)
}

/// At most so many characters, never half of one.
fn bounded(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart() {
        let member = |path: &str, key: &str| file(path).get(key).unwrap().as_str().unwrap().to_owned();
        assert_eq!(member("a/b/c.tar.gz", "directory"), "a/b");
        assert_eq!(member("a/b/c.tar.gz", "name"), "c.tar.gz");
        assert_eq!(member("a/b/c.tar.gz", "extension"), "gz");
        assert_eq!(member(".gitignore", "extension"), "");
        assert_eq!(member("Makefile", "directory"), "");
    }

    #[test]
    fn a_short_id_is_never_all_digits() {
        assert_eq!(short("0123456789abcdef"), "0123456789ab");
        assert_eq!(short("012345678901234a99"), "012345678901234a");
        assert_eq!(short("0123"), "0123");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(bounded("äöü", 2), "äö");
        assert_eq!(bounded("äö", 2), "äö");
    }
}
