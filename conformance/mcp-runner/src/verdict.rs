//! The verdict over one run: what the runner wrote, against the list of failures we expect and can explain.

mod expected;
mod results;

use std::collections::{BTreeMap, BTreeSet};

pub use expected::{Expected, ListFault};
pub use results::{ResultFault, Scenario, read_results};

/// What is wrong with a run. An empty list is a pass.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A scenario of the runner left no result.
    NotRun(String),
    /// A scenario fails and is not on the list; with what its checks say.
    Unexpected(String, Vec<String>),
    /// A scenario on the list passes now.
    Stale(String),
    /// The list names a scenario the runner does not have.
    Unknown(String),
    /// Nothing was run at all.
    NothingRun,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotRun(name) => write!(f, "{name}: the runner left no result"),
            Self::Unexpected(name, why) => write!(f, "{name}: fails and is not expected to: {}", why.join("; ")),
            Self::Stale(name) => write!(f, "{name}: passes now; take it off the list of expected failures"),
            Self::Unknown(name) => {
                write!(f, "{name}: is on the list of expected failures, but the runner has no such scenario")
            }
            Self::NothingRun => f.write_str("no scenario was run"),
        }
    }
}

/// Compares the results with the scenarios that had to run and with the list.
pub fn judge(scenarios: &BTreeSet<String>, results: &BTreeMap<String, Scenario>, expected: &Expected) -> Vec<Fault> {
    let mut faults = Vec::new();
    if scenarios.is_empty() || results.is_empty() {
        faults.push(Fault::NothingRun);
    }
    for name in scenarios {
        match results.get(name) {
            None => faults.push(Fault::NotRun(name.clone())),
            Some(scenario) if scenario.passed() => {
                if expected.contains(name) {
                    faults.push(Fault::Stale(name.clone()));
                }
            }
            Some(scenario) => {
                if !expected.contains(name) {
                    faults.push(Fault::Unexpected(name.clone(), scenario.complaints.clone()));
                }
            }
        }
    }
    faults.extend(expected.names().filter(|name| !scenarios.contains(*name)).cloned().map(Fault::Unknown));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(checks: usize, complaints: &[&str]) -> Scenario {
        Scenario { checks, complaints: complaints.iter().map(|&text| text.to_owned()).collect() }
    }

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|&name| name.to_owned()).collect()
    }

    fn results(all: &[(&str, Scenario)]) -> BTreeMap<String, Scenario> {
        all.iter().map(|(name, scenario)| ((*name).to_owned(), scenario.clone())).collect()
    }

    #[test]
    fn what_passes_and_what_is_expected_to_fail_is_no_fault() {
        let list = Expected::parse("sampling  # a connector spends nobody's model\n").unwrap();
        let run = results(&[("ping", scenario(1, &[])), ("sampling", scenario(1, &["Did not ask"]))]);
        assert_eq!(judge(&names(&["ping", "sampling"]), &run, &list), []);
    }

    #[test]
    fn an_unlisted_failure_a_stale_entry_and_an_unknown_name_are_faults() {
        let list = Expected::parse("ping # once\ngone # twice\n").unwrap();
        let run = results(&[("ping", scenario(1, &[])), ("tools", scenario(2, &["No text"]))]);
        assert_eq!(
            judge(&names(&["ping", "tools"]), &run, &list),
            [
                Fault::Stale("ping".to_owned()),
                Fault::Unexpected("tools".to_owned(), vec!["No text".to_owned()]),
                Fault::Unknown("gone".to_owned()),
            ]
        );
    }

    #[test]
    fn a_scenario_without_a_result_or_without_a_check_is_a_fault() {
        let run = results(&[("ping", scenario(0, &[]))]);
        let faults = judge(&names(&["ping", "tools"]), &run, &Expected::default());
        assert_eq!(faults, [Fault::Unexpected("ping".to_owned(), vec![]), Fault::NotRun("tools".to_owned())]);
    }

    #[test]
    fn a_run_of_nothing_is_a_fault() {
        assert_eq!(judge(&BTreeSet::new(), &BTreeMap::new(), &Expected::default()), [Fault::NothingRun]);
    }
}
