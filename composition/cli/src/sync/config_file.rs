//! The configuration file as the list of connectors.

use std::path::PathBuf;

use scion::ports::async_trait;
use scion::sync::Registry;
use scion_domain::config::{ConfigProblem, ConfigProblems, RunnerConfig};

/// Reads the file again each time it is asked.
pub(crate) struct ConfigFile {
    path: PathBuf,
}

impl ConfigFile {
    /// The file at a path.
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Reads it now.
    pub(crate) async fn read(&self) -> Result<RunnerConfig, Box<ConfigProblems>> {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || scion_config::read_file(&path)).await;
        let lost = || {
            let refusal = scion_domain::config::ConfigRefusal::Unreadable { what: "reading it did not end in order" };
            ConfigProblems::of_file(&self.path.display().to_string(), refusal)
        };
        read.unwrap_or_else(|_| Err(lost())).map_err(Box::new)
    }
}

#[async_trait]
impl Registry for ConfigFile {
    async fn load(&self) -> Result<RunnerConfig, String> {
        self.read().await.map_err(|problems| one_line(&problems))
    }
}

/// `file:line:column: field`, as far as they are known.
pub(crate) fn place_of(file: &str, problem: &ConfigProblem) -> String {
    let place = match (problem.line, problem.column) {
        (0, _) => file.to_owned(),
        (line, column) => format!("{file}:{line}:{column}"),
    };
    if problem.path == "document" { place } else { format!("{place}: {}", problem.path) }
}

fn one_line(problems: &ConfigProblems) -> String {
    let first = problems
        .problems
        .first()
        .map_or_else(String::new, |problem| format!("{}: {}", place_of(&problems.file, problem), problem.refusal));
    match problems.problems.len().saturating_sub(1) {
        0 => first,
        1 => format!("{first} (and one problem more)"),
        more => format!("{first} (and {more} problems more)"),
    }
}
