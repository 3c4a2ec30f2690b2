//! The arrows between crates, read from `cargo metadata` (design: `domain` ← `ports` ← use cases and adapters ← roots).

#![allow(clippy::unwrap_used, reason = "a test helper that cannot go on ends the test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Domain,
    Ports,
    Adapter,
    UseCase,
    Root,
    Kit,
}

/// Where a workspace member lives decides what it is. A member outside these folders has no place in the house.
fn layer(folder: &str) -> Option<Layer> {
    Some(match folder {
        "domain" => Layer::Domain,
        "ports" => Layer::Ports,
        "composition/scion" | "composition/cli" => Layer::Root,
        "conformance"
        | "conformance/http-bench"
        | "conformance/lab"
        | "conformance/mcp-runner"
        | "conformance/serve-bench"
        | "fuzz/harness" => Layer::Kit,
        _ if folder.starts_with("adapters/") => Layer::Adapter,
        _ if folder.starts_with("composition/") => Layer::UseCase,
        _ if folder.starts_with("examples/") => Layer::Root,
        _ => return None,
    })
}

/// Whether `from` may depend on `to`, both members of the workspace.
fn allowed(from: Layer, to: Layer) -> bool {
    match from {
        Layer::Domain => false,
        Layer::Ports => to == Layer::Domain,
        Layer::Adapter | Layer::UseCase => matches!(to, Layer::Domain | Layer::Ports),
        Layer::Kit => to != Layer::Root,
        Layer::Root => to != Layer::Kit,
    }
}

/// Crates that bring a runtime, a socket, a file or a clock. The domain may not name one.
const IMPURE: &[&str] = &[
    "async-trait",
    "tokio",
    "reqwest",
    "hyper",
    "rmcp",
    "rusqlite",
    "gix",
    "getrandom",
    "rand",
    "tempfile",
    "tracing",
];

struct Member {
    folder: String,
    layer: Layer,
    dependencies: Vec<String>,
}

fn members() -> BTreeMap<String, Member> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata failed");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let workspace = metadata["workspace_root"].as_str().unwrap();
    let mut members = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap().strip_prefix(workspace).unwrap().to_str().unwrap().to_owned();
        let layer = layer(&folder).unwrap_or_else(|| panic!("{folder} is in no layer of the house"));
        let dependencies = package["dependencies"].as_array().unwrap();
        let dependencies = dependencies
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
            .collect();
        members.insert(package["name"].as_str().unwrap().to_owned(), Member { folder, layer, dependencies });
    }
    members
}

fn violations(members: &BTreeMap<String, Member>) -> Vec<String> {
    let mut found = Vec::new();
    for member in members.values() {
        for name in &member.dependencies {
            match members.get(name) {
                Some(target) if !allowed(member.layer, target.layer) => {
                    found.push(format!("{} may not depend on {}", member.folder, target.folder));
                }
                None if member.layer == Layer::Domain && IMPURE.contains(&name.as_str()) => {
                    found.push(format!("{} may not depend on {name}", member.folder));
                }
                None if member.layer == Layer::Ports && name != "async-trait" => {
                    found.push(format!("{} may depend on async-trait alone, not on {name}", member.folder));
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn every_arrow_is_one_the_design_allows() {
    let members = members();
    assert!(members.len() >= 10, "only {} members were read", members.len());
    assert_eq!(violations(&members), Vec::<String>::new());
}

#[test]
fn a_forbidden_arrow_is_found() {
    let mut members = members();
    let names: Vec<String> = members.keys().cloned().collect();
    for (layer, bad) in [(Layer::Domain, "tokio"), (Layer::Domain, "scion-ports"), (Layer::Ports, "serde")] {
        let name = names.iter().find(|name| members[*name].layer == layer).unwrap();
        members.get_mut(name).unwrap().dependencies.push(bad.to_owned());
        assert_eq!(violations(&members).len(), 1, "{layer:?} -> {bad}");
        members.get_mut(name).unwrap().dependencies.pop();
    }
    let adapters: Vec<String> = names.iter().filter(|name| members[*name].layer == Layer::Adapter).cloned().collect();
    for from in [adapters[0].clone(), "scion-sync".to_owned()] {
        members.get_mut(&from).unwrap().dependencies.push(adapters[1].clone());
        assert_eq!(violations(&members).len(), 1, "{from} -> {}", adapters[1]);
        members.get_mut(&from).unwrap().dependencies.pop();
    }
}

#[test]
fn no_source_file_is_longer_than_a_thousand_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("git").arg("-C").arg(root).args(["ls-files", "*.rs"]).output().unwrap();
    let files = String::from_utf8(output.stdout).unwrap();
    let mut lengths: Vec<(usize, &str)> = files
        .lines()
        .filter_map(|file| std::fs::read_to_string(root.join(file)).ok().map(|text| (text.lines().count(), file)))
        .collect();
    lengths.sort_unstable();
    assert!(lengths.len() > 30);
    let (longest, file) = lengths[lengths.len() - 1];
    assert!(longest <= 1000, "{file} has {longest} lines");
    let median = lengths[lengths.len() / 2].0;
    assert!(median < 200, "the median file has {median} lines");
}

/// Proves: SDK-CONNECTOR-CONTROL-R014.20, SDK-CENTRALIZED-CAPABILITIES-R037
#[test]
fn extensions_have_no_other_namespace() {
    use scion_domain::extension::{ExtensionKind, NAMESPACE};
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let output = Command::new("git").arg("-C").arg(root).args(["ls-files", "*.rs", "*.toml"]).output().unwrap();
    let files = String::from_utf8(output.stdout).unwrap();
    let old = ["agent", "utilities"].join("_");
    let mut read = 0;
    // The model of the namespace names others in its own test.
    for file in files.lines().filter(|file| !file.ends_with("domain/src/extension.rs")) {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { continue };
        read += 1;
        assert!(!text.contains(&old), "{file}");
        for kind in ExtensionKind::ALL {
            for (at, _) in text.match_indices(&format!(".{}", kind.word())) {
                let before = &text[..at];
                let word = before
                    .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
                    .map_or(0, |at| at + 1);
                let literal = before[..word].ends_with('"');
                assert!(!literal || &before[word..] == NAMESPACE, "{file}: {}.{}", &before[word..], kind.word());
            }
        }
    }
    assert!(read > 100);
}
