//! The command `scion`: its arguments, and which command does what.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use scion::sink::{Access, OpenSink, SinkFactory, SinkRegistry, SinkRequest};
use scion_domain::command::CommandRefusal;

use crate::output::{Refused, tell};
use crate::{DONE, FAILED, NOT_STARTED, doctor, explain, new, pack, place, query, release, serve, status, usage, work};

/// What a command ends with: an exit code, or the reason there is no result.
pub(crate) type Outcome = Result<u8, Refused>;

const AFTER: &str = "\
Exit codes:
  0  done
  1  refused, or `doctor` or `pack diff` found something
  2  the command line cannot be understood

All commands may run while connector-sync works on the same state.";

/// Asks and looks after the graph that connector-sync fills, and serves APIs.
#[derive(Debug, Parser)]
#[command(name = "scion", version, after_help = AFTER, subcommand_required = true, arg_required_else_help = true)]
struct ScionArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask the graph a SPARQL 1.1 question.
    #[command(next_line_help = true, after_help = query::AFTER)]
    Query(query::QueryArgs),
    /// Show every stream: progress, counts, age, and why it is held.
    #[command(next_line_help = true)]
    Status(StatusArgs),
    /// Check a configuration, its servers and the graph.
    #[command(next_line_help = true)]
    Doctor(DoctorArgs),
    /// Let a held stream go on, accepting the tool's new contract.
    #[command(next_line_help = true)]
    Release(ReleaseArgs),
    /// Put source syncs into the queue of ingest-worker, and see them.
    Work(work::WorkArgs),
    /// Serve an HTTP API that an OpenAPI document describes.
    #[command(next_line_help = true, after_help = serve::AFTER)]
    Serve(serve::ServeArgs),
    /// Build, inspect, compare, verify and import packs as files.
    Pack(pack::PackArgs),
    /// Make the package of a new connector.
    #[command(next_line_help = true)]
    New(new::NewArgs),
    /// Say what a code in `error[code]` means and what to do.
    #[command(next_line_help = true)]
    Explain(ExplainArgs),
}

/// Where the graph is.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The state directory of connector-sync. Default:
    /// $CONNECTOR_DATA_DIR, else $XDG_DATA_HOME/agent-connectors, else
    /// ~/.local/share/agent-connectors.
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(crate) state_dir: Option<PathBuf>,

    /// The durable graph, by name. Default: embedded, one file there.
    #[arg(long, value_name = "NAME", default_value = "embedded", hide_default_value = true, verbatim_doc_comment)]
    pub(crate) sink: String,
}

/// How a list is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// `scion status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    /// How streams are shown: table or json. Default: table.
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value = "table",
        hide_default_value = true,
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub(crate) format: ListFormat,
}

/// `scion doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The configuration to check, with every server it names. Servers are
    /// started or contacted, their declaration and tools are read; no tool
    /// is called. Without it only the graph is checked.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// `scion release`.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    /// The connector, as `scion status` names it.
    #[arg(value_name = "CONNECTOR", verbatim_doc_comment)]
    pub(crate) connector: String,

    /// The stream, as `scion status` names it.
    #[arg(value_name = "STREAM", verbatim_doc_comment)]
    pub(crate) stream: String,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// `scion explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The code, for example not_read_only.
    #[arg(value_name = "CODE", verbatim_doc_comment)]
    pub(crate) code: String,
}

impl PlaceArgs {
    /// The kind of sink, and the request to open it.
    pub(crate) fn request<'r>(
        &self,
        sinks: &'r SinkRegistry,
        access: Access,
    ) -> Result<(&'r dyn SinkFactory, SinkRequest), Refused> {
        let factory = place::sink(sinks, &self.sink)?;
        let state_dir = place::state_dir(self.state_dir.as_deref())?;
        Ok((factory, SinkRequest { state_dir, store_file: None, access }))
    }

    /// Opens the graph where one is.
    pub(crate) async fn open(&self, sinks: &SinkRegistry, access: Access) -> Result<OpenSink, Refused> {
        let (factory, request) = self.request(sinks, access)?;
        place::open_existing(factory, &request).await
    }

    /// A refusal that names the sink and what it cannot do.
    pub(crate) fn lacks(&self, what: &'static str) -> CommandRefusal {
        CommandRefusal::SinkLacks { name: self.sink.clone(), what }
    }
}

/// Parses, runs, and gives the exit code.
pub(crate) fn main(sinks: &SinkRegistry) -> u8 {
    let args = match usage::parse::<ScionArgs>() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        tell(&Refused::from(CommandRefusal::Runtime).to_string());
        return NOT_STARTED;
    };
    let outcome = runtime.block_on(async {
        match &args.command {
            Command::Query(args) => query::main(args, sinks).await,
            Command::Status(args) => status::main(args, sinks).await,
            Command::Doctor(args) => doctor::main(args, sinks).await,
            Command::Release(args) => release::main(args, sinks).await,
            Command::Work(args) => work::main(args).await,
            Command::Serve(args) => serve::main(args).await,
            Command::Pack(args) => pack::main(args, sinks).await,
            Command::New(args) => new::main(args),
            Command::Explain(args) => explain::main(&args.code),
        }
    });
    runtime.shutdown_background();
    match outcome {
        Ok(code) => code,
        Err(refusal) => {
            tell(&refusal.to_string());
            // A mistake in the command line that only the command itself could see.
            if refusal.code == "usage" { NOT_STARTED } else { FAILED }
        }
    }
}

/// Done, with everything printed.
pub(crate) fn done(printed: Result<(), CommandRefusal>) -> Outcome {
    printed.map(|()| DONE).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn check(command: &mut clap::Command) {
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
        for help in [command.render_long_help(), command.render_help()] {
            for line in help.to_string().lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
        for sub in command.get_subcommands_mut() {
            assert!(sub.get_name() == "help" || sub.get_about().is_some(), "{}", sub.get_name());
            check(sub);
        }
    }

    #[test]
    fn the_help_is_complete_and_fits_80_columns() {
        let mut command = ScionArgs::command();
        command.clone().debug_assert();
        check(&mut command);
    }
}
