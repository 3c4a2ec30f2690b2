//! A server on standard input and output.

use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::load::{CALL, Figures, good, median, message};
use crate::server::Make;

pub(crate) struct Session {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    started: Instant,
}

impl Session {
    pub(crate) fn start(make: Make, tools: usize) -> io::Result<Self> {
        let started = Instant::now();
        let mut child = make.command("stdio", tools)?.stdin(Stdio::piped()).spawn()?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (stdin, stdout) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
        Ok(Self { child, stdin, lines: BufReader::new(stdout).lines(), started })
    }

    async fn ask(&mut self, line: &str) -> io::Result<String> {
        self.stdin.write_all(line.as_bytes()).await?;
        self.stdin.write_all(b"\n").await?;
        self.lines.next_line().await?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Calls one after the other for a span, after an eighth of it to warm up.
    pub(crate) async fn calls(&mut self, span: Duration) -> io::Result<Figures> {
        self.run(span / 8).await?;
        let started = Instant::now();
        let waits = self.run(span).await?;
        Ok(Figures::of(waits, started.elapsed()))
    }

    async fn run(&mut self, span: Duration) -> io::Result<Vec<Duration>> {
        let (until, mut waits) = (Instant::now() + span, Vec::new());
        let line = message(1, "tools/call", CALL);
        while Instant::now() < until {
            let asked = Instant::now();
            let answer = self.ask(&line).await?;
            waits.push(asked.elapsed());
            good(answer.as_bytes())?;
        }
        Ok(waits)
    }

    async fn list(&mut self) -> io::Result<()> {
        let answer = self.ask(&message(1, "tools/list", "")).await?;
        if answer.contains("echo_0") { Ok(()) } else { Err(io::Error::other(answer)) }
    }

    /// Milliseconds from the start of the process to the end of its first listing.
    pub(crate) async fn first_listing(&mut self) -> io::Result<f64> {
        self.list().await?;
        Ok(self.started.elapsed().as_secs_f64() * 1e3)
    }

    /// Milliseconds of one listing, the median of 21.
    pub(crate) async fn listing(&mut self) -> io::Result<f64> {
        let mut waits = Vec::new();
        for _ in 0..21 {
            let asked = Instant::now();
            self.list().await?;
            waits.push(asked.elapsed().as_secs_f64() * 1e3);
        }
        Ok(median(waits))
    }

    /// Resident memory of the process, in MiB.
    pub(crate) fn resident_mib(&self) -> io::Result<f64> {
        let id = self.child.id().ok_or(io::ErrorKind::NotFound)?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 =
            line.and_then(|text| text.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(f64::NAN);
        Ok(kib / 1024.0)
    }
}
