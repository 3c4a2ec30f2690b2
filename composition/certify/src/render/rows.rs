//! A report as rows that every form shows.

use scion_domain::certification::{CertificationReport, Check, CheckOutcome, Problem};

/// One thing that passed, failed, was warned about or skipped.
pub(super) struct Row {
    /// The check, for example `tool` or `client_profile`.
    pub(super) check: &'static str,
    /// What was looked at.
    pub(super) subject: String,
    pub(super) outcome: Outcome,
}

pub(super) enum Outcome {
    Passed(String),
    Failed(Vec<Problem>),
    Warned(Problem),
    Skipped(&'static str),
}

/// The rows of a report: why it was not listed, or its tools and then its checks.
pub(super) fn rows(report: &CertificationReport) -> Vec<Row> {
    if let Some(refusal) = &report.refusal {
        let outcome = Outcome::Failed(vec![Problem::from(refusal.clone())]);
        return vec![Row { check: "listing", subject: String::new(), outcome }];
    }
    let tools = report.tools.iter().map(|verdict| {
        let outcome = match &verdict.outcome {
            Ok(_) => Outcome::Passed(format!("for {}", verdict.presets.join(", "))),
            Err(found) => Outcome::Failed(found.iter().cloned().map(Problem::from).collect()),
        };
        Row { check: "tool", subject: verdict.tool.clone(), outcome }
    });
    tools.chain(report.checks.iter().map(row)).collect()
}

fn row(check: &Check) -> Row {
    let outcome = match &check.outcome {
        CheckOutcome::Passed(_) => Outcome::Passed(String::new()),
        CheckOutcome::Failed(problem, _) => Outcome::Failed(vec![problem.clone()]),
        CheckOutcome::Warned(problem) => Outcome::Warned(problem.clone()),
        CheckOutcome::Skipped(why) => Outcome::Skipped(why),
    };
    Row { check: check.check, subject: check.subject.clone(), outcome }
}

impl Row {
    /// `check subject`.
    pub(super) fn title(&self) -> String {
        let check = self.check.replace('_', " ");
        if self.subject.is_empty() { check } else { format!("{check} {}", self.subject) }
    }
}

/// What to call a report: its connector, or what it was run on when that is not known.
pub(super) fn name<'r>(report: &'r CertificationReport, fallback: &'r str) -> &'r str {
    if report.connector.is_empty() { fallback } else { &report.connector }
}
