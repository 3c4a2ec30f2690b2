//! Measures fingerprints of a small tool and of one of 100 kB: `cargo run --release -p scion-domain --example fingerprint`.
//!
//! The budget is 5 ms for 100 kB.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a measurement takes the time and says it")]

use std::time::{Duration, Instant};

use scion_domain::fingerprint::{ToolShape, exact};
use scion_domain::json::{Json, parse};

const ROUNDS: usize = 500;

fn tool(fields: usize) -> Json {
    let field = |number: usize| {
        format!(
            r#""field_{number}":{{"type":"string","description":"The value of field {number}, as the vendor writes it.","maxLength":{number}}}"#
        )
    };
    let fields: Vec<String> = (0..fields).map(field).collect();
    let schema = format!(r#"{{"type":"object","properties":{{{}}}}}"#, fields.join(","));
    parse(&format!(r#"{{"name":"t","inputSchema":{schema},"outputSchema":{schema}}}"#)).unwrap_or_default()
}

fn main() {
    for fields in [2, 450] {
        let tool = tool(fields);
        let bytes = scion_domain::json::to_compact(&tool).len();
        let mut times: Vec<Duration> = (0..ROUNDS)
            .filter_map(|_| {
                let started = Instant::now();
                let digest = exact(ToolShape::from_json(&tool).ok()?).ok()?;
                std::hint::black_box(digest);
                Some(started.elapsed())
            })
            .collect();
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        println!("{bytes} bytes: p50 {:?}, p99 {:?}", at(50), at(99));
    }
}
