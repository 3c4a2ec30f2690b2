//! Seeded runs of the real sync use cases over a simulated world, in virtual time.
//!
//! One seed decides everything: which streams a connector has, how they page, how their records change, and which faults
//! strike where. A run is disturbed for some cycles and then left alone for two; [`run`] tells which invariants broke, and
//! the trace tells what happened. The code under test is the real worker, runner and committer; only ports are simulated.
//!
//! Invariants:
//! - **I1** No accepted record is lost: the graph ends up with the records and edges the source has.
//! - **I2** No effect happens twice: no version of a record is written twice, and none is overwritten by an older one.
//! - **I3** The checkpoint is never ahead of a durable receipt; neither is a progress document or a record digest.
//! - **I4** A failed stage never inherits another stage's progress.
//! - **I5** A further run over an unchanged source submits nothing.
//! - **I6** A stream that is held submits nothing until it is released.

mod declare;
mod drive;
mod layout;
mod plant;
mod seam;
mod server;
mod sink;
mod stores;
mod system;
mod truth;
mod verdict;
mod world;

use std::collections::BTreeSet;

use scion_sync::fault::CommitPoint;

pub use plant::Plant;

/// What one seed came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Each broken invariant, in the order they broke.
    pub violations: Vec<String>,
    /// What happened, one line per fault and cycle.
    pub trace: Vec<String>,
    /// Commit points at which a fault struck.
    pub struck: BTreeSet<CommitPoint>,
    /// Batches the graph accepted.
    pub commits: u64,
}

/// Runs one seed, with a bug planted or [`Plant::None`].
///
/// # Panics
/// When no runtime can be built.
pub fn run(seed: u64, plant: Plant) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a current-thread runtime without drivers can always be built");
    runtime.block_on(drive::drive(seed, plant))
}
