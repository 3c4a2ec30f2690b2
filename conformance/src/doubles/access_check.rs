//! Wrong access checks.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use scion_domain::access_check::{AccessAnswer, AccessCheckRefusal, AccessQuestion};
use scion_ports::AccessCheck;

use crate::fixtures::id;
use crate::reference::MemoryAccess;
use crate::suites::access_check::AccessFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessFlaw {
    /// Nothing; the reference.
    None,
    /// Answers in another order.
    Reorders,
    /// Allows what it does not know.
    AllowsUnknown,
    /// Asks the source about anything.
    AsksAnything,
    /// Hangs with its source.
    Hangs,
    /// Remembers answers.
    Caches,
}

impl AccessFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] =
        &[Self::Reorders, Self::AllowsUnknown, Self::AsksAnything, Self::Hangs, Self::Caches];
}

#[derive(Debug)]
struct FlawedAccess {
    inner: Arc<MemoryAccess>,
    flaw: AccessFlaw,
    cache: Mutex<Option<Vec<AccessAnswer>>>,
}

#[async_trait]
impl AccessCheck for FlawedAccess {
    async fn check(&self, question: &AccessQuestion) -> Result<Vec<AccessAnswer>, AccessCheckRefusal> {
        match self.flaw {
            AccessFlaw::AsksAnything => {
                let own = AccessQuestion { principal: "ada".into(), records: vec![id("open")] };
                self.inner.check(&own).await?;
            }
            AccessFlaw::Hangs if self.inner.hangs => std::future::pending::<()>().await,
            _ => {}
        }
        let mut answers = self.inner.check(question).await?;
        match self.flaw {
            AccessFlaw::Reorders => answers.rotate_left(1),
            AccessFlaw::AllowsUnknown => {
                for (record, answer) in question.records.iter().zip(&mut answers) {
                    if record.as_str() == "never-seen" {
                        *answer = AccessAnswer::Allowed;
                    }
                }
            }
            AccessFlaw::Caches => {
                let mut cache = self.cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                answers.clone_from(cache.get_or_insert(answers.clone()));
            }
            _ => {}
        }
        Ok(answers)
    }
}

/// A fixture of flawed checks.
#[derive(Debug)]
pub struct FlawedChecks {
    flaw: AccessFlaw,
    opened: Mutex<Arc<MemoryAccess>>,
}

impl FlawedChecks {
    /// With a flaw.
    pub fn new(flaw: AccessFlaw) -> Self {
        Self { flaw, opened: Mutex::default() }
    }

    fn make(&self, hangs: bool) -> Arc<dyn AccessCheck> {
        let mut inner = MemoryAccess::default();
        inner.hangs = hangs;
        let inner = Arc::new(inner);
        inner.allow("ada", &id("open"));
        *self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = inner.clone();
        Arc::new(FlawedAccess { inner, flaw: self.flaw, cache: Mutex::new(None) })
    }

    fn source(&self) -> Arc<MemoryAccess> {
        self.opened.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl AccessFixture for FlawedChecks {
    async fn open(&self) -> Arc<dyn AccessCheck> {
        self.make(false)
    }

    async fn hanging(&self) -> Arc<dyn AccessCheck> {
        self.make(true)
    }

    async fn revoke(&self) {
        self.source().revoke("ada", &id("open"));
    }

    fn asked(&self) -> usize {
        self.source().asked()
    }
}
