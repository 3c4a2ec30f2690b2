//! Token files on a real file system.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use scion_conformance::suites::token_store::{self, TokenStoreFixture};
use scion_domain::secret::Secret;
use scion_domain::work::{StoredTokens, WorkRefusal};
use scion_local::{FileLock, FileTokenStore};
use scion_ports::TokenStore;

#[derive(Default)]
struct Folders {
    made: Mutex<Vec<tempfile::TempDir>>,
}

impl Folders {
    fn last(&self) -> PathBuf {
        self.made.lock().unwrap().last().unwrap().path().join("tokens")
    }
}

#[async_trait]
impl TokenStoreFixture for Folders {
    async fn open(&self) -> Arc<dyn TokenStore> {
        self.made.lock().unwrap().push(tempfile::tempdir().unwrap());
        Arc::new(FileTokenStore::new(self.last()))
    }

    async fn reopen(&self, _store: &Arc<dyn TokenStore>) -> Arc<dyn TokenStore> {
        Arc::new(FileTokenStore::new(self.last()))
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.11
#[tokio::test]
async fn token_files_keep_the_obligations_of_a_store() {
    token_store::run(&Folders::default()).await.assert_passed();
}

fn tokens(access: &str) -> StoredTokens {
    StoredTokens { access: Secret::new(access.to_owned()), refresh: None, expires_at_ms: 5 }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.11
#[cfg(unix)]
#[tokio::test]
async fn files_are_for_their_owner_and_what_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("deep/tokens");
    let store = FileTokenStore::new(directory.clone());
    store.save("desk", None, &tokens("t")).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for file in files(&directory) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    let file = files(&directory).into_iter().find(|file| file.extension().is_some_and(|e| e == "json")).unwrap();
    let give = |path: &Path, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    for open in [0o640, 0o604, 0o660] {
        give(&file, open);
        assert!(matches!(store.load("desk").await, Err(WorkRefusal::Invalid { .. })));
        assert!(matches!(store.save("desk", None, &tokens("x")).await, Err(WorkRefusal::Invalid { .. })));
    }
    give(&file, 0o600);
    give(&directory, 0o750);
    assert!(matches!(store.load("desk").await, Err(WorkRefusal::Invalid { .. })));
    assert!(matches!(store.exclusive("desk", Duration::ZERO).await, Err(WorkRefusal::Invalid { .. })));
    give(&directory, 0o700);
    assert_eq!(store.load("desk").await.unwrap().unwrap().1.access.expose(), "t");
    // A link in its place leads elsewhere.
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert!(store.load("desk").await.is_err());
}

#[tokio::test]
async fn damaged_and_foreign_names_are_refused_and_nothing_is_left_over() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("tokens");
    let store = FileTokenStore::new(directory.clone());
    let long = "x".repeat(513);
    for account in ["", "a\nb", long.as_str()] {
        assert!(matches!(store.load(account).await, Err(WorkRefusal::Invalid { .. })));
    }
    for account in ["../../etc/passwd", "A/b", "a_b", "ä", "a.b"] {
        store.save(account, None, &tokens(account)).await.unwrap();
        assert_eq!(store.load(account).await.unwrap().unwrap().1.access.expose(), account);
    }
    let all = files(&directory);
    assert!(all.iter().all(|file| file.parent() == Some(&directory)));
    assert!(!all.iter().any(|file| file.extension().is_some_and(|e| e == "new")), "{all:?}");
    let file = all.iter().find(|file| file.extension().is_some_and(|e| e == "json")).unwrap();
    std::fs::write(file, b"{\"access\":\"half").unwrap();
    let mut refused = 0;
    for account in ["../../etc/passwd", "A/b", "a_b", "ä", "a.b"] {
        refused += usize::from(matches!(store.load(account).await, Err(WorkRefusal::Invalid { .. })));
    }
    assert_eq!(refused, 1);
    // What cannot be read can be forgotten, and then a new login can be kept.
    for account in ["../../etc/passwd", "A/b", "a_b", "ä", "a.b"] {
        store.forget(account).await.unwrap();
        assert!(store.load(account).await.unwrap().is_none());
        store.save(account, None, &tokens("again")).await.unwrap();
    }
}

/// A writer that is cancelled at any moment leaves the old tokens or the new ones, and the lock free.
///
/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test]
async fn a_cancelled_save_leaves_whole_tokens() {
    let home = tempfile::tempdir().unwrap();
    let store = FileTokenStore::new(home.path().join("tokens"));
    let mut version = store.save("a", None, &tokens("0")).await.unwrap();
    for round in 1..40u64 {
        let new = tokens(&round.to_string());
        let limit = Duration::from_micros(round * 25);
        let _ = tokio::time::timeout(limit, store.save("a", Some(version), &new)).await;
        // The cancelled writer may still be at work: its lock says when it is done.
        let forced = loop {
            let (found, _) = store.load("a").await.unwrap().unwrap();
            match store.save("a", Some(found), &new).await {
                Ok(version) => break version,
                Err(WorkRefusal::Conflict { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        };
        version = forced;
    }
    assert_eq!(store.load("a").await.unwrap().unwrap().1.access.expose(), "39");
}

/// A process that dies between writing and renaming leaves a file with tokens; the next one that comes removes it.
#[tokio::test]
async fn what_a_dead_writer_left_is_removed_by_the_next_load_save_or_forget() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("tokens");
    let store = FileTokenStore::new(directory.clone());
    let mut version = store.save("desk", None, &tokens("0")).await.unwrap();
    store.save("other", None, &tokens("0")).await.unwrap();
    let stem = StoredTokens::file_stem("desk").unwrap();
    let left = directory.join(format!("{stem}.4242.7.new"));
    let foreign = [
        directory.join(format!("{}.4242.7.new", StoredTokens::file_stem("other").unwrap())),
        directory.join(format!("{stem}.1.4242.7.new")),
        directory.join(format!("{stem}.x.new")),
    ];
    for path in &foreign {
        std::fs::write(path, b"theirs").unwrap();
    }
    for step in 0..3 {
        std::fs::write(&left, b"tokens").unwrap();
        match step {
            0 => assert_eq!(store.load("desk").await.unwrap().unwrap().0, version),
            1 => version = store.save("desk", Some(version), &tokens("1")).await.unwrap(),
            _ => store.forget("desk").await.unwrap(),
        }
        assert!(!left.exists(), "step {step}");
        assert!(foreign.iter().all(|path| path.exists()), "a file of another account was removed");
    }
    // Somebody writes: the file may be theirs.
    std::fs::write(&left, b"tokens").unwrap();
    let mut lock = FileLock::open(&directory.join(format!("{stem}.write.lock"))).unwrap();
    lock.lock_exclusive().unwrap();
    assert!(store.load("desk").await.unwrap().is_none());
    assert!(left.exists());
}
