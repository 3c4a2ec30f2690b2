//! Memory stays flat whatever a server sends. Alone in its process, so that it can be measured.

use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, HttpRefusal, Method, OutboundRequest};
use scion_http::Dialer;
use scion_lab::{Answer, Behaviour, Coding, Framing, Lab, encode, forget_peak_memory, peak_memory};
use scion_ports::{HttpDialer as _, HttpExchange};

const BOUND: u64 = 64 * 1024 * 1024;

/// Reads until the refusal.
async fn refusal(client: &dyn HttpExchange, lab: &Lab, body_bytes: u64) -> HttpRefusal {
    let mut request = OutboundRequest::new(Method::GET, lab.url("/"));
    request.limits.body_bytes = body_bytes;
    let mut answer = match client.send(request).await {
        Ok(answer) => answer,
        Err(refusal) => return refusal,
    };
    loop {
        match answer.body.chunk().await {
            Ok(piece) => assert!(piece.is_some(), "a bomb ended"),
            Err(refusal) => return refusal,
        }
    }
}

fn too_large(limit: u64) -> HttpRefusal {
    HttpRefusal::TooLarge { host: "127.0.0.1".into(), what: "body", limit }
}

#[tokio::test]
async fn bombs_end_at_the_bound_in_flat_memory() {
    let policy = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    let profile = HttpProfile { egress: policy, ..HttpProfile::default() };
    let client = &*Dialer::builder().build().open(&profile).await.unwrap();
    let mut layers: Vec<Vec<Coding>> = Coding::ALL.iter().map(|coding| vec![*coding]).collect();
    layers.extend(Coding::ALL.iter().map(|coding| vec![*coding, Coding::Gzip]));
    for layers in layers {
        let lab = Lab::always(Behaviour::Bomb(layers.clone(), BOUND + BOUND / 2)).await;
        // The first request makes the bomb, which is not what is measured.
        assert_eq!(refusal(client, &lab, 1024).await, too_large(1024), "{layers:?}");
        forget_peak_memory();
        let before = peak_memory();
        assert_eq!(refusal(client, &lab, BOUND).await, too_large(BOUND), "{layers:?}");
        if let (Some(before), Some(after)) = (before, peak_memory()) {
            assert!(after - before < 24 << 20, "{layers:?} grew from {before} to {after}");
        }
    }
    // Members that hold nothing are bounded as well.
    let nothing = encode(Coding::Gzip, b"").await.repeat(200_000);
    let lab = Lab::always(Answer::ok(nothing).header("content-encoding", "gzip").framing(Framing::Chunked(4096))).await;
    assert_eq!(refusal(client, &lab, 1024).await, too_large(1024));
}
