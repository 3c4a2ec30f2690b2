//! Time and memory of a whole process.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command; answers seconds and peak resident memory in MiB (`VmHWM`, polled; Linux only, 0 elsewhere).
pub(crate) fn process(mut command: Command) -> Result<(f64, f64), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{command:?} does not start: {error}"))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    loop {
        if let Ok(text) = std::fs::read_to_string(&status_file) {
            peak_kib = peak_kib.max(high_water(&text));
        }
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            if !status.success() {
                return Err(format!("{command:?} ended with {status}"));
            }
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok((started.elapsed().as_secs_f64(), f64::from(peak_kib) / 1024.0))
}

fn high_water(status: &str) -> u32 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The middle one.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
