//! Reading the body of a request within its budget.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use scion_domain::listener::{BodyBudget, ListenerRefusal};
use tokio::time::Instant;

/// Reads a whole body; `None` when the connection breaks.
pub(super) async fn read(mut body: Incoming, mut budget: BodyBudget) -> Option<Result<Bytes, ListenerRefusal>> {
    let started = Instant::now();
    let mut whole = BytesMut::new();
    loop {
        let left = match budget.time_left(started.elapsed()) {
            Ok(left) => left.max(Duration::from_millis(1)),
            Err(refusal) => return Some(Err(refusal)),
        };
        let Ok(frame) = tokio::time::timeout(left, body.frame()).await else {
            return Some(Err(ListenerRefusal::BodyTimeout));
        };
        match frame {
            None => return Some(Ok(whole.freeze())),
            Some(Err(_)) => return None,
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    if let Err(refusal) = budget.take(data.len()) {
                        return Some(Err(refusal));
                    }
                    whole.extend_from_slice(&data);
                }
            }
        }
    }
}
