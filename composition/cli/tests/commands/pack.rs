//! `scion pack` against real servers, real files and a real store.

use std::path::PathBuf;

use scion_domain::integrity::{ReleaseKeyRef, ReleaseSigner, Rotation, RotationLedger, SignerLocks};
use scion_domain::pack::PackFile;
use scion_domain::secret::Secret;
use serde_json::{Value, json};

use crate::certify::toy::{declaration, server, source, tool};
use crate::support::{Place, Run, served_example};

fn toy(tools: &[Value], ontology: &str) -> Value {
    let declared = declaration(&[source("things", "list", &json!({}))]);
    json!({
        "server": { "name": "toy", "version": "9.9" },
        "listed": true,
        "tools": tools,
        "resources": { "connector://resources": declared.to_string(), "ontology://toy/toy.ttl": ontology },
    })
}

const ONTOLOGY: &str = "@prefix d: <https://toy.example/> . d:A d:p [ d:q 1 ] , d:B .";

fn paged() -> Value {
    json!({ "page": { "type": "integer" } })
}

impl Place {
    fn pack(&self, args: &[&str]) -> Run {
        let mut all = vec!["pack"];
        all.extend(args);
        self.scion(&all)
    }

    /// Builds a pack of a scripted server.
    fn built(&self, name: &str, toy: &Value, args: &[&str]) -> Run {
        self.write(&format!("{name}.json"), &toy.to_string());
        let (out, program, scenario) = (format!("{name}.pack"), server().display().to_string(), format!("{name}.json"));
        let mut all = vec!["build", "--out", &out];
        all.extend(args);
        all.extend(["--", &program, &scenario]);
        self.pack(&all)
    }

