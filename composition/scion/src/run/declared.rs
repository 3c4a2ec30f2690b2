//! `scion::run`: from a declaration and a command line to a server (SDK-CONNECTOR-CONTROL-R019.1).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use scion_domain::command::CommandRefusal;
use scion_domain::refusal::Refusal as _;
use scion_domain::settings::{AgentConfig, AuthKind, SettingRefusal, SettingsProblems, TransportKind};
use scion_domain::surface::{StartRefusal, SurfaceIdentity};
use scion_domain::tool_surface::{FilterField, ListingPolicy};
use scion_domain::values::to_csv;
use scion_local::process_environment;
use scion_mcp_server::ServeOptions;
use scion_ports::ToolSurface as _;
use scion_serve::ServedSurface;

use super::flags::{Asked, command, read};
use super::{fail, runtime, tell, told};
use crate::{ConnectorDeclaration, NotStarted};

/// Serves a declared connector as the command line and the environment of this process say, until its clients are gone. Gives the
/// exit code: 0 after an orderly end or after help, 1 when something is refused or fails, 2 when the command line or a setting
/// cannot be understood. Whatever is wrong is one explaining line on standard error; standard output carries the protocol and
/// nothing else. It owns its runtime: call it from `fn main`.
///
/// `--help` lists the options. A network transport needs to know its callers: without an authentication provider and a token
/// audience the process ends before it listens.
pub fn run(connector: ConnectorDeclaration) -> ExitCode {
    run_with(connector, std::env::args_os().skip(1), process_environment())
}

fn run_with(
    connector: ConnectorDeclaration,
    arguments: impl Iterator<Item = OsString>,
    environment: BTreeMap<String, String>,
) -> ExitCode {
    let identity = connector.identity();
    let environment =
        match read(command(identity.name(), identity.version(), connector.about()), arguments, environment) {
            Asked::Serve(environment) => environment,
            Asked::Show(text) => return show(&text),
            Asked::Wrong(what) => return told(&CommandRefusal::Usage { what }, 2),
        };
    let config = match AgentConfig::from_environment(&environment) {
        Ok(config) => config,
        Err(problems) => return refused_settings(&problems),
    };
    if let Err(refusal) = callers_are_known(&config) {
        return fail(&refusal);
    }
    let Some(runtime) = runtime() else {
        return fail(&CommandRefusal::Runtime);
    };
    let code = runtime.block_on(async {
        match open(connector, &environment).await {
            Ok(surface) => serve(surface, &config, &environment).await,
            Err(refusal) => fail(&refusal),
        }
    });
    // A read of standard input cannot be cancelled; waiting for it would keep the process alive.
    runtime.shutdown_background();
    code
}

/// Serves a surface that no declaration made, as an environment says: transport, callers and limits are those of [`run`], whose
/// options [`with_serve_options`](super::with_serve_options) adds to a command line.
pub async fn serve_surface(surface: ServedSurface, environment: &BTreeMap<String, String>) -> ExitCode {
    let config = match AgentConfig::from_environment(environment) {
        Ok(config) => config,
        Err(problems) => return refused_settings(&problems),
    };
    match callers_are_known(&config) {
        Ok(()) => serve(surface, &config, environment).await,
        Err(refusal) => fail(&refusal),
    }
}

/// The surface over the way out of this machine.
async fn open(
    connector: ConnectorDeclaration,
    environment: &BTreeMap<String, String>,
) -> Result<ServedSurface, NotStarted> {
    let ports = crate::http::system_ports().map_err(scion_client::ClientRefusal::from)?;
    connector.surface_with(environment, ports).await
}

async fn serve(surface: ServedSurface, config: &AgentConfig, environment: &BTreeMap<String, String>) -> ExitCode {
    let policy = policy(environment);
    match config.transport.kind {
        TransportKind::Stdio => {
            banner(surface.identity(), "on standard input and output");
            let served = scion_mcp_server::serve_stdio_under(policy, Arc::new(surface), ServeOptions::default()).await;
            served.map_or_else(|refusal| fail(&refusal), |()| ExitCode::SUCCESS)
        }
        TransportKind::StreamableHttp | TransportKind::Sse => {
            super::network::serve(surface, config, environment, policy).await
        }
    }
}

/// What the operator lets be listed and called at all.
fn policy(environment: &BTreeMap<String, String>) -> ListingPolicy {
    let fields = [("MCP_ENABLED_TOOLS", FilterField::EnabledNames), ("MCP_DISABLED_TOOLS", FilterField::DisabledNames)];
    fields.into_iter().fold(ListingPolicy::everything(), |policy, (variable, field)| {
        let words = environment.get(variable).map(|text| to_csv(text)).unwrap_or_default();
        if words.is_empty() { policy } else { policy.rule(field, words) }
    })
}

/// Fail closed: nobody listens on a network before it is said how callers are known (R014.18).
fn callers_are_known(config: &AgentConfig) -> Result<(), StartRefusal> {
    if config.transport.kind == TransportKind::Stdio {
        return Ok(());
    }
    if config.auth.kind == AuthKind::None {
        return Err(StartRefusal::NoCallers { needs: "an authentication provider (--auth-type, AUTH_TYPE)" });
    }
    if config.auth.audience.is_none() {
        let needs = "a token audience (--token-audience, FASTMCP_SERVER_AUTH_JWT_AUDIENCE)";
        return Err(StartRefusal::NoCallers { needs });
    }
    Ok(())
}

/// One line for a person at a terminal, and silence for a program.
pub(super) fn banner(identity: &SurfaceIdentity, place: &str) {
    if std::io::stderr().is_terminal() {
        tell(&format!("{} {} serves {place}; --help lists the options", identity.name, identity.version));
    }
}

/// A setting that cannot be read is a mistake in the command line; one that would leave the server open is a refusal.
fn refused_settings(problems: &SettingsProblems) -> ExitCode {
    let mut code = 1;
    for problem in &problems.problems {
        tell(&format!("error[{}]: {problem}\n  next: {}", problem.code(), problem.next_step()));
        if matches!(
            problem,
            SettingRefusal::UnknownWord { .. } | SettingRefusal::OutOfRange { .. } | SettingRefusal::NotBoolean { .. }
        ) {
            code = 2;
        }
    }
    ExitCode::from(code)
}

fn show(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
