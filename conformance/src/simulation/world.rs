//! What every part of a simulated run shares: the dice, the switch for faults, the trace and the broken invariants.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use scion_sync::fault::CommitPoint;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::reference::SeededEntropy;

/// The shared state of one run.
pub(super) struct World {
    pub(super) dice: SeededEntropy,
    /// A fault strikes one in this many times.
    one_in: u64,
    disturbed: AtomicBool,
    pub(super) crash: Notify,
    pub(super) cancel: Mutex<CancellationToken>,
    trace: Mutex<Vec<String>>,
    violations: Mutex<Vec<String>>,
    struck: Mutex<BTreeSet<CommitPoint>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere is reported by itself.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let dice = SeededEntropy::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1));
        let one_in = [12, 30, 80][usize::try_from(dice.below(3)).unwrap_or(0)];
        Self {
            dice,
            one_in,
            disturbed: AtomicBool::new(true),
            crash: Notify::new(),
            cancel: Mutex::default(),
            trace: Mutex::default(),
            violations: Mutex::default(),
            struck: Mutex::default(),
        }
    }

    /// Whether a fault strikes here; never in the undisturbed part of a run.
    pub(super) fn strikes(&self) -> bool {
        self.disturbed.load(Ordering::Relaxed) && self.dice.below(self.one_in) == 0
    }

    /// An even chance of one in `n`.
    pub(super) fn one_in(&self, n: u64) -> bool {
        self.dice.below(n) == 0
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&self, of: &[T]) -> T {
        let index = self.dice.below(of.len() as u64);
        of[usize::try_from(index).unwrap_or(0)]
    }

    /// From now on nothing strikes.
    pub(super) fn calm(&self) {
        self.disturbed.store(false, Ordering::Relaxed);
    }

    pub(super) fn note(&self, line: impl Into<String>) {
        lock(&self.trace).push(line.into());
    }

    /// An invariant broke.
    pub(super) fn broken(&self, what: String) {
        self.note(format!("BROKEN {what}"));
        lock(&self.violations).push(what);
    }

    pub(super) fn is_broken(&self) -> bool {
        !lock(&self.violations).is_empty()
    }

    pub(super) fn struck_at(&self, point: CommitPoint) {
        lock(&self.struck).insert(point);
    }

    /// Everything in memory is lost: the driver drops the run.
    pub(super) async fn crash_now<T>(&self) -> T {
        self.crash.notify_one();
        std::future::pending().await
    }

    /// A reply that comes late, in virtual time.
    pub(super) async fn late(&self) {
        let seconds = self.pick(&[1, 20, 45, 90, 400]);
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    pub(super) fn take_parts(&self) -> (Vec<String>, Vec<String>, BTreeSet<CommitPoint>) {
        (
            std::mem::take(&mut lock(&self.violations)),
            std::mem::take(&mut lock(&self.trace)),
            std::mem::take(&mut lock(&self.struck)),
        )
    }
}
