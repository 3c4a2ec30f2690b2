//! What strikes at a commit point: a crash, a second writer, a cancellation, a change at the source, a drift.

use std::sync::Arc;

use async_trait::async_trait;
use scion_sync::fault::{CommitPoint, FaultSeam};
use tokio_util::sync::CancellationToken;

use super::drive::Env;
use super::world::lock;

/// The seam of disturbed runs.
pub(super) struct SimSeam {
    pub(super) env: Arc<Env>,
}

#[async_trait]
impl FaultSeam for SimSeam {
    async fn reach(&self, point: CommitPoint) {
        let world = &self.env.world;
        if !world.strikes() {
            return;
        }
        world.struck_at(point);
        let kind = world.dice.below(10);
        match kind {
            0..=3 => {
                world.note(format!("{point:?}: crash"));
                world.crash_now::<()>().await;
            }
            4 | 5 => {
                world.note(format!("{point:?}: second writer"));
                let report = self.env.worker(true).run_once(None, &CancellationToken::new()).await;
                world.note(format!("second writer ends: {:?}", report.refusal.map(|refusal| refusal.leaf_code())));
            }
            6 => {
                world.note(format!("{point:?}: cancelled"));
                lock(&world.cancel).cancel();
            }
            7 => {
                world.note(format!("{point:?}: slow"));
                world.late().await;
            }
            8 => {
                world.note(format!("{point:?}: contract changes"));
                let mut system = lock(&self.env.system);
                let index = usize::try_from(world.dice.below(system.tables.len() as u64)).unwrap_or(0);
                system.tables[index].contract += 1;
            }
            _ => {
                world.note(format!("{point:?}: source changes"));
                let mut system = lock(&self.env.system);
                for _ in 0..=world.dice.below(3) {
                    system.change(world);
                }
            }
        }
    }
}
