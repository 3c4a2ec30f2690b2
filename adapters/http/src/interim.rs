//! Interim answers (1xx) of one request: counted, because hyper reads and drops them without a bound of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hyper::Request;
use hyper::http::Extensions;
use hyper_util::client::legacy::connect::capture_connection;
use tokio::sync::Notify;

use crate::stream::Cut;

/// A server has use for a few: 100, 103, a 102 now and then. HTTP/1.1 only; over HTTP/2 none reach a caller.
pub(crate) const MAX_INTERIM: u32 = 32;

/// Tells when a server has sent too many.
#[derive(Default)]
pub(crate) struct Interim {
    seen: AtomicU32,
    flooded: Notify,
}

impl Interim {
    /// Counts the interim answers of a request. The connection of a pooled client is cut at the first one too many: the task that
    /// reads it may run long before the one that waits for [`Self::flooded`] does.
    pub(crate) fn watch<B>(request: &mut Request<B>) -> Arc<Self> {
        let interim = Arc::new(Self::default());
        let watched = Arc::clone(&interim);
        let connection = capture_connection(request);
        hyper::ext::on_informational(request, move |_| {
            if watched.seen.fetch_add(1, Ordering::Relaxed) == MAX_INTERIM {
                watched.flooded.notify_one();
                let mut extras = Extensions::new();
                if let Some(connected) = connection.connection_metadata().as_ref() {
                    connected.get_extras(&mut extras);
                }
                if let Some(cut) = extras.get::<Cut>() {
                    cut.now();
                }
            }
        });
        interim
    }

    /// Ends when there is one too many.
    pub(crate) async fn flooded(&self) {
        self.flooded.notified().await;
    }
}
