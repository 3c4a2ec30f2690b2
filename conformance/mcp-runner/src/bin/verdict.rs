//! `mcp-runner-verdict RESULTS PREFIX EXPECTED < SCENARIOS`: exits with 0 when the run is what the list says, with 1 and the reasons
//! otherwise. The scenarios that had to run are on standard input, one a line.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use scion_mcp_runner::verdict::{Expected, judge, read_results};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [results, prefix, list] = arguments.as_slice() else {
        return say("usage: mcp-runner-verdict RESULTS PREFIX EXPECTED < SCENARIOS", 2);
    };
    match verdict(Path::new(results), prefix, Path::new(list)) {
        Ok(summary) => say(&summary, 0),
        Err(why) => say(&why, 1),
    }
}

fn verdict(results: &Path, prefix: &str, list: &Path) -> Result<String, String> {
    let mut wanted = String::new();
    std::io::stdin().read_to_string(&mut wanted).map_err(|_| "the scenarios cannot be read".to_owned())?;
    let scenarios: BTreeSet<String> = wanted.split_whitespace().map(str::to_owned).collect();
    let text = std::fs::read_to_string(list).map_err(|_| format!("{}: cannot be read", list.display()))?;
    let expected = Expected::parse(&text).map_err(|fault| format!("{}: {fault}", list.display()))?;
    let found = read_results(results, prefix).map_err(|fault| fault.to_string())?;
    let faults = judge(&scenarios, &found, &expected);
    if faults.is_empty() {
        let failing = expected.names().count();
        let mut summary =
            format!("{} scenarios: {} pass, {failing} fail as expected", scenarios.len(), scenarios.len() - failing);
        for (name, reason) in expected.entries() {
            summary.extend(["\n  ", name, ": ", reason]);
        }
        return Ok(summary);
    }
    Err(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

fn say(text: &str, code: u8) -> ExitCode {
    let _ = if code == 0 { writeln!(std::io::stdout(), "{text}") } else { writeln!(std::io::stderr(), "{text}") };
    ExitCode::from(code)
}
