//! The same load over each client: so many callers, each asking again as soon as its body is read.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Requests a second of `callers` callers over a span.
pub(crate) async fn rate<F, R>(callers: usize, span: Duration, call: F) -> f64
where
    F: Fn() -> R + Clone + Send + 'static,
    R: Future<Output = usize> + Send,
{
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut tasks = Vec::new();
    let started = Instant::now();
    for _ in 0..callers {
        let (stop, done, call) = (Arc::clone(&stop), Arc::clone(&done), call.clone());
        tasks.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                assert!(call().await > 100, "the body is there");
                done.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    tokio::time::sleep(span).await;
    stop.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("a caller only ends when told to");
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds are exact in a float")]
    let count = done.load(Ordering::Relaxed) as f64;
    count / started.elapsed().as_secs_f64()
}
