//! Bad stores as one table: each is refused by its code, and what was accepted stays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use scion_conformance::STORE_FILE;

use crate::support::{CONNECTOR_SYNC, Place, Run, desk, server};

/// A place whose source has something new since its store was filled.
fn filled() -> Place {
    let place = Place::with_desk(12);
    let run = place.once();
    assert_eq!(run.code, 0, "{run:?}");
    let mut scenario = desk(13);
    scenario["tools"]["list_tickets"]["records"][0]["title"] = "Changed".into();
    place.write_scenario("desk", &scenario);
    place
}

fn store(place: &Place) -> PathBuf {
    place.path("state").join(STORE_FILE)
}

/// The codes a run was refused with: at its start, or by its streams.
fn codes(run: &Run) -> Vec<String> {
    let lines = run.logs();
    let named = lines.iter().filter(|line| line["level"] == "ERROR").filter_map(|line| line["code"].as_str());
    let mut codes: Vec<String> = named.map(str::to_owned).collect();
    codes.sort();
    codes.dedup();
    assert!(!run.err.contains("panicked"), "{run:?}");
    codes
}

/// What was accepted is there as before, and once the store is well again the rest follows.
fn unharmed(place: &Place, before: &[String]) {
    assert_eq!(place.accepted(), before);
    let run = place.once();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(place.ids("tickets").len(), 13);
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[test]
fn a_truncated_store() {
    let place = filled();
    let before = place.accepted();
    let whole = fs::read(store(&place)).unwrap();
    for cut in [50, 4096, whole.len() / 2, whole.len() - 1] {
        fs::write(store(&place), &whole[..cut]).unwrap();
        let run = place.once();
        assert_eq!((run.code, codes(&run)), (2, vec!["store_corrupt".to_owned()]), "cut at {cut}");
        assert_eq!(fs::read(store(&place)).unwrap(), whole[..cut], "it is left as it is");
    }
    fs::write(store(&place), &whole).unwrap();
    unharmed(&place, &before);
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[test]
fn a_locked_store() {
    let place = filled();
    let before = place.accepted();
    let holder = Connection::open(store(&place)).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let run = place.once();
    assert_eq!((run.code, codes(&run)), (1, vec!["store_locked".to_owned()]), "{run:?}");
    holder.execute_batch("ROLLBACK").unwrap();
    drop(holder);
    unharmed(&place, &before);
}

/// Every ticket has become long, so that what is to be written does not fit.
fn grown() -> Place {
    let place = filled();
    let mut scenario = desk(13);
    for ticket in scenario["tools"]["list_tickets"]["records"].as_array_mut().unwrap() {
        ticket["title"] = "long ".repeat(2000).into();
    }
    place.write_scenario("desk", &scenario);
    place
}

fn script(place: &Place, program: &str, args: &[&str], script: &str, room: u64) -> Run {
    let mut command = place.command(program);
    command.args(args).args(["sh", "-c", script]);
    command.env("SYNC", CONNECTOR_SYNC).env("STORE", store(place)).env("ROOM", room.to_string());
    Run::of(command.output().unwrap())
}

/// A file system with a few KiB to spare, in a mount namespace of its own. Where none can be had, the quota below stands
/// for it, and the tests of the embedded store commit into a file that is full.
///
/// Proves: SDK-SOURCE-INGEST-R001.4
#[test]
fn a_full_disk() {
    const MOUNT: &str = r#"mkdir small after && mount -t tmpfs -o size="$ROOM" none small && cp "$STORE" small/ || exit 99
        "$SYNC" --config config.yaml --once --state-dir small; code=$?; cp small/graph.db* after/; exit $code"#;
    let place = grown();
    let before = place.accepted();
    // The index of the write-ahead log takes 32 KiB; a commit takes more than the rest.
    let room = fs::metadata(store(&place)).unwrap().len() + (48 << 10);
    let namespaces = [&["-m"][..], &["-r", "-m"]];
    let runs = namespaces.iter().map(|args| script(&place, "unshare", args, MOUNT, room));
    if let Some(run) = runs.into_iter().find(|run| run.code != 99 && !run.err.starts_with("unshare")) {
        assert_eq!((run.code, codes(&run)), (1, vec!["store_full".to_owned()]), "{run:?}");
        for file in fs::read_dir(place.path("after")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), place.path("state").join(file.file_name())).unwrap();
        }
    }
    unharmed(&place, &before);
}

/// Files that may not grow over a limit, which is what a quota comes to. Needs no privilege.
///
/// Proves: SDK-SOURCE-INGEST-R001.4
#[test]
fn a_quota_that_is_used_up() {
    const LIMIT: &str = r#"trap '' XFSZ; ulimit -f "$ROOM"; exec "$SYNC" --config config.yaml --once"#;
    let place = grown();
    let before = place.accepted();
    let run = script(&place, "env", &[], LIMIT, (16 << 10) / 512);
    assert_eq!((run.code, codes(&run)), (2, vec!["store_unavailable".to_owned()]), "{run:?}");
    unharmed(&place, &before);
}

/// Proves: SDK-SOURCE-INGEST-R001.4
#[test]
fn a_store_that_may_not_be_written() {
    let place = filled();
    let before = place.accepted();
    let (file, folder) = (store(&place), place.path("state"));
    // A file, then its folder too; who may write anything is made somebody who may not.
    for (of_file, of_folder, code) in [(0o444, 0o777, "store_read_only"), (0o444, 0o555, "store_read_only")] {
        let wal = |end: &str| PathBuf::from(format!("{}{end}", file.display()));
        let _ = (fs::remove_file(wal("-wal")), fs::remove_file(wal("-shm")));
        set_mode(&file, of_file);
        set_mode(&folder.join("connector-sync.lock"), 0o666);
        set_mode(&folder, of_folder);
        let run = unprivileged(&place);
        set_mode(&folder, 0o755);
        set_mode(&file, 0o644);
        assert_eq!((run.code, codes(&run)), (2, vec![code.to_owned()]), "{of_file:o} in {of_folder:o}: {run:?}");
        assert_eq!(place.accepted(), before);
    }
    unharmed(&place, &before);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs once as somebody without privileges: this user, or nobody if this is the superuser, whom no mode stops.
fn unprivileged(place: &Place) -> Run {
    let user = Command::new("id").arg("-u").output().unwrap();
    if user.stdout != b"0\n" {
        return place.once();
    }
    // The programs may lie where only this user can look.
    let programs = ["connector-sync", "scripted_source"].map(|name| place.path(name));
    for (from, to) in [Path::new(CONNECTOR_SYNC), server()].into_iter().zip(&programs) {
        if !to.exists() {
            fs::copy(from, to).unwrap();
        }
        set_mode(to, 0o755);
    }
    set_mode(place.path("").as_path(), 0o755);
    let journal = place.path("desk.journal");
    if journal.exists() {
        set_mode(&journal, 0o666);
    }
    let config = fs::read_to_string(place.path("config.yaml")).unwrap();
    place.write("config.yaml", &config.replace(&server().display().to_string(), &programs[1].display().to_string()));
    let mut command = place.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    command.arg(&programs[0]).args(["--config", "config.yaml", "--once"]);
    Run::of(command.output().unwrap())
}
