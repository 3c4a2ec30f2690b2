//! Values that live as long as one call.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use scion_domain::tool_context::CallEventKind;
use tokio::sync::OnceCell;

use crate::context_call::{CallState, lock};

/// The most values of one call; further ones are worked out each time.
const MAX_ENTRIES: usize = 1024;

type Cell = Arc<OnceCell<Arc<dyn Any + Send + Sync>>>;
pub(crate) type Entries = HashMap<(TypeId, Box<str>), Cell>;

/// Values worth keeping for the rest of one call: what was looked up once need not be looked up again. Nothing of it is seen
/// by another call, and nothing is left once the call is over or its time is.
#[derive(Clone)]
pub struct RequestCache {
    call: Arc<CallState>,
}

impl std::fmt::Debug for RequestCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RequestCache")
    }
}

impl RequestCache {
    pub(crate) fn of(call: &Arc<CallState>) -> Self {
        Self { call: Arc::clone(call) }
    }

    /// The value under a key, made by `make` when it is not there. Side by side, it is made once and the others wait. A failure
    /// is not kept. Keys of different types do not meet.
    pub async fn get_or_try_init<T, E, Fut>(&self, key: &str, make: impl FnOnce() -> Fut + Send) -> Result<Arc<T>, E>
    where
        T: Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send,
    {
        let Some(cell) = self.cell::<T>(key) else { return make().await.map(Arc::new) };
        if let Some(value) = cell.get() {
            self.call.emit(CallEventKind::CacheHit);
            return Ok(typed(value));
        }
        let mut made = false;
        let value = cell
            .get_or_try_init(|| {
                made = true;
                async { make().await.map(|value| Arc::new(value) as Arc<dyn Any + Send + Sync>) }
            })
            .await?;
        let value = typed(value);
        if !made {
            self.call.emit(CallEventKind::CacheHit);
        }
        Ok(value)
    }

    /// The value under a key, if it is there.
    pub fn get<T: Send + Sync + 'static>(&self, key: &str) -> Option<Arc<T>> {
        let cell = self.live()?.get(&(TypeId::of::<T>(), key.into())).cloned()?;
        let value = typed(cell.get()?);
        self.call.emit(CallEventKind::CacheHit);
        Some(value)
    }

    /// Keeps a value, unless one is there.
    pub fn put<T: Send + Sync + 'static>(&self, key: &str, value: T) {
        if let Some(cell) = self.cell::<T>(key) {
            let _ = cell.set(Arc::new(value));
        }
    }

    fn live(&self) -> Option<LiveEntries<'_>> {
        (!self.call.is_over()).then(|| LiveEntries(lock(&self.call.cache)))
    }

    /// The place of a value; `None` when the call is over or has enough of them.
    fn cell<T: 'static>(&self, key: &str) -> Option<Cell> {
        let mut entries = self.live()?;
        let entries = entries.0.get_or_insert_default();
        let key = (TypeId::of::<T>(), Box::from(key));
        if entries.len() >= MAX_ENTRIES && !entries.contains_key(&key) {
            return None;
        }
        Some(Arc::clone(entries.entry(key).or_default()))
    }
}

struct LiveEntries<'a>(std::sync::MutexGuard<'a, Option<Entries>>);

impl LiveEntries<'_> {
    fn get(&self, key: &(TypeId, Box<str>)) -> Option<&Cell> {
        self.0.as_ref()?.get(key)
    }
}

fn typed<T: Send + Sync + 'static>(value: &Arc<dyn Any + Send + Sync>) -> Arc<T> {
    Arc::clone(value).downcast().expect("the type is part of the key")
}
