//! What a suite found.

use std::fmt;

/// The outcome of one check.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The obligation it checks, for example `O3`.
    pub obligation: &'static str,
    /// The name of the check.
    pub check: &'static str,
    /// What was wrong, if anything.
    pub result: Result<(), String>,
}

/// The outcomes of a suite.
#[derive(Clone, Debug)]
pub struct Report {
    /// The port.
    pub port: &'static str,
    /// One entry per check, in order.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// An empty report.
    pub const fn new(port: &'static str) -> Self {
        Self { port, outcomes: Vec::new() }
    }

    /// Adds an outcome.
    pub fn add(&mut self, obligation: &'static str, check: &'static str, result: Result<(), String>) {
        self.outcomes.push(Outcome { obligation, check, result });
    }

    /// The checks that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        self.outcomes.iter().filter(|outcome| outcome.result.is_err()).map(|outcome| outcome.check).collect()
    }

    /// The names of all checks.
    pub fn checks(&self) -> Vec<&'static str> {
        self.outcomes.iter().map(|outcome| outcome.check).collect()
    }

    /// Panics with the whole report if a check failed, or if nothing ran.
    ///
    /// # Panics
    /// As said; this is for tests.
    pub fn assert_passed(&self) {
        assert!(!self.outcomes.is_empty(), "the {} suite ran nothing", self.port);
        assert!(self.failed().is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} suite", self.port)?;
        for outcome in &self.outcomes {
            match &outcome.result {
                Ok(()) => writeln!(f, "  pass {} {}", outcome.obligation, outcome.check)?,
                Err(problem) => writeln!(f, "  FAIL {} {}: {problem}", outcome.obligation, outcome.check)?,
            }
        }
        Ok(())
    }
}

/// Fails a check with a message when a condition does not hold.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

/// Unwraps a result inside a check; the failure is the check's.
#[macro_export]
macro_rules! must {
    ($result:expr, $what:literal) => {
        match $result {
            Ok(value) => value,
            Err(refusal) => return Err(format!("{}: {refusal}", $what)),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    #[should_panic(expected = "ran nothing")]
    fn a_suite_that_ran_nothing_fails() {
        Report::new("Nothing").assert_passed();
    }

    #[test]
    #[should_panic(expected = "FAIL O1 it_works: no")]
    fn a_failed_check_is_named() {
        let mut report = Report::new("Thing");
        report.add("O1", "it_works", Err("no".into()));
        report.assert_passed();
    }
}