    fn read(&self, name: &str) -> PackFile {
        PackFile::from_bytes(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Signs a file as its publisher would, and gives the reader's locks.
    fn signed(&self, name: &str, seed: u8) -> PathBuf {
        let mut file = self.read(name);
        let mut locks = SignerLocks::default();
        file.sign(&signer(seed), &mut locks, &RotationLedger::default()).unwrap();
        std::fs::write(self.path(name), file.to_bytes()).unwrap();
        self.write("locks.json", &locks.to_text())
    }
}

fn signer(seed: u8) -> ReleaseSigner {
    let reference = ReleaseKeyRef::parse("vault://kv/toy/release#seed@1").unwrap();
    ReleaseSigner::new("acme", reference, &Secret::new(scion_domain::base64::encode(&[seed; 32]))).unwrap()
}

fn ok(run: Run) -> Run {
    assert_eq!(run.code, 0, "{run:?}");
    run
}

fn refused(run: &Run, code: &str) {
    assert!(run.code != 0 && run.err.contains(&format!("error[{code}]")), "{run:?}");
    assert!(!run.err.contains("panicked"), "{run:?}");
}

fn parsed(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"))
}

#[test]
fn a_live_server_is_built_inspected_and_imported() {
    let place = Place::new();
    let run = ok(place.built("one", &toy(&[tool("list", &paged(), &[])], ONTOLOGY), &["--json"]));
    let built = parsed(&run);
    assert_eq!((&built["connector"], &built["entries"], &built["signed"]), (&json!("toy"), &json!(4), &json!(false)));

    let shown = ok(place.pack(&["inspect", "one.pack"]));
    for word in ["toy 9.9", "ontology://toy/toy.ttl", "tool://toy/list", "read-only", "not signed"] {
        assert!(shown.out.contains(word), "{word}: {shown:?}");
    }
    let document = parsed(&ok(place.pack(&["inspect", "one.pack", "--json"])));
    assert_eq!(document["pack_digest"], built["pack_digest"]);
    assert_eq!(document["entries"].as_array().unwrap().len(), 4);

    refused(&place.pack(&["import", "one.pack"]), "usage");
    let first = parsed(&ok(place.pack(&["import", "one.pack", "--unverified", "--json"])));
    assert_eq!((&first["unchanged"], &first["revision"]), (&json!(false), &json!(1)));
    assert_eq!(first["pack_digest"], built["pack_digest"], "the store answers with the digest of the file");
    let again = parsed(&ok(place.pack(&["import", "one.pack", "--unverified", "--json"])));
    assert_eq!((&again["unchanged"], &again["revision"]), (&json!(true), &json!(1)));

    ok(place.built("two", &toy(&[tool("list", &json!({}), &[])], ONTOLOGY), &[]));
    let stale = place.pack(&["import", "two.pack", "--unverified", "--expect", "7"]);
    assert_eq!((stale.code, stale.out.as_str()), (1, ""), "{stale:?}");
    let second = parsed(&ok(place.pack(&["import", "two.pack", "--unverified", "--expect", "1", "--json"])));
    assert_eq!(second["revision"], 2);
}

#[test]
fn a_mass_withdrawal_needs_the_operators_word() {
    let place = Place::new();
    let many: Vec<Value> = (0..8).map(|at| tool(&format!("list{at}"), &paged(), &[])).collect();
    let mut all = many.clone();
    all.push(tool("list", &paged(), &[]));
    ok(place.built("many", &toy(&all, ONTOLOGY), &[]));
    ok(place.built("few", &toy(&all[8..], ONTOLOGY), &[]));
    ok(place.pack(&["import", "many.pack", "--unverified"]));
    let run = place.pack(&["import", "few.pack", "--unverified"]);
    assert_eq!(run.code, 1, "{run:?}");
    ok(place.pack(&["import", "few.pack", "--unverified", "--allow-mass-withdrawal"]));
}

#[test]
fn a_difference_names_what_breaks() {
    let place = Place::new();
    let list = tool("list", &paged(), &[]);
    let old = [list.clone(), tool("issues", &paged(), &[]), tool("gone", &json!({ "x": { "type": "string" } }), &[])];
    let new = [list, tool("issues_get", &json!({ "id": { "type": "string" } }), &["id"])];
    ok(place.built("old", &toy(&old, ONTOLOGY), &[]));
    let same = "@prefix t: <https://toy.example/> . t:A t:p t:B . t:A t:p _:b . _:b t:q 1 .";
    ok(place.built("new", &toy(&new, same), &[]));
    let run = place.pack(&["diff", "old.pack", "new.pack", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let found = parsed(&run);
    assert_eq!(found["impact"], "breaks");
    let of = |uri: &str| {
        let all = found["changes"].as_array().unwrap();
        all.iter().find(|change| change["uri"] == uri).unwrap_or_else(|| panic!("{uri}: {all:?}")).clone()
    };
    assert_eq!(of("tool://toy/gone")["fate"], "lost");
    assert_eq!(of("tool://toy/issues")["by"], json!(["issues_get"]));
    assert_eq!(of("ontology://toy/toy.ttl")["impact"], "none");
    let told = place.pack(&["diff", "old.pack", "new.pack"]);
    assert!(told.out.contains("Callers break.") && told.out.contains("split into issues_get"), "{told:?}");
    let none = ok(place.pack(&["diff", "old.pack", "old.pack"]));
    assert!(none.out.contains("No caller notices."), "{none:?}");
}

/// Proves: SDK-CONNECTOR-CONTROL-R650
#[test]
fn a_release_is_trusted_under_the_locked_key_and_never_an_older_one() {
    let place = Place::new();
    let toy = |version: &str| {
        let mut toy = toy(&[tool("list", &paged(), &[])], ONTOLOGY);
        toy["server"]["version"] = version.into();
        toy
    };
    ok(place.built("one", &toy("1"), &["--sequence", "1", "--expires", "2999-01-01T00:00:00Z"]));
    refused(&place.pack(&["verify", "one.pack"]), "usage");
    let locks = place.signed("one.pack", 1);
    let locked = std::fs::read(&locks).unwrap();
    let verify = |file: &str| place.pack(&["verify", file, "--locks", "locks.json", "--seen", "seen.json", "--json"]);
    let first = parsed(&ok(verify("one.pack")));
    assert_eq!((&first["signer"], &first["key"], &first["sequence"]), (&json!("acme"), &json!("locked"), &json!(1)));

    ok(place.built("two", &toy("2"), &["--sequence", "2"]));
    refused(&verify("two.pack"), "integrity_unsigned");
    place.signed("two.pack", 1);
    ok(place.pack(&["import", "two.pack", "--locks", "locks.json", "--seen", "seen.json"]));
    refused(&verify("one.pack"), "integrity_rolled_back");
    refused(
        &place.pack(&["import", "one.pack", "--locks", "locks.json", "--seen", "seen.json"]),
        "integrity_rolled_back",
    );

    ok(place.built("other", &toy("2b"), &["--sequence", "2"]));
    place.signed("other.pack", 1);
    refused(&verify("other.pack"), "integrity_two_releases");
    ok(place.built("old", &toy("3"), &["--sequence", "3", "--expires", "2020-01-01T00:00:00Z"]));
    place.signed("old.pack", 1);
    refused(&verify("old.pack"), "integrity_expired");

    // Another key, first without a rotation, then with one.
    ok(place.built("four", &toy("4"), &["--sequence", "4"]));
    place.signed("four.pack", 2);
    std::fs::write(&locks, &locked).unwrap();
    refused(&verify("four.pack"), "integrity_key_changed");
    let mut ledger = RotationLedger::default();
    let (from, to) = (signer(1).public_key(), signer(2).public_key());
    ledger.declare(Rotation { signer: "acme".into(), from, to, reason: "lost".into() }).unwrap();
    let record = place.write("rotations.json", &ledger.to_text());
    let mut command = place.command(crate::support::SCION);
    command.args(["pack", "verify", "four.pack", "--locks", "locks.json", "--json"]);
    let run = ok(Run::of(command.env("CONNECTOR_RELEASE_ROTATION_RECORD", record).output().unwrap()));
    assert_eq!(parsed(&run)["key"], "rotated");
    assert_eq!(std::fs::read(&locks).unwrap(), locked, "a reader never changes the locks");
}

#[test]
fn hostile_files_and_command_lines_are_refused() {
    let place = Place::new();
    ok(place.built("one", &toy(&[tool("list", &paged(), &[])], ONTOLOGY), &[]));
    let whole = std::fs::read(place.path("one.pack")).unwrap();
    for (name, bytes) in [
        ("empty.pack", Vec::new()),
        ("magic.pack", b"SCIONPK1".to_vec()),
        ("lie.pack", [b"SCIONPK1".as_slice(), &[0xff; 64]].concat()),
        ("cut.pack", whole[..whole.len() / 2].to_vec()),
        ("long.pack", [whole.as_slice(), b"x"].concat()),
    ] {
        std::fs::write(place.path(name), bytes).unwrap();
        for command in [
            &["inspect", name][..],
            &["verify", name, "--locks", "locks.json"],
            &["diff", "one.pack", name],
            &["import", name, "--unverified"],
        ] {
            let run = place.pack(command);
            assert!(run.code == 1 && run.err.starts_with("error[pack_"), "{name} {command:?}: {run:?}");
        }
    }
    refused(&place.pack(&["inspect", "absent.pack"]), "input_unreadable");
    refused(&place.pack(&["verify", "one.pack", "--locks", "absent.json"]), "input_unreadable");
    refused(&place.pack(&["build", "--out", "x.pack"]), "usage");
    refused(&place.pack(&["build", "--out", "x.pack", "--url", "file:///etc/passwd"]), "config_not_http");
    let keyed = |key: &str| {
        let args = ["--connector", "toy", "--signer", "acme", "--locks", "made.json", "--key", key];
        place.built("keyed", &toy(&[tool("list", &paged(), &[])], ONTOLOGY), &args)
    };
    refused(&keyed("env://RELEASE_SEED"), "integrity_key_reference_invalid");
    let literal = keyed("hunter2hunter2");
    refused(&literal, "integrity_key_reference_invalid");
    assert!(!literal.err.contains("hunter2"));
    assert!(!place.path("keyed.pack").exists() && !place.path("made.json").exists());
}

#[test]
fn the_example_connector_is_built_as_it_is() {
    let place = Place::new();
    let program = served_example().display().to_string();
    let built = parsed(&ok(place.pack(&["build", "--out", "a.pack", "--json", "--", &program])));
    assert!(built["entries"].as_u64().unwrap() > 1, "{built}");
    ok(place.pack(&["build", "--out", "b.pack", "--", &program]));
    assert_eq!(std::fs::read(place.path("a.pack")).unwrap(), std::fs::read(place.path("b.pack")).unwrap());
    ok(place.pack(&["diff", "a.pack", "b.pack"]));
}
