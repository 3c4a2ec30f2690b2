//! Locks, directories and state files on a real file system.
#![allow(clippy::unwrap_used, reason = "a test helper that panics fails its test")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use scion_domain::id::ConnectorName;
use scion_domain::paths::{LockRefusal, PathRefusal, StateDir, StatePaths};
use scion_local::{FileLock, LibraryFile, StateDirs, UpdateRefusal, library_file_path};

const HELD_BY_CHILD: &str = "SCION_LOCK_TEST_FILE";

/// Proves: SDK-CONNECTOR-CONTROL-R014.2, SDK-CENTRALIZED-CAPABILITIES-R034
#[test]
fn a_second_descriptor_is_refused_until_the_first_releases() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.lock");
    let (mut first, mut second) = (FileLock::open(&path).unwrap(), FileLock::open(&path).unwrap());
    first.lock_exclusive().unwrap();
    first.lock_exclusive_nb().unwrap();
    assert_eq!(second.lock_exclusive_nb(), Err(LockRefusal::LockUnavailable));
    assert_eq!(second.lock_shared_nb(), Err(LockRefusal::LockUnavailable));
    first.unlock().unwrap();
    first.unlock().unwrap();
    second.lock_shared_nb().unwrap();
    first.lock_shared().unwrap();
    assert_eq!(second.lock_exclusive_nb(), Err(LockRefusal::LockUnavailable));
    // The failed change of kind released the shared lock, as documented; dropping releases the other.
    drop(first);
    second.lock_exclusive_nb().unwrap();
}

/// Not a test of its own: the other process of the test below.
#[test]
fn child_process_holds_a_lock() {
    let Ok(path) = std::env::var(HELD_BY_CHILD) else { return };
    let mut lock = FileLock::open(Path::new(&path)).unwrap();
    lock.lock_exclusive().unwrap();
    // The parent reads standard error: the test harness owns standard output.
    writeln!(std::io::stderr(), "held").unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.2
#[test]
fn another_process_is_held_off_and_its_death_releases() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.lock");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_process_holds_a_lock", "--nocapture"])
        .env(HELD_BY_CHILD, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !said.contains("held") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "the child ended early: {said}");
    }
    let mut lock = FileLock::open(&path).unwrap();
    assert_eq!(lock.lock_exclusive_nb(), Err(LockRefusal::LockUnavailable));
    child.kill().unwrap();
    child.wait().unwrap();
    lock.lock_exclusive().unwrap();
}

#[tokio::test]
async fn a_bounded_wait_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.lock");
    let (mut first, mut second) = (FileLock::open(&path).unwrap(), FileLock::open(&path).unwrap());
    first.lock_exclusive().unwrap();
    let start = Instant::now();
    let refused = second.lock_exclusive_within(Duration::from_millis(30)).await;
    assert_eq!(refused, Err(LockRefusal::LockUnavailable));
    assert!(start.elapsed() >= Duration::from_millis(30));
    let waiter = tokio::spawn(async move { second.lock_exclusive_within(Duration::from_secs(20)).await });
    tokio::time::sleep(Duration::from_millis(5)).await;
    first.unlock().unwrap();
    assert_eq!(waiter.await.unwrap(), Ok(()));
}

#[test]
fn a_lock_file_that_cannot_be_opened_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(FileLock::open(&dir.path().join("no/such")), Err(LockRefusal::LockFailed { .. })));
    assert!(matches!(FileLock::open(dir.path()), Err(LockRefusal::LockFailed { .. })));
}

fn paths(home: &Path) -> StatePaths {
    let home = home.to_str().unwrap().to_owned();
    StatePaths::resolve(&BTreeMap::from([("HOME".to_owned(), home)])).unwrap()
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.7
#[test]
fn directories_are_made_for_this_user_only() {
    let home = tempfile::tempdir().unwrap();
    let dirs = StateDirs::new(paths(home.path()));
    for kind in StateDir::ALL {
        assert!(!dirs.paths().get(kind).exists() || kind == StateDir::Research);
        let made = dirs.ensure(kind).unwrap();
        assert!(made.is_dir());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
        assert_eq!(dirs.ensure(kind).unwrap(), made);
    }
    let blocked = tempfile::tempdir().unwrap();
    std::fs::write(blocked.path().join(".config"), "").unwrap();
    let refused = StateDirs::new(paths(blocked.path())).ensure(StateDir::Config).map(Path::to_owned);
    assert!(matches!(refused, Err(PathRefusal::NotCreated { directory: "config", .. })));
}

/// Two writers add one line a thousand bytes long at a time while readers look: every reader sees whole lines, and no
/// addition is lost.
///
/// Proves: SDK-CONNECTOR-CONTROL-R034, SDK-CENTRALIZED-CAPABILITIES-R034
#[test]
fn writers_take_turns_and_readers_never_see_half_a_file() {
    const WRITERS: usize = 2;
    const ROUNDS: usize = 40;
    let home = tempfile::tempdir().unwrap();
    let desk = ConnectorName::parse("desk").unwrap();
    let file = LibraryFile::new(library_file_path(&paths(home.path()), &desk, "library.txt").unwrap());
    assert_eq!(file.read().unwrap(), None);
    let whole = |content: &[u8]| content.chunks(1000).all(|line| line.len() == 1000 && line[999] == b'\n');
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let file = &file;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let added = file.update(Duration::from_mins(1), |content| {
                        let mut content = content.unwrap_or_default();
                        assert!(whole(&content));
                        content.extend(std::iter::repeat_n(b'a' + u8::try_from(writer).unwrap(), 999));
                        content.push(b'\n');
                        Ok::<_, Infallible>(Some(content))
                    });
                    added.unwrap();
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                assert!(file.read().unwrap().is_none_or(|content| whole(&content)));
            }
        });
    });
    assert_eq!(file.read().unwrap().unwrap().len(), WRITERS * ROUNDS * 1000);
    let left: Vec<_> = std::fs::read_dir(file.path().parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 2, "the file and its lock, nothing else");
}

#[test]
fn a_refused_change_leaves_the_file_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = LibraryFile::new(dir.path().join("x.json"));
    file.update(Duration::ZERO, |_| Ok::<_, Infallible>(Some(b"one".to_vec()))).unwrap();
    let refused = file.update(Duration::ZERO, |_| Err("no"));
    assert!(matches!(refused, Err(UpdateRefusal::Change("no"))));
    file.update(Duration::ZERO, |_| Ok::<_, Infallible>(None)).unwrap();
    assert_eq!(file.read().unwrap().unwrap(), b"one");
    let mut other = FileLock::open(&dir.path().join("x.json.lock")).unwrap();
    other.lock_exclusive().unwrap();
    let busy = file.update(Duration::from_millis(5), |_| Ok::<_, Infallible>(Some(b"two".to_vec())));
    assert!(matches!(busy, Err(UpdateRefusal::Lock(LockRefusal::LockUnavailable))));
    assert_eq!(file.read().unwrap().unwrap(), b"one");
}
