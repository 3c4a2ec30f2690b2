//! Finds TLS checks that are switched off and clients beside the governed one in the source of a connector.
//!
//! `scan-tls [--dialer FOLDER]… [ROOT]` prints one line per finding and ends with 0 when there is none, 1 when there are some or the scan
//! is incomplete, and 2 for a usage it does not know.

use std::path::PathBuf;
use std::process::ExitCode;

use scion_conformance::scan::{ScanOptions, scan_tree};

const USAGE: &str = "scan-tls [--dialer FOLDER]... [ROOT]: TLS bypasses and raw clients in Rust and Python source; a dialer folder, relative to ROOT, may open connections";

fn main() -> ExitCode {
    let mut options = ScanOptions::default();
    let mut root: Option<PathBuf> = None;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help") => {
                print(USAGE);
                return ExitCode::SUCCESS;
            }
            Some("--dialer") => match arguments.next() {
                Some(folder) => options.dialers.push(PathBuf::from(folder)),
                None => return usage(),
            },
            Some(text) if text.starts_with('-') => return usage(),
            _ if root.is_some() => return usage(),
            _ => root = Some(PathBuf::from(argument)),
        }
    }
    let report = scan_tree(&root.unwrap_or_else(|| PathBuf::from(".")), &options);
    for finding in &report.findings {
        print(&finding.to_string());
    }
    for (path, why) in &report.unread {
        print(&format!("{path}: not scanned: {why}"));
    }
    print(&format!("{} files scanned, {} findings", report.files, report.findings.len()));
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    print(USAGE);
    ExitCode::from(2)
}

#[allow(clippy::print_stdout, reason = "this is a command-line program")]
fn print(line: &str) {
    println!("{line}");
}
