//! Streams for people.

use std::fmt::Write as _;

use scion_domain::json::{Json, to_compact};
use scion_domain::model::{SourceCheckpoint, StreamHold};

use super::StreamLine;
use crate::table::render;

const HEADER: [&str; 9] =
    ["stream", "state", "live", "withdrawn", "relations", "batches", "last commit", "checkpoint", "receipt"];
const NUMBERS: [usize; 4] = [2, 3, 4, 5];
/// The longest position shown, in characters.
const POSITION: usize = 32;
/// The longest receipt shown, in characters; `--format json` has it whole.
const RECEIPT: usize = 12;

/// The table, and below it why streams are held.
pub(super) fn text(lines: &[StreamLine], now: i64) -> String {
    if lines.is_empty() {
        return "No stream was synchronised yet. Run `connector-sync --once --config FILE` first.\n".to_owned();
    }
    let rows: Vec<Vec<String>> = lines.iter().map(|line| row(line, now)).collect();
    let mut out = render(&HEADER, &rows, &NUMBERS);
    for line in lines {
        if let Some(why) = why(line) {
            // Writing to a String cannot fail.
            let _ = write!(out, "\n{}/{}: {why}\n", line.connector, line.stream);
        }
    }
    out
}

fn row(line: &StreamLine, now: i64) -> Vec<String> {
    let overview = line.overview.as_ref();
    let checkpoint = overview.and_then(|one| one.checkpoint.as_ref());
    let none = || "-".to_owned();
    let count = |value: Option<u64>| value.map_or_else(none, |value| value.to_string());
    vec![
        format!("{}/{}", line.connector, line.stream),
        line.state(),
        count(overview.map(|one| one.live_records)),
        count(overview.map(|one| one.withdrawn_records)),
        count(overview.map(|one| one.relationships)),
        count(overview.map(|one| one.batches)),
        line.age(now).map_or_else(none, age),
        checkpoint.map_or_else(none, progress),
        overview.and_then(|one| one.last_receipt_id.as_deref()).map_or_else(none, receipt),
    ]
}

/// Where the stream stands: in the middle of a sweep, or at its watermark, or at the end of a sweep without one.
fn progress(checkpoint: &SourceCheckpoint) -> String {
    match (&checkpoint.position, &checkpoint.watermark) {
        (Json::Object(members), Some(watermark)) if members.is_empty() => watermark.clone(),
        (Json::Object(members), None) if members.is_empty() => "swept".to_owned(),
        (position, _) => format!("at {}", short(&to_compact(position), POSITION)),
    }
}

/// The kind of a receipt is the same everywhere.
fn receipt(id: &str) -> String {
    short(id.rsplit_once(':').map_or(id, |(_, digest)| digest), RECEIPT)
}

fn short(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}

fn age(millis: u64) -> String {
    match millis / 1000 {
        seconds @ 0..120 => format!("{seconds} s ago"),
        seconds @ 120..7200 => format!("{} min ago", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

fn why(line: &StreamLine) -> Option<String> {
    let Some(progress) = &line.progress else {
        return Some(
            "its progress document is not one of this release\n  next: use the release that wrote it, or reset the stream"
                .to_owned(),
        );
    };
    let release = format!("scion release {} {}", line.connector, line.stream);
    match progress.hold.as_ref()? {
        StreamHold::Quarantined { classification, reason_codes, affected_fields } => Some(format!(
            "quarantined, its tool changed its contract ({classification}: {}{})\n  next: restore the tool, or accept the \
             change with `{release}`",
            reason_codes.join(", "),
            if affected_fields.is_empty() { String::new() } else { format!("; at {}", affected_fields.join(", ")) },
        )),
        StreamHold::RepairPending { proposal_digest } => Some(format!(
            "paused, a repair is proposed and not decided (proposal {proposal_digest})\n  next: decide the proposal, or let \
             the stream go on with `{release}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_like_speech() {
        assert_eq!(age(999), "0 s ago");
        assert_eq!(age(119_000), "119 s ago");
        assert_eq!(age(120_000), "2 min ago");
        assert_eq!(age(7_200_000), "2 h ago");
        assert_eq!(age(172_800_000), "2 days ago");
        assert_eq!(receipt("source-ingest:0123456789abcdef"), "0123456789a…");
    }
}
