//! Evidence: `Spec:` trailers of commits, `Proves:` lines above tests, and mentions in code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::register::Register;

/// What was found for each id.
#[derive(Default)]
pub(crate) struct Evidence {
    /// Id to abbreviated commits.
    pub(crate) commits: BTreeMap<String, BTreeSet<String>>,
    /// Id to `file::test`.
    pub(crate) tests: BTreeMap<String, BTreeSet<String>>,
    /// Id to files that mention it outside tests.
    pub(crate) code: BTreeMap<String, BTreeSet<String>>,
}

impl Evidence {
    pub(crate) fn collect(root: &Path) -> Result<Self, String> {
        let mut evidence = Self::default();
        evidence.read_commits(root)?;
        for file in tracked_sources(root)? {
            let text = fs::read_to_string(root.join(&file)).map_err(|error| format!("{file}: {error}"))?;
            evidence.read_source(&file, &text);
        }
        Ok(evidence)
    }

    fn read_commits(&mut self, root: &Path) -> Result<(), String> {
        let log = git(root, &["log", "--format=%x01%h%x02%(trailers:key=Spec,valueonly,unfold)"])?;
        for entry in log.split('\u{1}') {
            let Some((commit, trailers)) = entry.split_once('\u{2}') else { continue };
            for id in ids(trailers) {
                self.commits.entry(id).or_default().insert(commit.to_owned());
            }
        }
        Ok(())
    }

    fn read_source(&mut self, file: &str, text: &str) {
        let mut pending: Vec<String> = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
            if let Some(list) = comment.and_then(|comment| comment.strip_prefix("Proves:")) {
                pending.extend(ids(list));
            } else if let Some(comment) = comment {
                for id in ids(comment).filter(|id| id.contains("-R")) {
                    self.code.entry(id).or_default().insert(file.to_owned());
                }
            } else if let Some(name) = function_name(line) {
                for id in pending.drain(..) {
                    self.tests.entry(id).or_default().insert(format!("{file}::{name}"));
                }
            }
        }
        for id in pending {
            // A `Proves:` line without a test below it proves nothing; name it so that it is found.
            self.tests.entry(format!("{id} (no test follows in {file})")).or_default();
        }
    }

    /// Ids named by tests or trailers that the register does not have.
    pub(crate) fn unknown_ids(&self, register: &Register) -> Vec<String> {
        let of = |map: &BTreeMap<String, BTreeSet<String>>, what: &str| {
            map.iter()
                .filter(|(id, _)| !register.knows(id))
                .map(|(id, places)| {
                    let places: Vec<&str> = places.iter().map(String::as_str).collect();
                    format!("{what} names the unknown requirement {id} {}", places.join(", "))
                })
                .collect::<Vec<_>>()
        };
        let mut unknown = of(&self.commits, "a commit trailer");
        unknown.extend(of(&self.tests, "a test"));
        unknown
    }
}

fn ids(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.'))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.starts_with("SDK-"))
        .map(str::to_owned)
}

fn function_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").unwrap_or(line);
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let rest = rest.strip_prefix("fn ")?;
    rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

fn tracked_sources(root: &Path) -> Result<Vec<String>, String> {
    let list = git(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.rs"])?;
    Ok(list
        .split('\0')
        .filter(|file| !file.is_empty() && root.join(file).is_file() && !file.contains("bin/spec-report/"))
        .map(str::to_owned)
        .collect())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output();
    let output = output.map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git {} failed; is this a full clone?", arguments[0]));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::Evidence;

    #[test]
    fn a_test_is_bound_by_the_line_above_it() {
        let text =
            "/// See SDK-A-R001.\npub fn code() {}\n/// Proves: SDK-A-R002, SDK-A-R003.1.\n#[test]\nfn it_holds() {}\n";
        let mut evidence = Evidence::default();
        evidence.read_source("x.rs", text);
        assert!(evidence.tests["SDK-A-R003.1"].contains("x.rs::it_holds"));
        assert!(evidence.code.contains_key("SDK-A-R001"));
        assert!(!evidence.code.contains_key("SDK-A-R002"));
    }

    #[test]
    fn a_claim_without_a_test_is_unknown() {
        let mut evidence = Evidence::default();
        evidence.read_source("x.rs", "/// Proves: SDK-A-R002\nstruct NotATest;\n");
        assert!(evidence.tests.keys().next().unwrap().contains("no test follows"));
    }
}
