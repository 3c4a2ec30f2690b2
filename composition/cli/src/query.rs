//! `scion query`: one SPARQL question.

mod results;
mod shorten;
mod text;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use scion::sink::{Access, OpenSink, SinkRegistry};
use scion_domain::command::CommandRefusal;
use scion_domain::query::{QueryAnswer, QueryRequest};

use crate::commands::{Outcome, PlaceArgs, done};
use crate::output::{Refused, reason, tell, written};
use crate::place;
use shorten::Prefixes;

/// The longest query file that is read, in bytes; the graph's own bound is smaller.
const MAX_FILE: u64 = 1 << 20;

/// What the help of the command ends with.
pub(crate) const AFTER: &str = "\
These prefixes need no declaration: rdf, rdfs, xsd, owl, scion, cp, and one for
each connector: git-history has git_history. Every record has scion:recordId,
scion:stream, scion:connector and cp:governedBy.

Example: the titles of ten records
  scion query 'SELECT ?title WHERE { ?record desk:title ?title } LIMIT 10'";

/// `scion query`.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The question: SELECT, ASK, CONSTRUCT or DESCRIBE.
    #[arg(value_name = "SPARQL", required_unless_present = "file", conflicts_with = "file", verbatim_doc_comment)]
    sparql: Option<String>,

    /// Read the question from a file; - is standard input.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    file: Option<PathBuf>,

    /// table: for people, long values shortened (the default).
    /// json, csv: SPARQL 1.1 results of SELECT and ASK.
    /// turtle: the triples of CONSTRUCT and DESCRIBE, one a line.
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value = "table",
        hide_default_value = true,
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    format: Format,

    /// The most rows or triples. More are cut off and the cut is reported.
    /// Default: 1000.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..),
        verbatim_doc_comment
    )]
    limit: u32,

    /// The most seconds to spend: 1 to 3600. Default: 30.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(1..=3600),
        verbatim_doc_comment
    )]
    timeout: u64,

    /// One store file, instead of the one in the state directory.
    #[arg(long, value_name = "FILE", conflicts_with = "state_dir", verbatim_doc_comment)]
    store: Option<PathBuf>,

    #[command(flatten)]
    place: PlaceArgs,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// SPARQL 1.1 Query Results JSON Format.
    Json,
    /// SPARQL 1.1 Query Results CSV Format.
    Csv,
    /// Turtle, in its N-Triples subset.
    Turtle,
}

pub(crate) async fn main(args: &QueryArgs, sinks: &SinkRegistry) -> Outcome {
    let sparql = match (&args.sparql, &args.file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => read(path)?,
        (None, None) => return Err(CommandRefusal::Usage { what: "missing <SPARQL> or --file".to_owned() }.into()),
    };
    if sparql.trim().is_empty() {
        return Err(CommandRefusal::Usage { what: "the question is empty".to_owned() }.into());
    }
    let (factory, mut request) = args.place.request(sinks, Access::Read)?;
    request.store_file = args.store.as_deref().map(place::absolute);
    let open = place::open_existing(factory, &request).await?;
    let graph = open.query.clone().ok_or_else(|| args.place.lacks("answer SPARQL"))?;
    let timeout_ms = u64::try_from(Duration::from_secs(args.timeout).as_millis()).unwrap_or(u64::MAX);
    let request = QueryRequest { sparql, max_rows: args.limit as usize, timeout_ms };
    let answer = graph.query(&request).await?;
    let cut = match &answer {
        QueryAnswer::Solutions { truncated, .. } | QueryAnswer::Graph { truncated, .. } => *truncated,
        QueryAnswer::Boolean(_) => false,
    };
    let out = match args.format {
        Format::Table => text::table(&answer, &prefixes(&open).await, args.limit).into_bytes(),
        Format::Json => results::json(&answer)?,
        Format::Csv => results::csv(&answer)?,
        Format::Turtle => text::triples(&answer)?.into_bytes(),
    };
    if cut && args.format != Format::Table {
        tell(&format!("truncated: only the first {} are written; raise --limit for more", args.limit));
    }
    done(written(write(&out)))
}

fn write(bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

async fn prefixes(open: &OpenSink) -> Prefixes {
    let streams = match &open.catalog {
        Some(catalog) => catalog.streams().await.unwrap_or_default(),
        None => Vec::new(),
    };
    Prefixes::of(streams.iter().map(|one| one.connector.as_str()))
}

fn read(path: &Path) -> Result<String, Refused> {
    let refused = |what| CommandRefusal::QueryFile { path: path.display().to_string(), what };
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_FILE + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_string(&mut text))
    };
    let length = read.map_err(|error| refused(reason(error.kind())))?;
    if length as u64 > MAX_FILE {
        return Err(refused("it is larger than 1 MiB").into());
    }
    Ok(text)
}
