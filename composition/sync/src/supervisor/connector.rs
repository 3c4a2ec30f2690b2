//! The life of one supervised connector.

use std::sync::Arc;
use std::time::Duration;

use scion_domain::config::RunnerSettings;
use scion_domain::declaration::plan::CyclePlan;
use scion_domain::mcp::{McpRefusal, ServerChange};
use scion_domain::retry::Backoff;
use scion_domain::sync::SyncRefusal;
use scion_ports::ChangeFeed;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::events;
use crate::health::HealthState;
use crate::sweep::SyncPorts;
use crate::worker::{ConnectorWorker, CycleReport};

/// How long further changes are waited for once one has come, so that a burst makes one cycle.
const BURST: Duration = Duration::from_millis(200);

pub(super) struct Supervised {
    pub(super) worker: ConnectorWorker,
    pub(super) settings: RunnerSettings,
    pub(super) slots: Arc<Semaphore>,
    pub(super) cancel: CancellationToken,
    pub(super) ports: SyncPorts,
    pub(super) health: Arc<HealthState>,
    /// Somebody else says whether the credentials resolve.
    pub(super) credentials_known: bool,
    /// The change notifications of the open session were asked for.
    pub(super) followed: bool,
}

type Feed = Option<Box<dyn ChangeFeed>>;

impl Supervised {
    /// Cycles until cancelled.
    pub(super) async fn run(mut self) {
        let name = self.worker.config().connector.clone();
        self.ports.events.emit(events::connector_started(&name));
        // The configuration reader refuses settings that cannot work; the fallback keeps a hand-made one from spinning.
        let mut backoff = Backoff::new(self.settings.backoff_initial, self.settings.backoff_max)
            .or_else(|_| Backoff::new(Duration::from_secs(5), Duration::from_mins(10)))
            .ok();
        let mut feed: Feed = None;
        let mut plan: Option<CyclePlan> = None;
        let mut missed: Vec<ServerChange> = Vec::new();
        while !self.cancel.is_cancelled() {
            let report = self.cycle(plan.take(), &mut feed, &mut missed).await;
            if self.cancel.is_cancelled() {
                break;
            }
            let wait = self.judge(&report, backoff.as_mut());
            if !self.worker.is_connected() {
                feed = None;
                self.followed = false;
            }
            plan = self.wait(wait, report.success, &mut feed, &mut missed).await;
        }
        self.worker.disconnect().await;
        self.ports.events.emit(events::connector_stopped(&name));
    }

    async fn cycle(&mut self, plan: Option<CyclePlan>, feed: &mut Feed, missed: &mut Vec<ServerChange>) -> CycleReport {
        let slots = self.slots.clone();
        let _slot = tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            slot = slots.acquire() => slot.ok(),
        };
        let cancel = self.cancel.clone();
        if let Err(refusal) = self.worker.connect(&cancel).await {
            return self.worker.failed(refusal);
        }
        if !std::mem::replace(&mut self.followed, true) {
            *feed = self.worker.changes().await;
        }
        let marker = self.worker.change_marker();
        let cycle = self.worker.run_once(plan, &cancel);
        tokio::pin!(cycle);
        loop {
            // Taking a change and losing the race to the end of the cycle loses nothing: the feed merges what is not taken.
            tokio::select! {
                biased;
                report = &mut cycle => return report,
                change = next_change(feed) => match change {
                    Some(change) => {
                        if let Some(marker) = &marker {
                            marker();
                        }
                        missed.push(change);
                    }
                    None => *feed = None,
                },
            }
        }
    }

    /// Keeps the health and answers how long to wait.
    fn judge(&self, report: &CycleReport, backoff: Option<&mut Backoff>) -> Duration {
        let config = self.worker.config();
        let name = &config.connector;
        match &report.refusal {
            Some(SyncRefusal::Session { refusal }) if is_credential(refusal) => {
                self.health.credentials(name, Err(refusal.to_string()));
            }
            _ if self.credentials_known => {}
            _ => self.health.credentials(name, Ok(())),
        }
        let Some(backoff) = backoff else { return config.interval };
        // A held stream waits for a person: trying sooner does not help, and its siblings keep their schedule.
        if report.success || report.only_held() {
            backoff.reset();
            self.health.succeeded(name);
            return config.interval;
        }
        let wait = backoff.failed();
        self.health.failed(name, wait);
        if let Some(refusal) = &report.refusal {
            self.ports.events.emit(events::connector_failed(name, refusal, Some(wait.as_secs_f64())));
        }
        wait
    }

    /// Waits for the schedule or for changes that ask for something; `None` is a full cycle.
    async fn wait(
        &mut self,
        wait: Duration,
        listen: bool,
        feed: &mut Feed,
        missed: &mut Vec<ServerChange>,
    ) -> Option<CyclePlan> {
        let clock = self.ports.committer.clock.clone();
        let end = clock.monotonic().saturating_add(wait);
        loop {
            if listen && !missed.is_empty() {
                let plan = self.worker.plan_for(missed);
                missed.clear();
                if !plan.is_empty() {
                    return Some(plan);
                }
            }
            let left = end.saturating_sub(clock.monotonic());
            if left.is_zero() {
                missed.clear();
                return None;
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return None,
                change = next_change(feed) => if let Some(change) = change {
                    missed.push(change);
                    self.collect(feed, missed).await;
                } else {
                    // The session has ended: the next cycle opens a new one.
                    *feed = None;
                    self.followed = false;
                    self.worker.disconnect().await;
                },
                () = clock.sleep(left) => {}
            }
        }
    }

    async fn collect(&self, feed: &mut Feed, missed: &mut Vec<ServerChange>) {
        let clock = self.ports.committer.clock.clone();
        let burst = clock.sleep(BURST);
        tokio::pin!(burst);
        loop {
            tokio::select! {
                biased;
                () = &mut burst => return,
                change = next_change(feed) => if let Some(change) = change {
                    missed.push(change);
                } else {
                    *feed = None;
                    return;
                },
            }
        }
    }
}

/// The next change; never, without a feed; `None` when the feed has ended.
async fn next_change(feed: &mut Feed) -> Option<ServerChange> {
    match feed {
        Some(feed) => feed.next().await.ok().flatten(),
        None => std::future::pending().await,
    }
}

fn is_credential(refusal: &McpRefusal) -> bool {
    use scion_domain::refusal::Refusal as _;
    refusal.code().starts_with("endpoint_credential")
}
