//! Access answers in memory.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::access_check::{
    AccessAnswer, AccessCheckRefusal, AccessQuestion, CHECK_TIMEOUT_MS, MAX_RECORDS_PER_CHECK,
};
use scion_domain::id::RecordId;
use scion_ports::AccessCheck;

/// An access check over a set of permissions.
#[derive(Debug, Default)]
pub struct MemoryAccess {
    allowed: Mutex<HashSet<(String, RecordId)>>,
    /// The source hangs.
    pub hangs: bool,
    asked: AtomicUsize,
}

impl MemoryAccess {
    /// Lets a principal read a record.
    pub fn allow(&self, principal: &str, record: &RecordId) {
        self.lock().insert((principal.to_owned(), record.clone()));
    }

    /// Takes the permission away.
    pub fn revoke(&self, principal: &str, record: &RecordId) {
        self.lock().remove(&(principal.to_owned(), record.clone()));
    }

    /// How often the source was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<(String, RecordId)>> {
        self.allowed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn ask_source(&self, question: &AccessQuestion) -> Vec<AccessAnswer> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let allowed = self.lock();
        let answer = |record: &RecordId| {
            if allowed.contains(&(question.principal.clone(), record.clone())) {
                AccessAnswer::Allowed
            } else {
                AccessAnswer::Denied
            }
        };
        question.records.iter().map(answer).collect()
    }
}

#[async_trait]
impl AccessCheck for MemoryAccess {
    async fn check(&self, question: &AccessQuestion) -> Result<Vec<AccessAnswer>, AccessCheckRefusal> {
        if question.principal.is_empty() {
            return Err(AccessCheckRefusal::NoPrincipal);
        }
        let count = question.records.len();
        if count > MAX_RECORDS_PER_CHECK {
            return Err(AccessCheckRefusal::TooMany { count, limit: MAX_RECORDS_PER_CHECK });
        }
        let limit = Duration::from_millis(CHECK_TIMEOUT_MS);
        let answers = tokio::time::timeout(limit, self.ask_source(question)).await;
        Ok(answers.unwrap_or_else(|_| vec![AccessAnswer::Denied; count]))
    }
}
