//! Measures the pass over shapes: `cargo run --release -p scion-domain --example coverage`.
//!
//! The budget is 1 ms at the median and 5 ms at the 99th percentile for 100 KiB (SDK-CONNECTOR-CONTROL-R700).

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement takes the time and says it")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use scion_domain::semantic_coverage::{DeclaredSemanticCoverage, PROVENANCE_PATHS};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = "@prefix sh: <http://www.w3.org/ns/shacl#> .\n@prefix d: <https://desk.example/ns#> .\n".to_owned();
    let mut classes = Vec::new();
    while text.len() < 100 << 10 {
        let name = format!("Type{}", classes.len());
        writeln!(text, "d:{name}Shape a sh:NodeShape ; sh:targetClass d:{name} ; # a record type")?;
        for path in PROVENANCE_PATHS.iter().chain(&["title", "state", "openedAt"]) {
            writeln!(text, "  sh:property [ sh:path d:{path} ; sh:minCount 1 ; sh:message \"needs {path}\" ] ;")?;
        }
        writeln!(text, "  sh:closed false .")?;
        classes.push(name);
    }
    let mut times = Vec::with_capacity(500);
    for _ in 0..500 {
        let start = Instant::now();
        let coverage = DeclaredSemanticCoverage::parse(&text)?;
        coverage.require_covers(classes.iter().map(String::as_str))?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(Duration::ZERO);
    println!("{} bytes, {} classes: p50 {:?}, p99 {:?}", text.len(), classes.len(), at(50), at(99));
    Ok(())
}
