//! Carrying out one redirect; whether it may be followed is decided by the domain.

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use scion_domain::egress::{CompiledEgress, EgressRefusal, Hop, RedirectWalk};
use scion_domain::http::{HeaderMap, HttpRefusal, StatusCode, header};
use scion_domain::refusal::Refusal as _;
use tokio::time::{Instant, timeout_at};

/// The largest body of a redirect that is read, so that its connection can serve the next request.
const DRAINED: u64 = 16 * 1024;

/// Decides about an answer with a redirect status. `None` means that it names no place and is an answer like others.
pub(crate) fn next(
    walk: &mut RedirectWalk,
    egress: &CompiledEgress,
    status: StatusCode,
    headers: &HeaderMap,
    limit: u8,
    host: impl FnOnce() -> String,
) -> Result<Option<Hop>, HttpRefusal> {
    let mut places = headers.get_all(header::LOCATION).iter();
    let Some(place) = places.next() else { return Ok(None) };
    let text = place.to_str().ok().filter(|_| places.next().is_none());
    let step = match text {
        Some(text) => walk.step(egress, status, text),
        None => Err(EgressRefusal::RedirectLocation),
    };
    match step {
        Ok(hop) => Ok(Some(hop)),
        Err(EgressRefusal::RedirectCount) => {
            Err(HttpRefusal::TooLarge { host: host(), what: "redirects", limit: u64::from(limit) })
        }
        Err(refusal) => Err(HttpRefusal::Redirect { host: host(), reason: refusal.code() }),
    }
}

/// Reads a small body to its end; another one closes its connection.
pub(crate) async fn drain(mut body: Incoming, by: Instant) {
    if body.is_end_stream() || body.size_hint().exact().is_none_or(|size| size > DRAINED) {
        return;
    }
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout_at(by, all).await;
}
