//! The arguments of `connector-certify`. Help texts are wrapped by hand to 80 columns.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

/// The longest `--timeout`, in seconds: a day.
const MAX_TIMEOUT: f64 = 86_400.0;

const AFTER: &str = "\
Exit codes:
  0  everything is as declared
  1  a tool or a check failed
  2  nothing was certified: command line, reference, server, declaration

It lists the tools and reads connector://resources, nothing else. It writes no
file but the one named by --report. A server given by its command sees HOME,
LOGNAME, PATH, SHELL, TERM, USER and what --env and --placeholder name.";

/// Compares a live MCP server with its own declaration.
#[derive(Debug, Parser)]
#[command(name = "connector-certify", version, after_help = AFTER, next_line_help = true)]
pub(crate) struct CertifyArgs {
    /// The server, by its streamable HTTP endpoint.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "config"], verbatim_doc_comment)]
    pub(crate) url: Option<String>,

    /// A reference to a bearer token for --url: env://NAME,
    /// openbao://MOUNT/PATH#FIELD or file:///PATH. Never the token itself.
    #[arg(long, value_name = "REF", verbatim_doc_comment)]
    pub(crate) bearer_token: Option<String>,

    /// Log in at this issuer for --url, with the OAuth client below.
    #[arg(long, value_name = "URL", requires_all = ["oidc_client_id", "oidc_client_secret_ref"],
        conflicts_with_all = ["oidc_token_url", "bearer_token"], verbatim_doc_comment)]
    pub(crate) oidc_issuer: Option<String>,

    /// The same by the token endpoint, without discovery.
    #[arg(long, value_name = "URL", requires_all = ["oidc_client_id", "oidc_client_secret_ref"],
        conflicts_with = "bearer_token", verbatim_doc_comment)]
    pub(crate) oidc_token_url: Option<String>,

    /// The id of the OAuth client.
    #[arg(long, value_name = "ID", verbatim_doc_comment)]
    pub(crate) oidc_client_id: Option<String>,

    /// A reference to its secret.
    #[arg(long, value_name = "REF", verbatim_doc_comment)]
    pub(crate) oidc_client_secret_ref: Option<String>,

    /// The audience to ask a token for.
    #[arg(long, value_name = "TEXT", verbatim_doc_comment)]
    pub(crate) oidc_audience: Option<String>,

    /// The scope to ask for.
    #[arg(long, value_name = "TEXT", verbatim_doc_comment)]
    pub(crate) oidc_scope: Option<String>,

    /// A variable of the server's environment, by a reference to its value.
    #[arg(long, value_name = "NAME=REF", verbatim_doc_comment)]
    pub(crate) env: Vec<String>,

    /// A variable the server only needs to be set: it gets
    /// connector-certify-placeholder, which is no secret.
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    pub(crate) placeholder: Vec<String>,

    /// Certify every connector of a connector-sync configuration.
    #[arg(long, value_name = "FILE", conflicts_with = "command", verbatim_doc_comment)]
    pub(crate) config: Option<PathBuf>,

    /// The longest that starting, listing and reading may take, in seconds.
    /// Default: 60, or what --config says.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, verbatim_doc_comment)]
    pub(crate) timeout: Option<Duration>,

    /// Write the report there, as JSON.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(crate) report: Option<PathBuf>,

    /// Print the report on standard output: text, json, sarif (2.1.0) or
    /// junit. Without it, a text for people goes to standard error.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true, verbatim_doc_comment)]
    pub(crate) format: Option<Format>,

    /// The connector that must answer.
    #[arg(long, value_name = "NAME", conflicts_with = "config", verbatim_doc_comment)]
    pub(crate) connector: Option<String>,

    /// Compare with the pins of an earlier report: a contract that changed
    /// fails.
    #[arg(long, value_name = "FILE", conflicts_with = "config", verbatim_doc_comment)]
    pub(crate) against: Option<PathBuf>,

    /// Take warnings as failures.
    #[arg(long, verbatim_doc_comment)]
    pub(crate) strict: bool,

    /// The server, by its command, behind `--`.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

impl CertifyArgs {
    /// The first flag that belongs to `--url` alone. The grammar of the command line does not say so: it waives what a flag
    /// requires when that excludes something that is given.
    pub(crate) fn flag_of_url(&self) -> Option<&'static str> {
        let flags = [
            ("--bearer-token", &self.bearer_token),
            ("--oidc-issuer", &self.oidc_issuer),
            ("--oidc-token-url", &self.oidc_token_url),
            ("--oidc-client-id", &self.oidc_client_id),
            ("--oidc-client-secret-ref", &self.oidc_client_secret_ref),
            ("--oidc-audience", &self.oidc_audience),
            ("--oidc-scope", &self.oidc_scope),
        ];
        flags.into_iter().find(|(_, value)| value.is_some()).map(|(flag, _)| flag)
    }

    /// The first flag that belongs to a command alone.
    pub(crate) fn flag_of_command(&self) -> Option<&'static str> {
        let flags = [("--env", &self.env), ("--placeholder", &self.placeholder)];
        flags.into_iter().find(|(_, values)| !values.is_empty()).map(|(flag, _)| flag)
    }
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Sarif,
    Junit,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if number > 0.0 && number <= MAX_TIMEOUT {
        Ok(Duration::from_secs_f64(number))
    } else {
        Err("must be above 0 and at most 86400".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_help_is_complete_and_fits_80_columns() {
        let mut command = CertifyArgs::command();
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
