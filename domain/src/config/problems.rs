//! Everything that is wrong with one configuration file.

use std::fmt;

use serde::Serialize;

use super::ConfigRefusal;
use crate::refusal::Refusal as _;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    /// The line, from 1; 0 when the file could not be read at all.
    pub line: usize,
    /// The column in characters, from 1; 0 when the file could not be read at all.
    pub column: usize,
    /// The field, as `connectors.0.endpoint.url`; `document` for the file as a whole.
    pub path: String,
    /// What is wrong with it.
    pub refusal: ConfigRefusal,
}

/// All problems of one file, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigProblems {
    /// The file, as the caller named it.
    pub file: String,
    /// The problems, at most [`ConfigProblems::LIMIT`].
    pub problems: Vec<ConfigProblem>,
}

impl ConfigProblems {
    /// The most problems that are listed; reading goes on, but nobody reads more.
    pub const LIMIT: usize = 50;

    /// A problem of the file as a whole.
    pub fn of_file(file: &str, refusal: ConfigRefusal) -> Self {
        Self::at(file, 0, 0, refusal)
    }

    /// A problem at one place that has no field path.
    pub fn at(file: &str, line: usize, column: usize, refusal: ConfigRefusal) -> Self {
        let problem = ConfigProblem { line, column, path: "document".to_owned(), refusal };
        Self { file: file.to_owned(), problems: vec![problem] }
    }
}

impl fmt::Display for ConfigProblems {
    /// For each problem a line `file:line:column: path: what is wrong [code]` and an indented next step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, ConfigProblem { line, column, path, refusal }) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}:", self.file)?;
            if *line > 0 {
                write!(f, "{line}:{column}:")?;
            }
            write!(f, " {path}: {refusal} [{}]\n    {}", refusal.code(), refusal.next_step())?;
        }
        if self.problems.len() == Self::LIMIT {
            f.write_str("\n(more may follow once these are fixed)")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigProblems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_one_line_and_a_next_step() {
        let problems = ConfigProblems {
            file: "fleet.yaml".into(),
            problems: vec![ConfigProblem {
                line: 4,
                column: 5,
                path: "connectors.0.intervall_seconds".into(),
                refusal: ConfigRefusal::UnknownKey { hint: "did you mean `interval_seconds`?".into() },
            }],
        };
        assert_eq!(
            problems.to_string(),
            "fleet.yaml:4:5: connectors.0.intervall_seconds: unknown key; did you mean `interval_seconds`? \
             [config_unknown_key]\n    correct or remove it"
        );
        let unread = ConfigProblems::of_file("x", ConfigRefusal::Unreadable { what: "not found" });
        assert!(unread.to_string().starts_with("x: document: the file cannot be read: not found"));
    }
}
