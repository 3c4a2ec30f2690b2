//! The results as the runner writes them: one folder a scenario, `checks.json` in it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What came of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// How many checks it made, those for information included.
    pub checks: usize,
    /// What its failed checks and warnings say.
    pub complaints: Vec<String>,
}

impl Scenario {
    /// No failure, no warning, and something was looked at.
    pub fn passed(&self) -> bool {
        self.checks > 0 && self.complaints.is_empty()
    }
}

/// Why results cannot be read.
#[derive(Debug)]
pub struct ResultFault {
    path: PathBuf,
    what: &'static str,
}

impl fmt::Display for ResultFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.what)
    }
}

/// Reads a folder of results. `prefix` is what the runner puts before the names of the scenarios of this kind.
pub fn read_results(root: &Path, prefix: &str) -> Result<BTreeMap<String, Scenario>, ResultFault> {
    let mut found = BTreeMap::new();
    visit(root, root, prefix, &mut found)?;
    Ok(found)
}

fn visit(root: &Path, folder: &Path, prefix: &str, found: &mut BTreeMap<String, Scenario>) -> Result<(), ResultFault> {
    let fault = |what| ResultFault { path: folder.to_owned(), what };
    for entry in std::fs::read_dir(folder).map_err(|_| fault("cannot be listed"))? {
        let path = entry.map_err(|_| fault("cannot be listed"))?.path();
        if path.is_dir() {
            visit(root, &path, prefix, found)?;
        } else if path.file_name().is_some_and(|name| name == "checks.json")
            && let Some(name) = scenario_name(root, folder, prefix)
        {
            found.insert(name, read_checks(&path)?);
        }
    }
    Ok(())
}

/// `auth/basic-cimd-2026-01-01T00-00-00-000Z` without its time and prefix. Scenarios with a `/` are folders in folders.
fn scenario_name(root: &Path, folder: &Path, prefix: &str) -> Option<String> {
    let relative = folder.strip_prefix(root).ok()?.to_str()?;
    let stamped = relative.strip_prefix(prefix)?;
    let time = "-2026-01-01T00-00-00-000Z".len();
    let (name, stamp) = stamped.split_at_checked(stamped.len().checked_sub(time)?)?;
    (stamp.starts_with('-') && stamp.ends_with('Z') && !name.is_empty()).then(|| name.to_owned())
}

fn read_checks(path: &Path) -> Result<Scenario, ResultFault> {
    let fault = |what| ResultFault { path: path.to_owned(), what };
    let text = std::fs::read_to_string(path).map_err(|_| fault("cannot be read"))?;
    let Ok(Value::Array(checks)) = serde_json::from_str::<Value>(&text) else {
        return Err(fault("is not a list of checks"));
    };
    let complaints = checks
        .iter()
        .filter(|check| !matches!(check["status"].as_str(), Some("SUCCESS" | "INFO" | "SKIPPED")))
        .map(|check| {
            let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            let (name, message) = (text("name"), text("errorMessage"));
            if message.is_empty() { format!("{name}: {}", text("description")) } else { format!("{name}: {message}") }
        })
        .collect();
    Ok(Scenario { checks: checks.len(), complaints })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_scenarios_are_found_by_their_names() {
        let root = tempfile::tempdir().unwrap();
        let put = |folder: &str, checks: &str| {
            let path = root.path().join(folder);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join("checks.json"), checks).unwrap();
        };
        put("server-ping-2026-12-01T01-02-03-004Z", r#"[{"status":"SUCCESS"},{"status":"INFO"}]"#);
        put("server-tools-list-2026-12-01T01-02-03-004Z", r#"[{"name":"A","status":"WARNING","errorMessage":"no"}]"#);
        let server = read_results(root.path(), "server-").unwrap();
        assert_eq!(server["ping"], Scenario { checks: 2, complaints: vec![] });
        assert!(server["ping"].passed());
        assert_eq!(server["tools-list"].complaints, ["A: no"]);

        put("auth/basic-cimd-2026-12-01T01-02-03-004Z", "[]");
        let all = read_results(root.path(), "").unwrap();
        assert!(!all["auth/basic-cimd"].passed(), "a scenario without a check has shown nothing");
    }

    #[test]
    fn a_result_that_is_no_list_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("ping-2026-12-01T01-02-03-004Z");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("checks.json"), "{}").unwrap();
        assert!(read_results(root.path(), "").is_err());
    }
}
