//! Reading repositories of every shape.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use git_history::history::{Commit, History, Page};
use git_history::refusal::GitRefusal;
use support::{ALL, Repository};

fn summaries(commits: &[Commit]) -> Vec<&str> {
    commits.iter().map(|commit| commit.summary.as_str()).collect()
}

fn files(commits: &[Commit], summary: &str) -> Vec<String> {
    commits.iter().find(|commit| commit.summary == summary).unwrap().files.to_vec()
}

#[test]
fn commits_come_after_their_parents_with_all_they_say() {
    let repository = Repository::with_history();
    let commits = repository.history().commits(ALL).unwrap();
    assert_eq!(summaries(&commits), ["first", "second", "side", "merge", "rename"]);
    for (index, commit) in commits.iter().enumerate() {
        for parent in &commit.parents {
            assert!(commits[..index].iter().any(|earlier| earlier.id == *parent), "{}", commit.summary);
        }
    }
    assert_eq!(commits.last().unwrap().id, repository.git(&["rev-parse", "HEAD"]));
    assert_eq!(commits[1].body, "With a body.\nOver two lines.");
    assert_eq!(commits[3].parents, [commits[1].id.clone(), commits[2].id.clone()]);
    let date = commits[0].committed_at.as_deref().unwrap();
    assert!(date.starts_with("2023-11-14T23:13:2") && date.ends_with("+01:00"), "{date}");
    assert_eq!(commits[0].authored_at, commits[0].committed_at);
}

#[test]
fn changes_are_against_the_first_parent_or_against_nothing() {
    let repository = Repository::with_history();
    let history = repository.history();
    let commits = history.commits(ALL).unwrap();
    assert_eq!(files(&commits, "first"), ["a.txt", "src/lib.rs"]);
    assert_eq!(files(&commits, "side"), ["side/deep/b.tar.gz"]);
    assert_eq!(files(&commits, "second"), ["a.txt"]);
    assert_eq!(files(&commits, "merge"), ["side/deep/b.tar.gz"]);
    assert_eq!(files(&commits, "rename"), ["a.txt", "src/lib.rs", "src/main.rs"]);
    for commit in &commits {
        assert_eq!(history.changed_files(&commit.id, ALL).unwrap(), *commit.files);
    }
    let second = Page { number: 2, size: 2 };
    assert_eq!(history.changed_files(&commits[4].id, second).unwrap(), ["src/main.rs"]);
}

#[test]
fn authors_are_known_by_a_digest_and_never_by_an_address() {
    let repository = Repository::with_history();
    let history = repository.history();
    // The same person with another spelling of name and address.
    repository.git_as("Grace H.", "grace@example.org", &["commit", "-q", "--allow-empty", "-m", "again"]);
    repository.git_as("ada@example.org", "ada@example.org", &["commit", "-q", "--allow-empty", "-m", "odd name"]);
    let authors = history.authors(ALL).unwrap();
    let names: Vec<_> = authors.iter().map(|author| author.name.as_str()).collect();
    assert_eq!(names, ["ada", "Grace H."]);
    let commits = history.commits(ALL).unwrap();
    for commit in &commits {
        assert!(authors.iter().any(|author| author.id == commit.author_id));
    }
    assert!(!format!("{authors:?}{commits:?}").contains("example"));
    assert_eq!(authors[0].id.len(), 17);
}

#[test]
fn tags_lead_to_commits_and_carry_a_date() {
    let repository = Repository::with_history();
    repository.git(&["tag", "blob", "HEAD:src/main.rs"]);
    let tags = repository.history().tags(ALL).unwrap();
    let shown: Vec<_> = tags.iter().map(|tag| (tag.name.as_str(), tag.commit.as_str())).collect();
    let (side, head) = (repository.git(&["rev-parse", "side"]), repository.git(&["rev-parse", "HEAD"]));
    assert_eq!(shown, [("v1", side.as_str()), ("v2", head.as_str())]);
    assert!(tags.iter().all(|tag| tag.tagged_at.as_deref().is_some_and(|date| date.starts_with("2023-11-14T"))));
    assert_ne!(tags[1].tagged_at, repository.history().commits(ALL).unwrap()[4].committed_at);
}

