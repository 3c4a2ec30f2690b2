//! Documents that want to be expensive, in a process of their own: time and memory are those of the whole program.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::client::command;

/// The largest resident size of a child so far, in bytes, as Linux keeps it; read while the child is waited for.
fn peak_of(child: &mut std::process::Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        if let Ok(text) = std::fs::read_to_string(&path) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok());
            peak = peak.max(kib.unwrap_or(0) * 1024);
        }
        if child.try_wait().unwrap().is_some() {
            return peak;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_document_takes_more_than_512_mb_or_half_a_minute() {
    let mut many = String::from(
        "openapi: 3.0.0\ninfo: {title: t, version: '1'}\ncomponents: {schemas: {B: {type: object, properties: {",
    );
    for index in 0..200 {
        let _ = write!(many, "p{index}: {{type: string, description: 'a text of some length that is repeated'}}, ");
    }
    many.push_str("}}}}\npaths:\n");
    for index in 0..20_000 {
        let _ = writeln!(
            many,
            "  /p{index}: {{post: {{requestBody: {{content: {{application/json: {{schema: {{$ref: '#/components/schemas/B'}}}}}}}}, responses: {{'200': {{content: {{application/json: {{schema: {{type: array, items: {{$ref: '#/components/schemas/B'}}}}}}}}}}}}}}}}"
        );
    }
    let mut wide = String::from("{\"openapi\":\"3.0.0\",\"paths\":{},\"x\":[");
    wide.push_str(&"0,".repeat((15 << 20) / 2));
    wide.push_str("0]}");
    let mut doubling = String::from(
        "openapi: 3.0.0\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}}}\ncomponents:\n  schemas:\n",
    );
    for level in 0..2000 {
        let next = format!("{{$ref: '#/components/schemas/S{}'}}", level + 1);
        let _ = writeln!(
            doubling,
            "    S{level}: {{oneOf: [{next}, {{allOf: [{next}, {next}]}}], properties: {{a: {next}, b: {next}}}}}"
        );
    }
    doubling.push_str("    S2000: {type: string}\n");
    let mut bomb = String::from("openapi: 3.0.0\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let _ = writeln!(bomb, "a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 9].join(", "));
    }
    let text = format!("openapi: 3.0.0\ninfo: {{title: '{}'}}\npaths: {{}}\n", "x".repeat(15 << 20));
    let mut keys = String::from("openapi: 3.0.0\npaths: {}\n");
    for index in 0..400_000 {
        let _ = writeln!(keys, "k{index}: v");
    }
    let place = tempfile::tempdir().unwrap();
    for (name, document) in
        [("many", many), ("wide", wide), ("doubling", doubling), ("bomb", bomb), ("text", text), ("keys", keys)]
    {
        std::fs::write(place.path().join("d.yaml"), &document).unwrap();
        let start = Instant::now();
        let mut command = command(place.path(), &["--openapi", "d.yaml", "--check"], &[]);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let peak = peak_of(&mut child);
        assert!(child.wait().unwrap().code().is_some(), "{name} ended by a signal");
        assert!(peak > 0 && peak < 512_000_000, "{name}: {peak} bytes");
        // Thirty times what it takes without optimisation on an idle machine would still be no endless loop.
        assert!(start.elapsed() < Duration::from_mins(1), "{name}: {:?}", start.elapsed());
    }
}
