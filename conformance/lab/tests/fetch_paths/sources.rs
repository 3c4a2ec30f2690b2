//! Finds the fetch paths in the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::paths::{CALLS, NO_FETCHES, OF_THE_DIALER, PATHS};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap().to_owned()
}

/// The source files of every crate that may reach the outside, tests left out, as (crate folder, file, text without its tests).
fn product_sources() -> Vec<(PathBuf, String, String)> {
    let mut found = Vec::new();
    for group in ["adapters", "composition", "examples"] {
        let mut folders = vec![root().join(group)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && !matches!(name.as_str(), "tests" | "benches" | "scripted" | "target") {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests.rs" {
                    let krate = path.ancestors().find(|folder| folder.join("Cargo.toml").exists()).unwrap().to_owned();
                    let file = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                    let text = without_tests(&std::fs::read_to_string(&path).unwrap());
                    found.push((krate, file, text));
                }
            }
        }
    }
    found
}

/// A text without its test module and its comments.
fn without_tests(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// How often a text calls a method of a name, as `.name(` or `::name(`, whatever blanks lie between.
fn calls(text: &str, name: &str) -> usize {
    text.match_indices(name)
        .filter(|(at, _)| {
            let before = text[..*at].trim_end();
            let after = text[at + name.len()..].trim_start();
            (before.ends_with('.') || before.ends_with("::")) && after.starts_with('(')
        })
        .count()
}

/// Call sites of `HttpExchange::send` by file: every `send` of a crate that knows the port at all.
fn sends(sources: &[(PathBuf, String, String)]) -> BTreeMap<String, usize> {
    let fetching: BTreeSet<&PathBuf> = sources
        .iter()
        .filter(|(_, _, text)| {
            text.contains("HttpExchange") || text.contains("HttpDialer") || text.contains("OutboundRequest")
        })
        .map(|(krate, _, _)| krate)
        .collect();
    sources
        .iter()
        .filter(|(krate, _, _)| fetching.contains(krate))
        .map(|(_, file, text)| (file.clone(), calls(text, "send")))
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[test]
fn every_call_that_sends_a_request_is_in_the_table() {
    let found = sends(&product_sources());
    let mut listed = BTreeMap::new();
    for (file, count) in
        CALLS.iter().map(|call| (call.file, call.count)).chain(NO_FETCHES.iter().map(|none| (none.0, none.1)))
    {
        *listed.entry(file.to_owned()).or_insert(0) += count;
    }
    for (file, count) in &found {
        let known = listed.get(file).copied().unwrap_or(0);
        assert_eq!(
            *count, known,
            "{file} calls send() {count} times and the table of fetch paths knows {known}: see CONTRIBUTING.md, \"A new fetch path\""
        );
    }
    let stale: Vec<&String> = listed.keys().filter(|file| !found.contains_key(*file)).collect();
    assert!(stale.is_empty(), "the table of fetch paths names files that send nothing: {stale:?}");
}

#[test]
fn every_entry_is_driven_and_every_driver_has_a_call() {
    let driven: BTreeSet<&str> = PATHS.iter().map(|path| path.name).collect();
    assert_eq!(driven.len(), PATHS.len(), "two fetch paths share a name");
    let called: BTreeSet<&str> =
        CALLS.iter().flat_map(|call| call.paths.iter()).chain(OF_THE_DIALER).copied().collect();
    assert_eq!(called, driven);
    assert!(CALLS.iter().all(|call| !call.paths.is_empty() && call.count > 0));
}

/// Nothing but the dialer opens a connection. Proves nothing about what a dependency does; `deny.toml` and the manifests do.
#[test]
fn nothing_but_the_dialer_reaches_for_a_socket() {
    let ways = [
        "TcpStream::connect",
        "TcpSocket::",
        "UdpSocket::",
        "reqwest::",
        "hyper_util::client",
        "hyper::client",
        "ureq::",
        "lookup_host",
    ];
    let sources = product_sources();
    assert!(sources.len() > 100, "only {} files were read", sources.len());
    for (_, file, text) in &sources {
        let allowed = file.starts_with("adapters/http/") || ELSEWHERE.iter().any(|folder| file.starts_with(folder));
        let used: Vec<&&str> = ways.iter().filter(|way| text.contains(**way)).collect();
        assert!(allowed || used.is_empty(), "{file} goes round the dialer with {used:?}");
    }
}

/// What goes to one address that the operator set and speaks no HTTP (the engine's socket), and what listens instead of dialling.
const ELSEWHERE: &[&str] = &["adapters/engine/src/client.rs", "composition/scion/src/run/network.rs"];

#[test]
fn a_call_is_found_however_it_is_written() {
    let text = "a.send(x); b\n    .send(y); HttpExchange::send(z); resend(q); self.sender(1); send(2)";
    assert_eq!(calls(text, "send"), 3);
    assert_eq!(calls(&without_tests("// a.send(x)\na.send(y)\n#[cfg(test)]\nmod tests {\n b.send(z) }"), "send"), 1);
}
