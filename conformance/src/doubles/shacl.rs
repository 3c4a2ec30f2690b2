//! Wrong validators. They know the suite's own shapes and nothing else, which is enough to break each check.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use scion_domain::shapes::{MAX_VALIDATED_BYTES, ShapesRefusal, ShapesReport, ShapesViolation};
use scion_ports::ShaclValidator;

use crate::suites::shacl::{ROOM, SHAPES, SUBJECT, ShaclFixture};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaclFlaw {
    /// Nothing; a scripted validator that passes.
    None,
    /// Everything conforms.
    AlwaysConforms,
    /// Nothing conforms.
    NeverConforms,
    /// Stops at the first violation.
    FirstOnly,
    /// Violations have no path.
    NoPath,
    /// What cannot be read conforms.
    TakesMalformed,
    /// Knows no bound.
    Unbounded,
    /// Shows values.
    ShowsValues,
    /// Counts what it found before.
    Remembers,
}

impl ShaclFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::AlwaysConforms,
        Self::NeverConforms,
        Self::FirstOnly,
        Self::NoPath,
        Self::TakesMalformed,
        Self::Unbounded,
        Self::ShowsValues,
        Self::Remembers,
    ];
}

#[derive(Debug)]
struct ScriptedValidator {
    flaw: ShaclFlaw,
    before: AtomicUsize,
}

fn violation(path: &str, component: &str) -> ShapesViolation {
    let component = format!("http://www.w3.org/ns/shacl#{component}");
    ShapesViolation { path: Some(path.to_owned()), component, shape: None }
}

#[async_trait]
impl ShaclValidator for ScriptedValidator {
    async fn validate(&self, shapes: &str, data: &str) -> Result<ShapesReport, ShapesRefusal> {
        let flawed = |flaw| self.flaw == flaw;
        for (what, text) in [("shapes", shapes), ("data", data)] {
            if text.len() > MAX_VALIDATED_BYTES && !flawed(ShaclFlaw::Unbounded) {
                return Err(ShapesRefusal::TooLarge { what, limit: MAX_VALIDATED_BYTES });
            }
        }
        let readable = data.trim().is_empty() || data.trim_end().ends_with('.');
        for (what, readable) in [("shapes", shapes == SHAPES), ("data", readable)] {
            if !readable && !flawed(ShaclFlaw::TakesMalformed) {
                return Err(ShapesRefusal::Malformed { what });
            }
        }
        let mut found = Vec::new();
        if (data.contains("<urn:b>") && !flawed(ShaclFlaw::AlwaysConforms)) || flawed(ShaclFlaw::NeverConforms) {
            found =
                vec![violation(SUBJECT, "MaxCountConstraintComponent"), violation(ROOM, "MinCountConstraintComponent")];
        }
        if flawed(ShaclFlaw::FirstOnly) {
            found.truncate(1);
        }
        for one in &mut found {
            if flawed(ShaclFlaw::NoPath) {
                one.path = None;
            }
            if flawed(ShaclFlaw::ShowsValues) {
                one.shape = Some("hunter2".into());
            }
        }
        let before = self.before.fetch_add(found.len(), Ordering::Relaxed);
        let mut report = ShapesReport::of(found);
        if flawed(ShaclFlaw::Remembers) {
            report.count += before;
        }
        Ok(report)
    }
}

/// A fixture of flawed validators.
#[derive(Debug)]
pub struct FlawedValidators(ShaclFlaw);

impl FlawedValidators {
    /// With a flaw.
    pub const fn new(flaw: ShaclFlaw) -> Self {
        Self(flaw)
    }
}

#[async_trait]
impl ShaclFixture for FlawedValidators {
    async fn open(&self) -> Arc<dyn ShaclValidator> {
        Arc::new(ScriptedValidator { flaw: self.0, before: AtomicUsize::new(0) })
    }
}
