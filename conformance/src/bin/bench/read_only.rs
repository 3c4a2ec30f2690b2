//! The upper limit: all pages over stdio, parsed as JSON-RPC, the text not looked at.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) fn all_pages(binaries: &Path, records: u64) -> Result<f64, String> {
    let mut command = Command::new(binaries.join("seeded-source"));
    command.args(["--records", &records.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the source has no pipes".into());
    };
    let mut stdout = BufReader::with_capacity(1 << 20, stdout);
    let mut line = String::new();
    for page in 1..=records.div_ceil(200) + 1 {
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{page},\"method\":\"tools/call\",\"params\":{{\"name\":\"items_list\",\"arguments\":{{\"page\":{page},\"page_size\":200}}}}}}\n"
        );
        stdin.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        line.clear();
        stdout.read_line(&mut line).map_err(|error| error.to_string())?;
        let answer: serde_json::Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if answer["result"]["content"][0]["text"].as_str().is_none() {
            return Err(format!("page {page} has no text"));
        }
    }
    drop(stdin);
    child.wait().map_err(|error| error.to_string())?;
    Ok(started.elapsed().as_secs_f64())
}
