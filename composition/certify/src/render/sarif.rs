//! SARIF 2.1.0 (OASIS Standard, section numbers below).

use scion_domain::certification::{CertificationReport, Problem, pretty};
use scion_domain::json::{Json, JsonObject};

use super::rows::{Outcome, Row, name, rows};

/// Several reports as one SARIF log with one run. Failures are results of level `error`, warnings of level `warning`; what passed is
/// no result. `version` is that of the tool.
pub fn sarif(reports: &[(&str, &CertificationReport)], version: &str) -> String {
    let mut rules: Vec<&Problem> = Vec::new();
    let mut results = Vec::new();
    let all: Vec<(&str, Vec<Row>)> =
        reports.iter().map(|(fallback, report)| (name(report, fallback), rows(report))).collect();
    for (connector, rows) in &all {
        for row in rows {
            let (level, problems) = match &row.outcome {
                Outcome::Failed(problems) => ("error", problems.as_slice()),
                Outcome::Warned(problem) => ("warning", std::slice::from_ref(problem)),
                Outcome::Passed(_) | Outcome::Skipped(_) => continue,
            };
            for problem in problems {
                let known = rules.iter().position(|rule| rule.code == problem.code);
                let index = known.unwrap_or_else(|| {
                    rules.push(problem);
                    rules.len() - 1
                });
                results.push(result(connector, row, problem, level, index));
            }
        }
    }
    let rules: Vec<Json> = rules.into_iter().map(rule).collect();
    let driver = Json::from([
        ("name", Json::from("connector-certify")),
        ("rules", rules.into()),
        ("semanticVersion", version.into()),
    ]);
    // 3.20.14: the tool did its work, whatever it found.
    let listed = reports.iter().all(|(_, report)| report.listed());
    let run = Json::from([
        ("invocations", Json::from(vec![Json::from([("executionSuccessful", Json::from(listed))])])),
        ("results", results.into()),
        ("tool", Json::from([("driver", driver)])),
    ]);
    pretty(&Json::from([
        (
            "$schema",
            Json::from("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"),
        ),
        ("runs", Json::from(vec![run])),
        ("version", Json::from("2.1.0")),
    ]))
}

fn message(text: &str) -> Json {
    Json::from([("text", Json::from(text))])
}

/// 3.49: the code is stable, so it is the id of the rule.
fn rule(problem: &Problem) -> Json {
    let said = problem.code.replace('_', " ");
    Json::from([
        ("help", message(problem.next)),
        ("id", Json::from(problem.code)),
        ("shortDescription", message(&said)),
    ])
}

/// 3.27, with a logical location (3.33): a tool is not a place in a file.
fn result(connector: &str, row: &Row, problem: &Problem, level: &str, index: usize) -> Json {
    let mut place = JsonObject::new();
    let full = if row.subject.is_empty() { connector.to_owned() } else { format!("{connector}/{}", row.subject) };
    let short = if row.subject.is_empty() { connector } else { &row.subject };
    place.insert("fullyQualifiedName".to_owned(), full.as_str().into());
    place.insert("name".to_owned(), short.into());
    place.insert("kind".to_owned(), if row.check == "tool" { "function" } else { "resource" }.into());
    let location = Json::from([("logicalLocations", Json::from(vec![Json::Object(place)]))]);
    let text = format!("{}. Next: {}.", problem.message, problem.next);
    Json::from([
        ("level", Json::from(level)),
        ("locations", vec![location].into()),
        ("message", message(&text)),
        ("ruleId", problem.code.into()),
        ("ruleIndex", (index as u64).into()),
    ])
}
