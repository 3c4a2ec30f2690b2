//! The arguments of `scion pack`. Help texts are wrapped by hand to 80 columns.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::commands::PlaceArgs;

const DIFF_AFTER: &str = "\
Exit codes:
  0  no caller notices
  1  a caller breaks, or a person has to look
  2  the command line cannot be understood

A tool keeps its name, is split into <tool>_<action>, is covered by a new tool
that takes and gives the same, or is lost.";

/// `scion pack`.
#[derive(Debug, Args)]
pub(crate) struct PackArgs {
    #[command(subcommand)]
    pub(super) command: PackCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PackCommand {
    /// Capture what a live server publishes into a file.
    #[command(next_line_help = true)]
    Build(Box<BuildArgs>),
    /// Show what a pack holds, with digests.
    #[command(next_line_help = true)]
    Inspect(InspectArgs),
    /// Say what changed between two packs and whether callers break.
    #[command(next_line_help = true, after_help = DIFF_AFTER)]
    Diff(DiffArgs),
    /// Check digests, signature, signer, number and expiry of a pack.
    #[command(next_line_help = true)]
    Verify(VerifyArgs),
    /// Import a pack into the graph.
    #[command(next_line_help = true)]
    Import(ImportArgs),
}

/// `scion pack build`.
#[derive(Debug, Args)]
pub(super) struct BuildArgs {
    /// The server, by its streamable HTTP endpoint.
    #[arg(long, value_name = "URL", conflicts_with = "server", verbatim_doc_comment)]
    pub(super) url: Option<String>,

    /// A reference to a bearer token for --url: env://NAME,
    /// openbao://MOUNT/PATH#FIELD or file:///PATH. Never the token itself.
    #[arg(long, value_name = "REF", requires = "url", verbatim_doc_comment)]
    pub(super) bearer_token: Option<String>,

    /// A variable of the server's environment, by a reference to its value.
    #[arg(long, value_name = "NAME=REF", conflicts_with = "url", verbatim_doc_comment)]
    pub(super) env: Vec<String>,

    /// The connector the pack is of. Default: the one that
    /// connector://resources names.
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    pub(super) connector: Option<String>,

    /// The longest a single operation may take, in seconds. Default: 60.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600),
        verbatim_doc_comment)]
    pub(super) timeout: Option<u64>,

    /// Where the pack goes.
    #[arg(long, short = 'o', value_name = "FILE", verbatim_doc_comment)]
    pub(super) out: PathBuf,

    /// The number of the release, which grows with each. Default: 0, which
    /// is no release and cannot be verified with --seen.
    #[arg(long, value_name = "NUMBER", verbatim_doc_comment)]
    pub(super) sequence: Option<u64>,

    /// After this time readers refuse it, so that nobody can keep them on an
    /// old release, as 2026-03-01T12:00:00Z.
    #[arg(long, value_name = "TIME", verbatim_doc_comment)]
    pub(super) expires: Option<String>,

    /// Sign it as this signer.
    #[arg(long, value_name = "NAME", requires_all = ["key", "locks"], verbatim_doc_comment)]
    pub(super) signer: Option<String>,

    /// The reference of the release key: vault://MOUNT/PATH#FIELD@VERSION.
    #[arg(long, value_name = "REF", requires = "signer", verbatim_doc_comment)]
    pub(super) key: Option<String>,

    /// The file of the signers' public keys. The first key of a signer is
    /// added; another one needs a declared rotation.
    #[arg(long, value_name = "FILE", requires = "signer", verbatim_doc_comment)]
    pub(super) locks: Option<PathBuf>,

    /// Say what was built as JSON.
    #[arg(long, verbatim_doc_comment)]
    pub(super) json: bool,

    /// The command of a server on standard input and output.
    #[arg(value_name = "COMMAND", last = true, verbatim_doc_comment)]
    pub(super) server: Vec<String>,
}

impl BuildArgs {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.unwrap_or(60))
    }
}

/// `scion pack inspect`.
#[derive(Debug, Args)]
pub(super) struct InspectArgs {
    /// The pack.
    #[arg(value_name = "FILE", verbatim_doc_comment)]
    pub(super) file: PathBuf,

    /// Show it as JSON.
    #[arg(long, verbatim_doc_comment)]
    pub(super) json: bool,
}

/// `scion pack diff`.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The pack that callers know.
    #[arg(value_name = "OLD", verbatim_doc_comment)]
    pub(super) old: PathBuf,

    /// The pack that comes.
    #[arg(value_name = "NEW", verbatim_doc_comment)]
    pub(super) new: PathBuf,

    /// Show it as JSON.
    #[arg(long, verbatim_doc_comment)]
    pub(super) json: bool,
}

/// Whom to trust.
#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    /// The file of the signers' public keys. It is never changed by a
    /// reader.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    pub(super) locks: Option<PathBuf>,

    /// The file of accepted releases. An older release, and another one
    /// under the same number, are refused; a newer one is noted there.
    #[arg(long, value_name = "FILE", requires = "locks", verbatim_doc_comment)]
    pub(super) seen: Option<PathBuf>,
}

/// `scion pack verify`.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The pack.
    #[arg(value_name = "FILE", verbatim_doc_comment)]
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) trust: TrustArgs,

    /// Show it as JSON.
    #[arg(long, verbatim_doc_comment)]
    pub(super) json: bool,
}

/// `scion pack import`.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// The pack.
    #[arg(value_name = "FILE", verbatim_doc_comment)]
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) trust: TrustArgs,

    /// Import without --locks, trusting the file as it is.
    #[arg(long, conflicts_with = "locks", verbatim_doc_comment)]
    pub(super) unverified: bool,

    /// The revision that the graph has now; 0 for none. Default: what the
    /// graph says.
    #[arg(long, value_name = "REVISION", verbatim_doc_comment)]
    pub(super) expect: Option<u64>,

    /// Allow withdrawing more than half of what the connector published.
    #[arg(long, verbatim_doc_comment)]
    pub(super) allow_mass_withdrawal: bool,

    #[command(flatten)]
    pub(super) place: PlaceArgs,

    /// Show it as JSON.
    #[arg(long, verbatim_doc_comment)]
    pub(super) json: bool,
}
