//! The arguments of `ingest-worker`. Help texts are wrapped by hand to 80 columns.

use std::path::PathBuf;

use clap::Parser;
use scion_domain::work::WorkersWanted;

use crate::logging::LogFormat;

const AFTER: &str = "\
Exit codes:
  0  nothing was due with --once, or drained after SIGTERM or SIGINT
  1  ended while working: the lane is gone, or the queue refuses
  2  could not start, nothing claimed: command line, configuration, state
     directory, no queue at the endpoint, a queue without the methods, no lane

Jobs are put in with `scion work submit`; `scion work lane` says how many
workers work at once and how they wait, renew and give up. A worker decides
none of it.";

/// Does queued source syncs, as many at once as the queue's lane admits.
#[derive(Debug, Parser)]
#[command(name = "ingest-worker", version, after_help = AFTER, next_line_help = true)]
pub(crate) struct WorkerArgs {
    /// The connectors that jobs may name: YAML, or JSON when the name ends in
    /// .json.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) config: PathBuf,

    /// How many jobs to work on at once: a number, which the lane may lower,
    /// or auto, for as many as the lane admits. Default: auto.
    #[arg(long, value_name = "auto|N", default_value = "auto", hide_default_value = true, value_parser = workers, verbatim_doc_comment)]
    pub(crate) workers: WorkersWanted,

    #[command(flatten)]
    pub(crate) queue: super::queue::QueueArgs,

    /// The durable graph that records go to, by name. Default: embedded.
    #[arg(long, value_name = "NAME", default_value = "embedded", hide_default_value = true, verbatim_doc_comment)]
    pub(crate) sink: String,

    /// End when no job is due, instead of waiting for more.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) once: bool,

    /// The form of log lines: json or text. Default: text on a terminal, else
    /// json.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true, verbatim_doc_comment)]
    pub(crate) log_format: Option<LogFormat>,
}

fn workers(text: &str) -> Result<WorkersWanted, String> {
    if text == "auto" {
        return Ok(WorkersWanted::Auto);
    }
    let number = text.parse().ok().filter(|number| (1..=4096).contains(number));
    number.map(WorkersWanted::AtMost).ok_or_else(|| "auto, or a number from 1 to 4096".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_help_is_complete_and_fits_80_columns() {
        let mut command = WorkerArgs::command();
        command.clone().debug_assert();
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{}", argument.get_id());
        }
        let help = command.render_long_help().to_string();
        for line in help.lines().chain(command.render_help().to_string().lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn workers_are_auto_or_a_number() {
        assert_eq!(workers("auto"), Ok(WorkersWanted::Auto));
        assert_eq!(workers("3"), Ok(WorkersWanted::AtMost(3)));
        for wrong in ["0", "-1", "many", "4097", ""] {
            assert!(workers(wrong).is_err(), "{wrong}");
        }
    }
}
