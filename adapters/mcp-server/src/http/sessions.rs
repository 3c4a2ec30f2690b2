//! Whose session is whose: a session belongs to the caller that opened it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scion_domain::surface::CallerIdentity;
use tokio::time::Instant;

/// A session nobody used for this long is forgotten; the library closes idle ones sooner.
const FORGOTTEN: Duration = Duration::from_mins(10);

/// The sessions that are open.
pub(crate) struct Sessions {
    limit: usize,
    open: Mutex<HashMap<Arc<str>, Session>>,
}

struct Session {
    owner: Option<CallerIdentity>,
    used: Instant,
}

impl Sessions {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), open: Mutex::default() }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room for one more.
    pub(super) fn has_room(&self) -> bool {
        let mut open = self.lock();
        if open.len() >= self.limit {
            open.retain(|_, session| session.used.elapsed() < FORGOTTEN);
        }
        open.len() < self.limit
    }

    /// Notes a session that was just opened.
    pub(super) fn opened(&self, id: &str, owner: Option<&CallerIdentity>) {
        self.lock().insert(id.into(), Session { owner: owner.cloned(), used: Instant::now() });
    }

    /// The session, when it is open and this caller's.
    pub(super) fn of(&self, id: &str, caller: Option<&CallerIdentity>) -> Option<Arc<str>> {
        let mut open = self.lock();
        let known = open.get_key_value(id).map(|(id, _)| Arc::clone(id))?;
        let session = open.get_mut(id)?;
        if session.owner.as_ref() != caller {
            return None;
        }
        session.used = Instant::now();
        Some(known)
    }

    /// Forgets a session that was ended.
    pub(super) fn ended(&self, id: &str) {
        self.lock().remove(id);
    }
}
