//! From evidence to states, and the files that hold them.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::page;
use crate::register::Register;

/// `specs/<SPEC>/status.json`.
#[derive(Serialize, Deserialize, PartialEq)]
pub(crate) struct SpecStatus {
    pub(crate) spec: String,
    pub(crate) requirements: Vec<RowStatus>,
}

/// One row of it.
#[derive(Serialize, Deserialize, PartialEq)]
pub(crate) struct RowStatus {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) state: State,
    pub(crate) commits: Vec<String>,
    pub(crate) tests: Vec<String>,
    pub(crate) code: Vec<String>,
}

/// How far a requirement is.
#[derive(Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum State {
    /// It is written down.
    Specified,
    /// A commit on this branch names it in a `Spec:` trailer.
    Landed,
    /// It is landed and a test is bound to it.
    Verified,
}

pub(crate) fn compute(register: &Register, evidence: &Evidence) -> Vec<SpecStatus> {
    let list = |map: &std::collections::BTreeMap<String, std::collections::BTreeSet<String>>, id: &str| {
        map.get(id).map(|set| set.iter().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    register
        .specs
        .iter()
        .map(|(spec, rows)| SpecStatus {
            spec: spec.clone(),
            requirements: rows
                .iter()
                .map(|row| {
                    let commits = list(&evidence.commits, &row.id);
                    let tests = list(&evidence.tests, &row.id);
                    let state = match (commits.is_empty(), tests.is_empty()) {
                        (true, _) => State::Specified,
                        (false, true) => State::Landed,
                        (false, false) => State::Verified,
                    };
                    let code = list(&evidence.code, &row.id);
                    RowStatus { id: row.id.clone(), title: row.title.clone(), state, commits, tests, code }
                })
                .collect(),
        })
        .collect()
}

/// Writes every file; answers what could not be written.
pub(crate) fn write(root: &Path, specs: &[SpecStatus]) -> Vec<String> {
    files(specs)
        .into_iter()
        .filter_map(|(path, text)| {
            let path = root.join(path);
            fs::write(&path, text).err().map(|error| format!("{}: {error}", path.display()))
        })
        .collect()
}

/// Names every file that does not say what the evidence says, commit ids aside.
pub(crate) fn stale(root: &Path, specs: &[SpecStatus]) -> Vec<String> {
    files(specs)
        .into_iter()
        .filter_map(|(path, text)| {
            let found = fs::read_to_string(root.join(&path)).unwrap_or_default();
            let is_json = Path::new(&path).extension().is_some_and(|extension| extension == "json");
            let same = if is_json { without_commits(&found) == without_commits(&text) } else { found == text };
            (!same).then(|| format!("{path} is stale; run spec-report and commit the result"))
        })
        .collect()
}

fn without_commits(text: &str) -> Option<String> {
    let mut status: SpecStatus = serde_json::from_str(text).ok()?;
    for row in &mut status.requirements {
        row.commits.clear();
    }
    serde_json::to_string(&status).ok()
}

fn files(specs: &[SpecStatus]) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = specs
        .iter()
        .map(|status| {
            // A struct of strings and lists always serialises.
            let text = serde_json::to_string_pretty(status).unwrap_or_default() + "\n";
            (format!("specs/{}/status.json", status.spec), text)
        })
        .collect();
    files.push(("specs/index.html".to_owned(), page::render(specs)));
    files
}

/// `(specified only, landed only, verified)`.
pub(crate) fn counts(status: &SpecStatus) -> (usize, usize, usize) {
    let of = |state| status.requirements.iter().filter(|row| row.state == state).count();
    (of(State::Specified), of(State::Landed), of(State::Verified))
}

pub(crate) fn summary(specs: &[SpecStatus]) -> String {
    let mut total = (0, 0, 0);
    for status in specs {
        let (specified, landed, verified) = counts(status);
        total = (total.0 + specified, total.1 + landed, total.2 + verified);
    }
    let all = total.0 + total.1 + total.2;
    format!("{all} requirements: {} verified, {} landed without a test, {} specified", total.2, total.1, total.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::Row;

    #[test]
    fn states_follow_from_commits_and_tests() {
        let rows = ["S-R1", "S-R2", "S-R3"].map(|id| Row { id: id.to_owned(), title: "t".to_owned() });
        let register = Register { specs: [("S".to_owned(), rows.into())].into() };
        let mut evidence = Evidence::default();
        evidence.commits.entry("S-R2".into()).or_default().insert("abc".into());
        evidence.commits.entry("S-R3".into()).or_default().insert("abc".into());
        evidence.tests.entry("S-R1".into()).or_default().insert("x::y".into());
        evidence.tests.entry("S-R3".into()).or_default().insert("x::y".into());
        let specs = compute(&register, &evidence);
        assert_eq!(counts(&specs[0]), (1, 1, 1));
        assert!(specs[0].requirements[0].state == State::Specified, "a test without a commit delivers nothing");
    }

    #[test]
    fn a_status_file_that_lies_is_stale_and_commit_ids_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("specs/S")).unwrap();
        let row = |commits: Vec<String>, state| RowStatus {
            id: "S-R1".into(),
            title: "t".into(),
            state,
            commits,
            tests: vec![],
            code: vec![],
        };
        let of = |row| vec![SpecStatus { spec: "S".into(), requirements: vec![row] }];
        assert!(write(folder.path(), &of(row(vec!["abc".into()], State::Landed))).is_empty());
        assert!(stale(folder.path(), &of(row(vec!["def".into()], State::Landed))).is_empty());
        assert_eq!(stale(folder.path(), &of(row(vec![], State::Specified))).len(), 2);
    }
}
