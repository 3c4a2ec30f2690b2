//! The stored corpus, replayed.

use scion_fuzz_harness::{TARGETS, corpus};

#[test]
fn every_target_takes_its_whole_corpus() {
    for target in TARGETS {
        let entries = corpus(target.name);
        assert!(entries.len() >= 3, "{} has {} corpus entries", target.name, entries.len());
        for (name, bytes) in entries {
            let outcome = std::panic::catch_unwind(|| (target.run)(&bytes));
            assert!(outcome.is_ok(), "{} panics on {name}", target.name);
        }
    }
}

#[test]
fn every_target_has_a_cargo_fuzz_binary() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../cargo-fuzz/fuzz_targets");
    for target in TARGETS {
        assert!(folder.join(format!("{}.rs", target.name)).is_file(), "{} has no binary", target.name);
    }
}
