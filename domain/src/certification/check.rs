use crate::json::{Json, JsonObject};
use crate::refusal::Refusal;

/// One thing that was looked at beside the tools of the presets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which check, a stable word.
    pub check: &'static str,
    /// What was looked at: a tool, a file, a protocol. Empty for the connector as a whole.
    pub subject: String,
    /// What came out.
    pub outcome: CheckOutcome,
}

/// What came out of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It holds; with the facts worth keeping.
    Passed(JsonObject),
    /// It does not hold, and the connector is not certified.
    Failed(Problem, JsonObject),
    /// Some caller may stumble over it; the connector is certified all the same.
    Warned(Problem),
    /// It was not looked at, and why.
    Skipped(&'static str),
}

/// A refusal as a report carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its stable code.
    pub code: &'static str,
    /// One line.
    pub message: String,
    /// What to do next.
    pub next: &'static str,
}

impl<R: Refusal> From<R> for Problem {
    fn from(refusal: R) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), next: refusal.next_step() }
    }
}

impl Problem {
    /// Its members in a report.
    pub fn to_json(&self) -> JsonObject {
        let texts = [("code", self.code), ("message", self.message.as_str()), ("next", self.next)];
        texts.map(|(name, text)| (name.to_owned(), Json::from(text))).into()
    }
}

impl Check {
    /// A check that holds.
    pub fn passed(check: &'static str, subject: impl Into<String>, facts: JsonObject) -> Self {
        Self { check, subject: subject.into(), outcome: CheckOutcome::Passed(facts) }
    }

    /// A check that does not.
    pub fn failed(check: &'static str, subject: impl Into<String>, problem: impl Into<Problem>) -> Self {
        Self { check, subject: subject.into(), outcome: CheckOutcome::Failed(problem.into(), JsonObject::new()) }
    }

    /// A check that leaves a warning.
    pub fn warned(check: &'static str, subject: impl Into<String>, problem: impl Into<Problem>) -> Self {
        Self { check, subject: subject.into(), outcome: CheckOutcome::Warned(problem.into()) }
    }

    /// A check that was not made.
    pub const fn skipped(check: &'static str, why: &'static str) -> Self {
        Self { check, subject: String::new(), outcome: CheckOutcome::Skipped(why) }
    }

    /// Whether the connector fails by it.
    pub const fn is_failure(&self) -> bool {
        matches!(self.outcome, CheckOutcome::Failed(..))
    }

    /// What is wrong, as a failure or a warning.
    pub const fn problem(&self) -> Option<&Problem> {
        match &self.outcome {
            CheckOutcome::Failed(problem, _) | CheckOutcome::Warned(problem) => Some(problem),
            CheckOutcome::Passed(_) | CheckOutcome::Skipped(_) => None,
        }
    }

    /// The same check with warnings taken as failures.
    #[must_use]
    pub fn strict(self) -> Self {
        match self.outcome {
            CheckOutcome::Warned(problem) => Self { outcome: CheckOutcome::Failed(problem, JsonObject::new()), ..self },
            _ => self,
        }
    }

    /// Its entry in a report: `check`, `outcome`, `subject`, then `code`, `message` and `next`, or `facts`, or `why`.
    pub fn to_json(&self) -> Json {
        let mut members = JsonObject::new();
        let facts = |facts: &JsonObject, members: &mut JsonObject| {
            if !facts.is_empty() {
                members.insert("facts".to_owned(), facts.clone().into());
            }
        };
        let outcome = match &self.outcome {
            CheckOutcome::Passed(known) => {
                facts(known, &mut members);
                "passed"
            }
            CheckOutcome::Failed(problem, known) => {
                members.extend(problem.to_json());
                facts(known, &mut members);
                "failed"
            }
            CheckOutcome::Warned(problem) => {
                members.extend(problem.to_json());
                "warned"
            }
            CheckOutcome::Skipped(why) => {
                members.insert("why".to_owned(), (*why).into());
                "skipped"
            }
        };
        let named = [("check", self.check), ("outcome", outcome), ("subject", self.subject.as_str())];
        members.extend(named.map(|(name, text)| (name.to_owned(), Json::from(text))));
        members.into()
    }
}
