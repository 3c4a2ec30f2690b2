//! Repositories to test with, made by the `git` command line.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;
use std::process::Command;

use git_history::history::{History, Page};

pub(crate) struct Repository {
    pub(crate) folder: tempfile::TempDir,
    clock: std::cell::Cell<u32>,
}

impl Repository {
    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap(), clock: std::cell::Cell::new(0) };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// Two authors, a merge, a rename, a deletion, two tags:
    ///
    /// ```text
    /// first - second - merge - rename   (main, tag v2)
    ///      \- side --/                  (tag v1 on side)
    /// ```
    pub(crate) fn with_history() -> Self {
        let repository = Self::empty();
        repository.commit("first", &[("a.txt", "a"), ("src/lib.rs", "x\ny\nz\n")]);
        repository.git(&["checkout", "-q", "-b", "side"]);
        repository.commit("side", &[("side/deep/b.tar.gz", "b")]);
        repository.git(&["tag", "v1"]);
        repository.git(&["checkout", "-q", "main"]);
        repository.commit("second\n\nWith a body.\nOver two lines.\n", &[("a.txt", "aa")]);
        repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
        repository.git(&["mv", "src/lib.rs", "src/main.rs"]);
        repository.git(&["rm", "-q", "a.txt"]);
        repository.git_as("Grace", "GRACE@Example.Org", &["commit", "-q", "-m", "rename"]);
        repository.git(&["tag", "-a", "v2", "-m", "second release"]);
        repository
    }

    pub(crate) fn commit(&self, message: &str, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = self.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_as("Ada", "ada@example.org", arguments)
    }

    pub(crate) fn git_as(&self, name: &str, address: &str, arguments: &[&str]) -> String {
        // Each command is a second later, so that dates differ and ids repeat from run to run.
        self.clock.set(self.clock.get() + 1);
        let date = format!("{} +0100", 1_700_000_000 + self.clock.get());
        let output = Command::new("git")
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", name), ("GIT_COMMITTER_NAME", name)])
            .envs([("GIT_AUTHOR_EMAIL", address), ("GIT_COMMITTER_EMAIL", address)])
            .envs([("GIT_AUTHOR_DATE", date.as_str()), ("GIT_COMMITTER_DATE", date.as_str())])
            .output()
            .expect("the git command line");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn history(&self) -> History {
        History::open(self.path()).unwrap()
    }
}

pub(crate) const ALL: Page = Page { number: 1, size: 1_000 };
