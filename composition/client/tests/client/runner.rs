//! Operations that are not calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use scion_client::{RunFailure, Runner};
use scion_conformance::reference::{SeededEntropy, VirtualClock};
use scion_domain::retry::RetryPolicy;

scion_domain::refusals! {
    /// What a kettle refuses.
    enum KettleRefusal {
        /// It is cold.
        Cold => "kettle_cold", Unavailable, Later, "the kettle is cold", "wait";
        /// There is none.
        Gone => "kettle_gone", CallerMistake, Never, "there is no kettle", "buy one";
    }
}

fn runner() -> Runner {
    let clock = Arc::new(VirtualClock::default());
    Runner::new(RetryPolicy::DEFAULT, Duration::from_secs(10), clock, Arc::new(SeededEntropy::new(7)))
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.6
#[tokio::test(start_paused = true)]
async fn an_operation_is_repeated_while_that_can_help() {
    let tries = AtomicU32::new(0);
    let runs = runner();
    let result = runs.run(async |number| {
        tries.store(number, Ordering::SeqCst);
        if number < 3 { Err(KettleRefusal::Cold) } else { Ok("tea") }
    });
    assert_eq!(result.await, Ok("tea"));
    let count = |refusal: KettleRefusal| {
        let tries = &tries;
        async move {
            tries.store(0, Ordering::SeqCst);
            let result: Result<(), _> = runner()
                .run(|_| {
                    tries.fetch_add(1, Ordering::SeqCst);
                    std::future::ready(Err(refusal.clone()))
                })
                .await;
            (result, tries.load(Ordering::SeqCst))
        }
    };
    assert_eq!(count(KettleRefusal::Cold).await, (Err(RunFailure::Refused(KettleRefusal::Cold)), 3));
    assert_eq!(count(KettleRefusal::Gone).await, (Err(RunFailure::Refused(KettleRefusal::Gone)), 1));
}

/// Proves: SDK-CONNECTOR-CONTROL-R780.6
#[tokio::test(start_paused = true)]
async fn an_operation_that_hangs_ends_with_the_deadline_and_a_fallback_can_answer() {
    let before = tokio::time::Instant::now();
    let result: Result<(), RunFailure<KettleRefusal>> = runner().run(|_| std::future::pending()).await;
    assert_eq!((result, before.elapsed().as_secs()), (Err(RunFailure::Deadline { last: None }), 10));
    let result = runner()
        .run_or(
            |_| std::future::ready(Err(KettleRefusal::Gone)),
            |failure| {
                assert_eq!(failure, RunFailure::Refused(KettleRefusal::Gone));
                std::future::ready(Ok("coffee"))
            },
        )
        .await;
    assert_eq!(result, Ok("coffee"));
}