/// Pages that were read keep their meaning while commits are added, merges included.
#[test]
fn a_growing_history_grows_at_its_end() {
    let repository = Repository::with_history();
    let history = repository.history();
    let before: Vec<String> = history.commits(ALL).unwrap().into_iter().map(|commit| commit.id).collect();
    repository.git(&["checkout", "-q", "-b", "late", "main~3"]);
    repository.commit("late", &[("late", "1")]);
    repository.git(&["checkout", "-q", "main"]);
    repository.commit("more", &[("more", "1")]);
    repository.git(&["merge", "-q", "--no-ff", "-m", "late merge", "late"]);
    let after = history.commits(ALL).unwrap();
    let ids: Vec<String> = after.iter().map(|commit| commit.id.clone()).collect();
    assert_eq!(ids[..before.len()], before);
    assert_eq!(summaries(&after[before.len()..]), ["more", "late", "late merge"]);
    let paged: Vec<String> =
        (1..=9).flat_map(|number| history.commits(Page { number, size: 1 }).unwrap()).map(|commit| commit.id).collect();
    assert_eq!(paged, ids);
}

#[test]
fn an_empty_repository_has_empty_lists() {
    let repository = Repository::empty();
    let history = repository.history();
    assert_eq!(history.commits(ALL), Ok(vec![]));
    assert_eq!(history.authors(ALL), Ok(vec![]));
    assert_eq!(history.tags(ALL), Ok(vec![]));
    repository.commit("first", &[("a", "1")]);
    assert_eq!(history.commits(ALL).unwrap().len(), 1);
}

#[test]
fn a_shallow_clone_a_detached_head_and_a_bare_repository_are_fine() {
    let repository = Repository::with_history();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("shallow");
    let url = format!("file://{}", repository.path().display());
    repository.git(&["clone", "-q", "--depth", "2", &url, target.to_str().unwrap()]);
    let shallow = History::open(&target).unwrap().commits(ALL).unwrap();
    assert_eq!(summaries(&shallow), ["merge", "rename"]);
    assert_eq!(shallow[0].parents.len(), 2);
    // Its parent is not here, so it brought everything.
    assert_eq!(files(&shallow, "merge"), ["a.txt", "side/deep/b.tar.gz", "src/lib.rs"]);

    let bare = folder.path().join("bare");
    repository.git(&["clone", "-q", "--bare", &url, bare.to_str().unwrap()]);
    assert_eq!(History::open(&bare).unwrap().commits(ALL).unwrap().len(), 5);

    repository.git(&["checkout", "-q", "--detach", "v1"]);
    assert_eq!(summaries(&repository.history().commits(ALL).unwrap()), ["first", "side"]);
}

#[cfg(unix)]
#[test]
fn names_outside_utf8_become_replacement_characters() {
    use std::os::unix::ffi::OsStrExt as _;
    let repository = Repository::empty();
    for name in [&b"caf\xe9"[..], b"caf\xe8", "line\nbreak \"é\"".as_bytes()] {
        std::fs::write(repository.path().join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    repository.commit("odd names", &[]);
    let commits = repository.history().commits(ALL).unwrap();
    assert_eq!(*commits[0].files, ["caf\u{fffd}", "line\nbreak \"é\""]);
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(History::open(folder.path()), Err(GitRefusal::NotARepository { .. })));
    assert!(matches!(History::open(&folder.path().join("nowhere")), Err(GitRefusal::NotARepository { .. })));
    let repository = Repository::with_history();
    let history = History::open(&repository.path().join("src")).unwrap();
    assert_eq!(history.changed_files("HEAD", ALL), Err(GitRefusal::NotACommitId));
    assert_eq!(history.changed_files("", ALL), Err(GitRefusal::NotACommitId));
    assert_eq!(history.changed_files(&"0".repeat(40), ALL), Err(GitRefusal::UnknownCommit));
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(history.changed_files(&tree, ALL), Err(GitRefusal::UnknownCommit));
}
