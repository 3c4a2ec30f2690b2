//! The command `connector-sync`: its arguments, what it is wired from, and its report.

mod args;
mod bars;
mod config_file;
mod next_query;
mod report;
mod run;
mod signals;
mod start;
mod timings;

use scion::sink::SinkRegistry;

use crate::{NOT_STARTED, usage};
use args::SyncArgs;
pub(crate) use config_file::{ConfigFile, place_of};
pub(crate) use signals::{ENDED_BY_SIGNAL, Signals};
use start::Start;

/// Parses, runs, and gives the exit code.
pub(crate) fn main(sinks: &SinkRegistry) -> u8 {
    let args = match usage::parse::<SyncArgs>() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let start = Start::new(&args);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        start.refuse(scion_domain::command::CommandRefusal::Runtime);
        return NOT_STARTED;
    };
    let code = runtime.block_on(run::run(&args, &start, sinks));
    runtime.shutdown_background();
    code
}
