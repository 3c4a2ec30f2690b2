//! Subscriptions in both eras: `resources/subscribe` after a handshake, `subscriptions/listen` without one.
#![expect(deprecated, reason = "the handshake era has no other way to subscribe")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ProtocolVersion, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequest,
    UnsubscribeRequestParams,
};
use rmcp::service::{Subscription, SubscriptionEnd};
use scion_domain::mcp::{McpRefusal, ServerIdentity};
use tokio_util::task::AbortOnDropHandle;

use crate::changes::{Feed, Inbox, change_of};
use crate::fault::Fault;
use crate::operation::Operation;
use crate::peer::Requester;

/// Changes the library holds while the feed is not scheduled; a burst beyond it costs a new subscription.
const BUFFER: NonZeroUsize = NonZeroUsize::new(1_024).expect("not zero");
/// The pause before an overrun subscription is opened again, so that a server that floods gains nothing by it.
const AGAIN: Duration = Duration::from_secs(1);

/// Which resources are subscribed to, and by how many feeds.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(Mutex<BTreeMap<String, usize>>);

impl Subscriptions {
    /// Subscribes a feed to what the server offers.
    pub(crate) async fn open(
        self: &Arc<Self>,
        requester: &Arc<Requester>,
        server: &ServerIdentity,
        uris: &[String],
        feed: &mut Feed,
    ) -> Result<(), McpRefusal> {
        if server.protocol_version.as_str() >= ProtocolVersion::NO_INITIALIZE.as_str() {
            if server.list_changed || (server.subscribe && !uris.is_empty()) {
                let filter = filter(server, uris);
                let subscription = listen(requester, &filter).await?;
                let task = follow(Arc::clone(requester), filter, subscription, feed.inbox());
                feed.keep(Box::new(AbortOnDropHandle::new(requester.runtime.spawn(task))));
            }
            return Ok(());
        }
        if server.subscribe && !uris.is_empty() {
            let mut held = Held { all: Arc::clone(self), requester: Arc::clone(requester), uris: Vec::new() };
            for uri in uris {
                // Counted before it is asked for, so that a dropped future leaves nothing subscribed.
                if held.add(uri) {
                    let request = SubscribeRequest::new(SubscribeRequestParams::new(uri.as_str()));
                    requester.request(Operation::Subscribe(uri), ClientRequest::SubscribeRequest(request)).await?;
                }
            }
            feed.keep(Box::new(held));
        }
        Ok(())
    }
}

/// The subscriptions of one feed after a handshake; the last feed that drops a resource unsubscribes it.
struct Held {
    all: Arc<Subscriptions>,
    requester: Arc<Requester>,
    uris: Vec<String>,
}

impl Held {
    /// Counts a resource; true if nobody else had it.
    fn add(&mut self, uri: &str) -> bool {
        self.uris.push(uri.to_owned());
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut free = Vec::new();
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        for uri in self.uris.drain(..) {
            let Some(count) = all.get_mut(&uri) else {
                continue;
            };
            *count -= 1;
            if *count == 0 {
                all.remove(&uri);
                free.push(uri);
            }
        }
        drop(all);
        if free.is_empty() || self.requester.end.get().is_some() {
            return;
        }
        let requester = Arc::clone(&self.requester);
        self.requester.runtime.spawn(async move {
            for uri in free {
                let request = UnsubscribeRequest::new(UnsubscribeRequestParams::new(uri.as_str()));
                // Best effort: a change nobody waits for is ignored anyway.
                let _ = requester.request(Operation::Subscribe(&uri), ClientRequest::UnsubscribeRequest(request)).await;
            }
        });
    }
}

fn filter(server: &ServerIdentity, uris: &[String]) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    if server.list_changed {
        filter.tools_list_changed = Some(true);
        filter.prompts_list_changed = Some(true);
        filter.resources_list_changed = Some(true);
    }
    if server.subscribe && !uris.is_empty() {
        filter.resource_subscriptions = Some(uris.to_vec());
    }
    filter
}

async fn listen(requester: &Requester, filter: &SubscriptionFilter) -> Result<Subscription, McpRefusal> {
    requester.bounded(Operation::Listen, requester.peer.listen_with_capacity(filter.clone(), BUFFER)).await
}

/// Moves changes into the feed until the subscription ends. The library drops a subscription whose buffer is full;
/// then everything may have changed, so the feed is told so and the subscription is opened again.
async fn follow(
    requester: Arc<Requester>,
    filter: SubscriptionFilter,
    mut subscription: Subscription,
    inbox: Arc<Inbox>,
) {
    loop {
        match subscription.next().await {
            Ok(Some(notification)) => {
                if let Some(change) = change_of(&notification) {
                    inbox.add(change);
                }
            }
            Ok(None) if matches!(subscription.end(), Some(SubscriptionEnd::Lagged { .. })) => {
                inbox.add_all(filter.resource_subscriptions.as_deref().unwrap_or_default());
                tokio::time::sleep(AGAIN).await;
                match listen(&requester, &filter).await {
                    Ok(again) => subscription = again,
                    Err(refusal) => return inbox.close(Fault::Refused(refusal)),
                }
            }
            Ok(None) => return inbox.close(Fault::Closed),
            Err(_) => return inbox.close(Fault::Malformed),
        }
    }
}
