//! Change announcements: one hub per surface, one merged backlog per listener.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use scion_domain::mcp::{McpRefusal, ServerChange};
use scion_ports::{ChangeFeed, async_trait};
use tokio::sync::Notify;

/// The most different changes a listener can fall behind by; beyond it, single resources merge into "the list changed".
const BACKLOG: usize = 256;

/// Announces that something a server shows has changed. Cheap to clone; it never blocks.
#[derive(Clone, Debug, Default)]
pub struct ChangeNotifier {
    hub: Arc<Hub>,
}

#[derive(Debug, Default)]
struct Hub {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

#[derive(Debug, Default)]
struct Listener {
    state: Mutex<Backlog>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct Backlog {
    pending: Vec<ServerChange>,
    closed: bool,
}

impl ChangeNotifier {
    /// The tool list has changed.
    pub fn tools(&self) {
        self.announce(&ServerChange::Tools);
    }

    /// The prompt list has changed.
    pub fn prompts(&self) {
        self.announce(&ServerChange::Prompts);
    }

    /// The resource list has changed.
    pub fn resources(&self) {
        self.announce(&ServerChange::Resources);
    }

    /// One resource, or the data behind its URI, has changed.
    pub fn resource(&self, uri: impl Into<String>) {
        self.announce(&ServerChange::Resource(uri.into()));
    }

    fn announce(&self, change: &ServerChange) {
        let mut listeners = lock(&self.hub.listeners);
        listeners.retain(|listener| {
            let Some(listener) = listener.upgrade() else { return false };
            lock(&listener.state).add(change);
            listener.wake.notify_one();
            true
        });
    }

    pub(crate) fn listen(&self) -> Box<dyn ChangeFeed> {
        let listener = Arc::new(Listener::default());
        lock(&self.hub.listeners).push(Arc::downgrade(&listener));
        Box::new(Feed { listener })
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        for listener in lock(&self.listeners).iter().filter_map(Weak::upgrade) {
            lock(&listener.state).closed = true;
            listener.wake.notify_one();
        }
    }
}

impl Backlog {
    fn add(&mut self, change: &ServerChange) {
        if self.pending.contains(change) {
            return;
        }
        if self.pending.len() < BACKLOG {
            self.pending.push(change.clone());
        } else if !self.pending.contains(&ServerChange::Resources) {
            self.pending.retain(|waiting| !matches!(waiting, ServerChange::Resource(_)));
            self.pending.push(ServerChange::Resources);
        }
    }
}

struct Feed {
    listener: Arc<Listener>,
}

#[async_trait]
impl ChangeFeed for Feed {
    async fn next(&mut self) -> Result<Option<ServerChange>, McpRefusal> {
        loop {
            {
                let mut state = lock(&self.listener.state);
                if !state.pending.is_empty() {
                    return Ok(Some(state.pending.remove(0)));
                }
                if state.closed {
                    return Ok(None);
                }
            }
            // A notification sent between the check and this line is kept as a permit.
            self.listener.wake.notified().await;
        }
    }
}

/// A poisoned lock only means that another thread panicked between two of these small updates; the data is still whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_listener_hears_each_change_once_and_the_end() {
        let notifier = ChangeNotifier::default();
        notifier.tools();
        let mut feed = notifier.listen();
        notifier.resource("a");
        notifier.resource("a");
        notifier.tools();
        assert_eq!(feed.next().await, Ok(Some(ServerChange::Resource("a".into()))));
        assert_eq!(feed.next().await, Ok(Some(ServerChange::Tools)));
        drop(notifier);
        assert_eq!(feed.next().await, Ok(None));
    }

    #[tokio::test]
    async fn a_slow_listener_loses_detail_but_no_news() {
        let notifier = ChangeNotifier::default();
        let mut feed = notifier.listen();
        notifier.tools();
        for index in 0..10_000 {
            notifier.resource(format!("r{index}"));
        }
        let mut heard = Vec::new();
        drop(notifier);
        while let Some(change) = feed.next().await.unwrap() {
            heard.push(change);
        }
        assert!(heard.len() <= BACKLOG + 1);
        assert!(heard.contains(&ServerChange::Tools) && heard.contains(&ServerChange::Resources));
    }
}
