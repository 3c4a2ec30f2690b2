//! The refusal catalogue of the book is generated; this test keeps it current.
//!
//! `SCION_WRITE_CATALOGUE=1 cargo test -p scion-conformance --test catalogue` writes it.

#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use scion_domain::catalogue;
use scion_domain::refusal::{Blame, CatalogueEntry, Retry};

const HEAD: &str = "# Refusal catalogue\n\nGenerated from the code. A code never changes its meaning. `retry` says whether the same request can succeed later \
without anyone changing anything; `after readback` means that the outcome is unknown until the state has been read.\n\n\
`scion explain CODE` prints one entry.\n";

fn words(entry: &CatalogueEntry) -> (&'static str, &'static str) {
    let blame = match entry.blame {
        Blame::CallerMistake => "the caller",
        Blame::PeerMisbehaved => "the peer",
        Blame::Unavailable => "nobody: unavailable",
        Blame::Denied => "a policy",
    };
    let retry = match entry.retry {
        Retry::Never => "no",
        Retry::Later => "later",
        Retry::AfterReadback => "after readback",
    };
    (blame, retry)
}

fn page() -> String {
    let mut families: BTreeMap<&str, Vec<&CatalogueEntry>> = BTreeMap::new();
    for entry in catalogue::all().into_iter().flatten() {
        families.entry(entry.family).or_default().push(entry);
    }
    let mut out = HEAD.to_owned();
    for (family, mut entries) in families {
        entries.sort_by_key(|entry| entry.code);
        writeln!(
            out,
            "\n## {family}\n\n| code | message | who has to act | retry | next step |\n|---|---|---|---|---|"
        )
        .unwrap();
        for entry in entries {
            let (blame, retry) = words(entry);
            let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
            writeln!(out, "| `{}` | {} | {blame} | {retry} | {} |", entry.code, cell(entry.message), cell(entry.next))
                .unwrap();
        }
    }
    out
}

#[test]
fn the_catalogue_of_the_book_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/refusals.md");
    if std::env::var_os("SCION_WRITE_CATALOGUE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == page(), "docs/src/refusals.md is stale; see the head of this test");
}

/// Every `refusals!` family of the workspace is listed, so that `scion explain` knows every code.
#[test]
fn every_family_is_in_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let listed: Vec<&str> = catalogue::all().into_iter().flatten().map(|entry| entry.family).collect();
    let output = std::process::Command::new("git").arg("-C").arg(root).args(["ls-files", "*.rs"]).output().unwrap();
    let mut families = 0;
    for file in String::from_utf8(output.stdout).unwrap().lines() {
        if file.contains("/tests/") || file.starts_with("examples/") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        let mut inside = false;
        for line in text.lines() {
            inside |= line.starts_with("refusals! {");
            let name = line.trim().strip_prefix("pub enum ").and_then(|rest| rest.strip_suffix(" {"));
            if let (true, Some(name)) = (inside, name) {
                families += 1;
                assert!(listed.contains(&name), "{name} of {file} is not in domain/src/catalogue.rs");
                inside = false;
            }
        }
    }
    assert!(families > 15, "only {families} families were found");
}
