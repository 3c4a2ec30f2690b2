//! Change notifications, merged while nobody takes them.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use rmcp::model::ServerNotification;
use scion_domain::mcp::{McpRefusal, ServerChange};
use scion_ports::ChangeFeed;
use tokio::sync::Notify;

use crate::fault::{End, Fault};

/// More distinct resources than this waiting at once become one change of the resource list.
const MAX_WAITING: usize = 1_024;

/// What changed since the last look. A set, so that a server that repeats itself costs nothing.
#[derive(Debug, Default)]
struct Waiting {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: BTreeSet<String>,
    /// The subscription behind the feed ended, and how.
    over: Option<Fault>,
}

impl Waiting {
    fn add(&mut self, change: ServerChange) {
        match change {
            ServerChange::Tools => self.tools = true,
            ServerChange::Prompts => self.prompts = true,
            ServerChange::Resources => self.resources = true,
            ServerChange::Resource(uri) => {
                self.uris.insert(uri);
                if self.uris.len() > MAX_WAITING {
                    self.uris.clear();
                    self.resources = true;
                }
            }
        }
    }

    fn take(&mut self) -> Option<ServerChange> {
        if std::mem::take(&mut self.tools) {
            return Some(ServerChange::Tools);
        }
        if std::mem::take(&mut self.resources) {
            return Some(ServerChange::Resources);
        }
        if std::mem::take(&mut self.prompts) {
            return Some(ServerChange::Prompts);
        }
        self.uris.pop_first().map(ServerChange::Resource)
    }
}

/// Where the changes of one feed wait.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

impl Inbox {
    /// Adds a change.
    pub(crate) fn add(&self, change: ServerChange) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).add(change);
        self.arrived.notify_one();
    }

    /// Changes were lost: everything followed may have changed.
    pub(crate) fn add_all(&self, uris: &[String]) {
        let lists = [ServerChange::Tools, ServerChange::Prompts, ServerChange::Resources];
        for change in lists.into_iter().chain(uris.iter().cloned().map(ServerChange::Resource)) {
            self.add(change);
        }
    }

    /// Nothing more will come; what waits is still handed out.
    pub(crate) fn close(&self, fault: Fault) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).over = Some(fault);
        self.arrived.notify_one();
    }
}

/// Gives every notification of a session to every open feed.
#[derive(Debug, Default)]
pub(crate) struct ChangeHub(Mutex<Vec<Weak<Inbox>>>);

impl ChangeHub {
    /// Passes a change on.
    pub(crate) fn publish(&self, change: &ServerChange) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|inbox| {
            let Some(inbox) = inbox.upgrade() else {
                return false;
            };
            inbox.add(change.clone());
            true
        });
    }

    /// Opens a feed.
    pub(crate) fn feed(&self, end: Arc<End>, peer: String) -> Feed {
        let inbox = Arc::new(Inbox::default());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&inbox));
        Feed { inbox, end, peer, source: None }
    }
}

/// The change a notification tells of, if it tells of one.
pub(crate) fn change_of(notification: &ServerNotification) -> Option<ServerChange> {
    match notification {
        ServerNotification::ToolListChangedNotification(_) => Some(ServerChange::Tools),
        ServerNotification::PromptListChangedNotification(_) => Some(ServerChange::Prompts),
        ServerNotification::ResourceListChangedNotification(_) => Some(ServerChange::Resources),
        ServerNotification::ResourceUpdatedNotification(updated) => {
            Some(ServerChange::Resource(updated.params.uri.clone()))
        }
        _ => None,
    }
}

/// One open feed.
pub(crate) struct Feed {
    inbox: Arc<Inbox>,
    end: Arc<End>,
    peer: String,
    source: Option<Box<dyn Any + Send>>,
}

impl Feed {
    /// Where others put changes for this feed.
    pub(crate) fn inbox(&self) -> Arc<Inbox> {
        Arc::clone(&self.inbox)
    }

    /// Keeps what ends the subscription when it is dropped.
    pub(crate) fn keep(&mut self, source: Box<dyn Any + Send>) {
        self.source = Some(source);
    }

    fn answer(&self, fault: &Fault) -> Result<Option<ServerChange>, McpRefusal> {
        match fault {
            Fault::Closed => Ok(None),
            fault => Err(fault.refusal(&self.peer, "change notifications", 0)),
        }
    }
}

#[async_trait]
impl ChangeFeed for Feed {
    async fn next(&mut self) -> Result<Option<ServerChange>, McpRefusal> {
        loop {
            let (change, over) = {
                let mut waiting = self.inbox.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                (waiting.take(), waiting.over.clone())
            };
            match (change, over) {
                (Some(change), _) => return Ok(Some(change)),
                (None, Some(fault)) => return self.answer(&fault),
                (None, None) => {}
            }
            tokio::select! {
                biased;
                () = self.inbox.arrived.notified() => {}
                fault = self.end.wait() => return self.answer(&fault),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use scion_domain::mcp::ServerChange;
    use scion_ports::ChangeFeed;

    use super::{ChangeHub, MAX_WAITING};
    use crate::fault::{End, Fault};

    #[tokio::test]
    async fn a_flood_is_merged_and_bounded() {
        let (hub, end) = (ChangeHub::default(), Arc::new(End::default()));
        let mut feed = hub.feed(Arc::clone(&end), "p".to_owned());
        for round in 0..3 {
            hub.publish(&ServerChange::Tools);
            hub.publish(&ServerChange::Resource(format!("r{}", round % 2)));
        }
        end.set(Fault::Closed);
        let mut got = Vec::new();
        while let Some(change) = feed.next().await.unwrap() {
            got.push(change);
        }
        let expected = [ServerChange::Tools, ServerChange::Resource("r0".into()), ServerChange::Resource("r1".into())];
        assert_eq!(got, expected);
        for n in 0..=MAX_WAITING {
            hub.publish(&ServerChange::Resource(n.to_string()));
        }
        assert_eq!(feed.next().await, Ok(Some(ServerChange::Resources)));
        assert_eq!(feed.next().await, Ok(None));
    }

    #[tokio::test]
    async fn a_broken_session_is_told_and_a_dropped_feed_is_forgotten() {
        let (hub, end) = (ChangeHub::default(), Arc::new(End::default()));
        drop(hub.feed(Arc::clone(&end), "p".to_owned()));
        let mut feed = hub.feed(Arc::clone(&end), "p".to_owned());
        hub.publish(&ServerChange::Tools);
        assert_eq!(hub.0.lock().unwrap().len(), 1);
        assert_eq!(feed.next().await, Ok(Some(ServerChange::Tools)));
        end.set(Fault::Noise);
        assert!(feed.next().await.is_err());
    }
}
