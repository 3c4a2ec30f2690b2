//! The command `ingest-worker`: its arguments, where its queue is, and what it does for a job.

mod args;
mod body;
mod events;
pub(crate) mod queue;
mod run;

use scion::sink::SinkRegistry;
use scion_domain::command::CommandRefusal;

use crate::output::{Refused, tell};
use crate::{NOT_STARTED, usage};
use args::WorkerArgs;
pub(crate) use body::{KIND, payload};

/// Parses, runs, and gives the exit code.
pub(crate) fn main(sinks: &SinkRegistry) -> u8 {
    let args = match usage::parse::<WorkerArgs>() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        tell(&Refused::from(CommandRefusal::Runtime).to_string());
        return NOT_STARTED;
    };
    let code = runtime.block_on(run::run(&args, sinks));
    runtime.shutdown_background();
    code
}
