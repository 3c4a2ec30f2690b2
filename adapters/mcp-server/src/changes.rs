//! Carrying change announcements to a client, in either era.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use scion_domain::mcp::ServerChange;
use scion_ports::ChangeFeed;
use tokio::task::JoinHandle;

/// The resources a handshake-era client has subscribed to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions(Arc<Mutex<HashSet<String>>>);

/// The most resources one client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 1024;

impl Subscriptions {
    /// Whether there was room for it.
    pub(crate) fn add(&self, uri: String) -> bool {
        let mut uris = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uris.len() < MAX_SUBSCRIPTIONS && {
            uris.insert(uri);
            true
        }
    }

    pub(crate) fn remove(&self, uri: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    fn contain(&self, uri: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(uri)
    }
}

/// A task that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct AbortOnDrop<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Handshake era: list changes go to every client, resource updates to those who subscribed.
pub(crate) async fn notify(mut feed: Box<dyn ChangeFeed>, peer: Peer<RoleServer>, wanted: Subscriptions) {
    while let Ok(Some(change)) = feed.next().await {
        let sent = match change {
            ServerChange::Tools => peer.notify_tool_list_changed().await,
            ServerChange::Resources => peer.notify_resource_list_changed().await,
            ServerChange::Resource(uri) if wanted.contain(&uri) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
            }
            ServerChange::Prompts => peer.notify_prompt_list_changed().await,
            ServerChange::Resource(_) => Ok(()),
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Enveloped era: one `subscriptions/listen` request is one stream of changes.
pub(crate) async fn listen(mut feed: Box<dyn ChangeFeed>, context: SubscriptionContext) {
    loop {
        let change = tokio::select! {
            () = context.cancelled() => return,
            change = feed.next() => change,
        };
        let sink = context.sink();
        // What the client did not ask for is refused by the sink itself, so those errors are not the end.
        let sent = match change {
            Ok(Some(ServerChange::Tools)) => sink.notify_tool_list_changed().await,
            Ok(Some(ServerChange::Resources)) => sink.notify_resource_list_changed().await,
            Ok(Some(ServerChange::Resource(uri))) => sink.notify_resource_updated(uri).await,
            Ok(Some(ServerChange::Prompts)) => sink.notify_prompt_list_changed().await,
            Ok(None) | Err(_) => return,
        };
        if let Err(
            rmcp::service::SubscriptionSendError::SubscriptionClosed | rmcp::service::SubscriptionSendError::Service(_),
        ) = sent
        {
            return;
        }
    }
}
