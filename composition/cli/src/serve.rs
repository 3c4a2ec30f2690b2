//! `scion serve`: a connector from a description of an HTTP API, without any code.

mod check;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches};
use scion::http::{HttpProfile, Outbound};
use scion::local::process_environment;
use scion::openapi::{ApiClient, ApiCuration, ApiSetup, CuratedApi, ReadRefusal, curation_file, name_of, read};
use scion::serve::{Connector, Identity, ServedSurface};
use scion::{over_environment, serve_surface, with_serve_options};
use scion_domain::command::CommandRefusal;
use scion_domain::credential::{CredentialRequest, SecretRef};
use scion_domain::id::ConnectorName;

use crate::commands::Outcome;
use crate::output::{Refused, printable, reason, tell};
use crate::{DONE, FAILED, NOT_STARTED};

/// The largest document that is looked at; the reader refuses what is larger.
const MAX_DOCUMENT: u64 = (16 << 20) + 1;

pub(crate) const AFTER: &str = "\
Examples:
  scion serve --openapi notes.yaml --check
  scion serve --openapi notes.yaml --auth token=env://NOTES_TOKEN
  scion serve --openapi notes.yaml --base-url http://127.0.0.1:8080 \\
      --auth none --curate curation.yaml

The server speaks MCP on standard input and output until the client ends the
conversation, unless --transport says otherwise. A private host, a private CA
or a proxy is set up with <NAME>_ALLOWED_PRIVATE_HOSTS, <NAME>_TLS_PROFILE and
<NAME>_PROXY_PROFILE, where <NAME> is the connector's name in capitals.";

/// `scion serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The description of the API: OpenAPI 3.0, OpenAPI 3.1 or
    /// Swagger 2.0, as YAML or JSON.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    openapi: PathBuf,

    /// Where the API is. Default: the first server of the document.
    #[arg(long, value_name = "URL", verbatim_doc_comment)]
    base_url: Option<String>,

    /// A value for a variable of the document's server.
    #[arg(long, value_name = "NAME=VALUE", verbatim_doc_comment)]
    server_variable: Vec<String>,

    /// How to authenticate: a security scheme of the document, whose
    /// secrets are in environment variables (`--check` names them);
    /// SCHEME=REFERENCE, with a comma between the two references of a name
    /// and a password; a reference alone, where only one scheme takes one;
    /// or none. A reference is env://NAME, openbao://MOUNT/PATH#FIELD or
    /// file:///PATH. Given twice, both credentials are sent.
    #[arg(long, value_name = "HOW", verbatim_doc_comment)]
    auth: Vec<String>,

    /// The client id registered for OAuth.
    #[arg(long, value_name = "ID", verbatim_doc_comment)]
    client_id: Option<String>,

    /// What is served, how it is called, and what a sync reads.
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    curate: Option<PathBuf>,

    /// The connector's name. Default: `name` of the curation, else made of
    /// the document's title.
    #[arg(long, value_name = "NAME", verbatim_doc_comment)]
    name: Option<String>,

    /// The time one call may take, in seconds. Default: 30.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..=3600), verbatim_doc_comment)]
    timeout: u64,

    /// The largest answer of the API, in bytes. Default: 8388608.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1024..=268_435_456), verbatim_doc_comment)]
    max_answer: u64,

    /// Show what would be served, and what not and why; serve nothing.
    #[arg(long, verbatim_doc_comment)]
    check: bool,

    #[command(flatten)]
    served: Served,
}

/// The options every served connector has, as the variables they stand for.
#[derive(Debug, Default)]
struct Served(BTreeMap<String, String>);

impl FromArgMatches for Served {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut served = Self::default();
        served.update_from_arg_matches(matches)?;
        Ok(served)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let set = over_environment(matches, std::mem::take(&mut self.0));
        self.0 = set.map_err(|what| clap::Error::raw(clap::error::ErrorKind::InvalidUtf8, what))?;
        Ok(())
    }
}

impl Args for Served {
    fn augment_args(command: clap::Command) -> clap::Command {
        with_serve_options(command)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        with_serve_options(command)
    }
}

