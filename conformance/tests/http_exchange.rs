//! The exchange suite against the dialer, and every check against a double that breaks it. Over real sockets, in real time.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;
use scion_conformance::doubles::http_exchange::{ExchangeFlaw, FlawedDialer};
use scion_conformance::suites::http_exchange;
use scion_http::Dialer;

#[tokio::test]
async fn the_dialer_passes_and_every_flaw_is_found() {
    let dialer = Arc::new(Dialer::builder().build());
    let reference = http_exchange::run(&*dialer).await;
    reference.assert_passed();
    let flawed = join_all(ExchangeFlaw::ALL.iter().map(|flaw| {
        let double = FlawedDialer { inner: Arc::clone(&dialer) as _, flaw: *flaw };
        async move { (flaw, http_exchange::run(&double).await) }
    }))
    .await;
    let mut found = BTreeSet::new();
    for (flaw, report) in &flawed {
        assert_eq!(report.checks(), reference.checks());
        assert!(!report.failed().is_empty(), "no check finds {flaw:?}");
        found.extend(report.failed());
    }
    let never: Vec<_> = reference.checks().into_iter().filter(|check| !found.contains(check)).collect();
    assert!(never.is_empty(), "no double breaks {never:?}");
}
