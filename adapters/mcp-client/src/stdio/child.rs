//! Starting and ending a child process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use scion_domain::mcp::McpRefusal;
use scion_domain::secret::Secret;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::stderr;

/// What a program needs to run at all. Nothing else of our environment is passed on.
const INHERITED: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// A resolved command line.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: BTreeMap<String, Secret<String>>,
    /// How long the child may take to end by itself.
    pub(crate) grace: Duration,
    /// The name its log lines are under.
    pub(crate) connector: String,
}

/// A handle on a running child. The child itself belongs to a task that reaps it.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    stop: CancellationToken,
    status: watch::Receiver<Option<String>>,
}

impl Child {
    /// Cancelling it ends the child: it gets its grace period, then it is killed.
    pub(crate) fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Waits until the child has ended and answers how.
    pub(crate) async fn status(&mut self) -> String {
        match self.status.wait_for(Option::is_some).await {
            Ok(status) => status.clone().unwrap_or_default(),
            // The reaper is gone with its runtime, which killed the child.
            Err(_) => "killed".to_owned(),
        }
    }
}

/// Starts a program in a process group of its own.
///
/// The own group keeps an interrupt typed at the terminal away from the server, so that a draining sync can finish its
/// page, and lets a kill reach what the server itself started.
pub(crate) fn start(launch: Launch<'_>) -> Result<(Child, ChildStdin, ChildStdout), McpRefusal> {
    let mut command = CommandWrap::with_new(launch.program, |command| {
        command.args(launch.args).env_clear().envs(inherited());
        for (name, value) in &launch.env {
            command.env(name, value.expose());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    let refuse = |reason| McpRefusal::StartFailed { program: launch.program.to_owned(), reason };
    let mut child = command.spawn().map_err(|error| {
        refuse(match error.kind() {
            ErrorKind::NotFound => "there is no such program",
            ErrorKind::PermissionDenied => "it is not executable",
            ErrorKind::InvalidInput => "an argument or environment value holds a NUL character",
            _ => "the system does not start it",
        })
    })?;
    let (Some(input), Some(output)) = (child.stdin().take(), child.stdout().take()) else {
        return Err(refuse("its standard streams are not available"));
    };
    if let Some(errors) = child.stderr().take() {
        tokio::spawn(stderr::drain(errors, launch.connector));
    }
    let stop = CancellationToken::new();
    let (publish, status) = watch::channel(None);
    tokio::spawn(reap(child, stop.clone(), launch.grace, publish));
    Ok((Child { stop, status }, input, output))
}

fn inherited() -> impl Iterator<Item = (&'static str, OsString)> {
    INHERITED.into_iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value)))
}

async fn reap(
    mut child: Box<dyn ChildWrapper>,
    stop: CancellationToken,
    grace: Duration,
    publish: watch::Sender<Option<String>>,
) {
    let ended = tokio::select! {
        status = child.wait() => Some(status),
        () = stop.cancelled() => None,
    };
    let ended = match ended {
        Some(status) => Some(status),
        None => tokio::time::timeout(grace, child.wait()).await.ok(),
    };
    // Also when the leader has ended: what it started belongs to the session too.
    let _ = child.start_kill();
    let ended = match ended {
        Some(status) => status,
        None => child.wait().await,
    };
    let status = ended.map_or_else(|_| "status unknown".to_owned(), |status| status.to_string());
    publish.send_replace(Some(status));
}