/// Serves, or shows what would be served.
pub(crate) async fn main(args: &ServeArgs) -> Outcome {
    let curation = match &args.curate {
        None => ApiCuration::default(),
        Some(path) => match curation_file(path) {
            Ok(curation) => curation,
            Err(problems) => return Ok(refused(&problems.to_string())),
        },
    };
    let document = document(&args.openapi)?;
    let api = match read(&document, &curation) {
        Ok(api) => api,
        Err(ReadRefusal::Document(refusal)) => {
            return Err(Refused::from(refusal).at(&args.openapi.display().to_string()));
        }
        Err(ReadRefusal::Curation(problems)) => return Ok(refused(&problems.to_string())),
    };
    drop(document);
    let name = match &args.name {
        Some(name) => ConnectorName::parse(name)?,
        None => ConnectorName::parse(&name_of(&api))?,
    };
    if args.check {
        return check::show(&api, &name);
    }
    let (surface, client) = open(args, api, &name).await?;
    say(&client, &name);
    let mut environment = process_environment();
    environment.extend(args.served.0.clone());
    let code = serve_surface(surface, &environment).await;
    Ok(match code {
        code if code == ExitCode::SUCCESS => DONE,
        code if code == ExitCode::from(NOT_STARTED) => NOT_STARTED,
        _ => FAILED,
    })
}

/// Problems of a file are told with their places.
fn refused(text: &str) -> u8 {
    tell(&printable_lines(text));
    NOT_STARTED
}

fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

fn document(path: &Path) -> Result<Vec<u8>, CommandRefusal> {
    let unreadable = |kind| CommandRefusal::DocumentFile { path: path.display().to_string(), what: reason(kind) };
    let file = File::open(path).map_err(|error| unreadable(error.kind()))?;
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT).read_to_end(&mut bytes).map_err(|error| unreadable(error.kind()))?;
    Ok(bytes)
}

async fn open(args: &ServeArgs, api: CuratedApi, name: &ConnectorName) -> Result<(ServedSurface, ApiClient), Refused> {
    if api.operations.is_empty() {
        return Err(scion_domain::openapi::SetupRefusal::NoOperation.into());
    }
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let prefix: String = name.as_str().chars().map(upper).collect();
    let profile = HttpProfile::from_settings(&prefix, |key| std::env::var(key).ok())?;
    let mut setup = ApiSetup::new(name.as_str())
        .total_timeout(Duration::from_secs(args.timeout))
        .answer_bytes(args.max_answer)
        .profile(profile);
    if let Some(url) = &args.base_url {
        setup = setup.base_url(url);
    }
    if let Some(id) = &args.client_id {
        setup = setup.client_id(id);
    }
    for how in &args.auth {
        setup = setup.auth(how);
    }
    for pair in &args.server_variable {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| CommandRefusal::Usage { what: "`--server-variable` needs NAME=VALUE".to_owned() })?;
        setup = setup.variable(key, value);
    }
    let outbound = Outbound::of_process()?;
    // Before anything is served: a secret that is not there is told here and not to the first caller.
    present(&outbound, name, &setup.references(&api)?).await?;
    let client = setup.open(&api, &outbound.ports()).await?;
    let version = if api.version.trim().is_empty() { "0".to_owned() } else { api.version.clone() };
    let surface = client.extend(api, Connector::builder(Identity::new(name.as_str(), version))).build()?;
    tokio::spawn(async move { outbound.keep_renewed().await });
    Ok((surface, client))
}

async fn present(outbound: &Outbound, name: &ConnectorName, references: &[SecretRef]) -> Result<(), Refused> {
    let credentials = outbound.credentials();
    for reference in references {
        let request = CredentialRequest { connector: name.clone(), reference: reference.clone() };
        drop(credentials.resolve(&request).await?);
    }
    Ok(())
}

/// What an operator should know; standard output belongs to the protocol.
fn say(client: &ApiClient, name: &ConnectorName) {
    if !client.unmet().is_empty() {
        let (count, first) = (client.unmet().len(), &client.unmet()[0]);
        tell(&printable(&format!(
            "{name}: {count} tools want another security scheme than --auth names, among them {first}"
        )));
    }
    for other in client.elsewhere().iter().take(8) {
        tell(&printable(&format!("{name}: {} is not served: it is at {}", other.tool, other.host)));
    }
}
