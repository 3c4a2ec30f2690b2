//! `scion pack`: packs as files. Build one from a live server, look into it, compare two, check one, import one.

mod args;
mod build;
mod compare;
mod files;
mod import;
mod inspect;
mod target;
mod trust;

pub(crate) use args::PackArgs;

use scion::sink::SinkRegistry;

use crate::commands::Outcome;
use args::PackCommand;

pub(crate) async fn main(args: &PackArgs, sinks: &SinkRegistry) -> Outcome {
    match &args.command {
        PackCommand::Build(args) => build::main(args).await,
        PackCommand::Inspect(args) => inspect::main(args),
        PackCommand::Diff(args) => compare::main(args),
        PackCommand::Verify(args) => trust::main(args),
        PackCommand::Import(args) => import::main(args, sinks).await,
    }
}
