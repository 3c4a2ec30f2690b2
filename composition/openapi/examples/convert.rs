//! Converts documents and says what became of them: `cargo run -p scion-openapi --example convert -- FILE...`.
//! Ends with 1 when a tool does not pass the client profile.

#![allow(clippy::print_stdout, reason = "a command for people")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use scion_domain::client_profile::ClientProfile;
use scion_domain::mcp::ToolDescription;
use scion_domain::refusal::Refusal as _;
use scion_openapi::{ConvertOptions, convert};

fn main() -> ExitCode {
    let options = ConvertOptions::default();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut documents, mut seen, mut converted, mut cut, mut paged, mut breaches) = (0, 0, 0, 0, 0, 0);
    let verbose = std::env::args().count() < 4;
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else {
            println!("{path}: cannot be read");
            continue;
        };
        documents += 1;
        let start = Instant::now();
        match convert(&bytes, &options) {
            Err(refusal) => {
                *refused.entry(refusal.code()).or_default() += 1;
                println!("{path}: {refusal}");
            }
            Ok(model) => {
                let tools: Vec<ToolDescription> = model.operations.iter().map(scion_openapi::Operation::tool).collect();
                for finding in ClientProfile::COMMON.check_listing(&tools) {
                    breaches += 1;
                    println!("{path}: {finding}");
                }
                seen += model.report.operations;
                converted += model.report.converted;
                cut += model.report.cut;
                paged += model.operations.iter().filter(|operation| operation.paging.is_some()).count();
                for (code, count) in model.report.refused_by_code() {
                    *refused.entry(code).or_default() += count;
                }
                if verbose {
                    for operation in &model.operations {
                        println!("{} {} {}", operation.name, operation.method, operation.path);
                    }
                    for refused in &model.report.refused {
                        println!("refused {} {}: {}", refused.method, refused.path, refused.refusal);
                    }
                }
            }
        }
        let took = start.elapsed().as_millis();
        if took > 500 {
            println!("{path}: {} bytes took {took} ms", bytes.len());
        }
    }
    println!(
        "{documents} documents, {seen} operations, {converted} converted, {paged} paged, {cut} places cut, {breaches} breaches"
    );
    println!("refused: {refused:?}");
    if breaches == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
