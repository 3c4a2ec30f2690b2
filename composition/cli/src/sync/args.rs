//! The arguments of `connector-sync`. Help texts are wrapped by hand to 80 columns.

use std::path::PathBuf;

use clap::Parser;

use crate::logging::LogFormat;

const AFTER: &str = "\
Exit codes:
  0  done, or drained after SIGTERM or SIGINT
  1  with --once: a connector failed, or a stream is held
  2  could not start: command line, configuration, state directory, sink

Standard output holds the report of --once: a table, or one JSON object with
--log-format json. Everything else goes to standard error.";

/// Copies records from MCP connector servers into a durable graph.
#[derive(Debug, Parser)]
#[command(name = "connector-sync", version, after_help = AFTER, next_line_help = true)]
pub(crate) struct SyncArgs {
    /// The connectors to sync: YAML, or JSON when the name ends in .json.
    /// `scion doctor --config FILE` says what is wrong with it.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) config: PathBuf,

    /// Run one cycle of every connector, print a report and end. Without it,
    /// connectors are synced on schedule and on change until a signal comes.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) once: bool,

    /// Where the graph and its state are kept; made when missing. Default:
    /// $CONNECTOR_DATA_DIR, else $XDG_DATA_HOME/agent-connectors, else
    /// ~/.local/share/agent-connectors.
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    pub(crate) state_dir: Option<PathBuf>,

    /// The durable graph, by name. Default: embedded, one file there.
    #[arg(long, value_name = "NAME", default_value = "embedded", hide_default_value = true, verbatim_doc_comment)]
    pub(crate) sink: String,

    /// The form of log lines: json or text. Default: text on a terminal, else
    /// json. On a terminal with --once and without this, the report says it
    /// all and nothing is logged.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true, verbatim_doc_comment)]
    pub(crate) log_format: Option<LogFormat>,

    /// Answer /health and /health/ready there, for example 9100. A bare port
    /// binds 127.0.0.1. Default: $RUNNER_HEALTH_ADDR, else no listener.
    #[arg(long, value_name = "PORT|HOST:PORT", conflicts_with = "once", verbatim_doc_comment)]
    pub(crate) health_addr: Option<String>,

    /// Let the health listener be reached from other machines.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) health_allow_non_loopback: bool,

    /// Show no progress on a terminal.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) no_progress: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_help_is_complete_and_fits_80_columns() {
        let mut command = SyncArgs::command();
        command.clone().debug_assert();
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{}", argument.get_id());
        }
        let help = command.render_long_help().to_string();
        for line in help.lines().chain(command.render_help().to_string().lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
