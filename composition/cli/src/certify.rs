//! The command `connector-certify`: compares live servers with their own declarations (`wire/mcp-surface.md` 7.2).

mod args;
mod files;
mod fleet;
mod output;
mod placeholder;
mod target;

use scion::certify::CertifyOptions;
use scion_domain::command::CommandRefusal;

use crate::connectors::Connectors;
use crate::output::{Refused, tell};
use crate::{NOT_STARTED, usage};
use args::CertifyArgs;
use output::Named;

/// Parses, runs, and gives the exit code.
pub(crate) fn main() -> u8 {
    let args = match usage::parse::<CertifyArgs>() {
        Ok(args) => args,
        Err(code) => return code,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        tell(&Refused::from(CommandRefusal::Runtime).to_string());
        return NOT_STARTED;
    };
    let code = runtime.block_on(run(&args)).unwrap_or_else(|refused| {
        tell(&refused.to_string());
        NOT_STARTED
    });
    runtime.shutdown_background();
    code
}

/// Everything that is refused here was refused before a server was asked, so there is no report.
async fn run(args: &CertifyArgs) -> Result<u8, Refused> {
    let (url, command) = (args.flag_of_url(), args.flag_of_command());
    if let Some(flag) = url.filter(|_| args.url.is_none()).or(command.filter(|_| args.command.is_empty())) {
        return Err(misuse(&format!("{flag} is not for this kind of server; see --help")));
    }
    let options = options(args)?;
    let connectors = Connectors::of_process()?;
    let reports = match &args.config {
        Some(path) => fleet::certify(path, args, &options, &connectors).await?,
        None => vec![certify_one(args, &options, &connectors).await?],
    };
    output::tell_all(args, &reports)
}

async fn certify_one(args: &CertifyArgs, options: &CertifyOptions, connectors: &Connectors) -> Result<Named, Refused> {
    let target = target::Target::of(args)?;
    let client = target.client(connectors);
    let report = scion::certify::certify_endpoint(&*client, &target.endpoint, options).await?;
    Ok(Named { fallback: target.shown, report })
}

fn options(args: &CertifyArgs) -> Result<CertifyOptions, Refused> {
    let mut options =
        CertifyOptions { strict: args.strict, expected: args.connector.clone(), ..CertifyOptions::default() };
    if let Some(timeout) = args.timeout {
        options.timeout = timeout;
    }
    if let Some(path) = &args.against {
        options.pins = Some(files::pins(path)?);
    }
    Ok(options)
}

/// A mistake in the command line that its grammar does not see.
fn misuse(what: &str) -> Refused {
    CommandRefusal::Usage { what: what.to_owned() }.into()
}
