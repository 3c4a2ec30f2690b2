//! The servers, each in a process of its own.

use std::io;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

use crate::{bare, ours};

/// Which server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    Bare,
    Ours,
}

impl Make {
    pub(crate) const BOTH: [Self; 2] = [Self::Bare, Self::Ours];

    const fn word(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Ours => "ours",
        }
    }

    /// This program as that server.
    pub(crate) fn command(self, way: &str, tools: usize) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", self.word(), way, &tools.to_string()]).stdout(Stdio::piped()).kill_on_drop(true);
        Ok(command)
    }
}

/// A server over HTTP; it ends when this is dropped.
pub(crate) struct Server {
    _child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) async fn http(make: Make, tools: usize) -> io::Result<Self> {
        let mut child = make.command("http", tools)?.spawn()?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address).await?;
        Ok(Self { _child: child, address: address.trim().to_owned() })
    }
}

/// Serves in this process.
pub(crate) async fn serve(make: &str, way: &str, tools: usize) -> io::Result<()> {
    match (make, way) {
        ("bare", "stdio") => bare::stdio(tools).await,
        ("ours", "stdio") => ours::stdio(tools).await,
        (_, "http") => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("{}", listener.local_addr()?);
            if make == "bare" { bare::http(listener, tools).await } else { ours::http(listener, tools).await }
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// The name of a tool. The one that is called is the first.
pub(crate) fn tool_name(index: usize) -> String {
    format!("echo_{index}")
}

pub(crate) const DESCRIPTION: &str = "Gives back the text it is given, with its length.";
