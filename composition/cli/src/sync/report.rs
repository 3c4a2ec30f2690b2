//! The report of `--once`.

use std::fmt::Write as _;

use scion::ports::StreamCatalog;
use scion::sync::CycleReport;
use scion::sync::SyncState;
use scion::sync::stage::StageReport;
use scion_domain::command::CommandRefusal;
use scion_domain::config::RunnerConfig;
use serde_json::json;

use super::timings::Timings;
use crate::output::Refused;
use crate::table::render;

/// One stream, or a connector that did not come as far as its streams.
struct Line {
    name: String,
    counts: Option<[u64; 6]>,
    seconds: Option<f64>,
    state: String,
    error: Option<Refused>,
}

/// The report.
pub(super) struct OnceReport<'r> {
    cycles: &'r [CycleReport],
    lines: Vec<Line>,
    connectors: usize,
    success: bool,
}

const HEADER: [&str; 9] =
    ["stream", "pages", "records", "accepted", "unchanged", "relations", "withdrawn", "seconds", "state"];
const NUMBERS: [usize; 7] = [1, 2, 3, 4, 5, 6, 7];

impl<'r> OnceReport<'r> {
    /// The report of the cycles of a configuration.
    pub(super) fn new(config: &RunnerConfig, cycles: &'r [CycleReport], timings: &Timings) -> Self {
        let mut lines: Vec<Line> = cycles.iter().flat_map(|cycle| lines_of(cycle, timings)).collect();
        for lost in config.connectors.iter().filter(|wanted| !cycles.iter().any(|c| c.connector == wanted.connector)) {
            let refusal = CommandRefusal::Internal { place: format!("the worker of {}", lost.connector) };
            lines.push(Line {
                name: lost.connector.to_string(),
                counts: None,
                seconds: None,
                state: "failed".to_owned(),
                error: Some(refusal.into()),
            });
        }
        let success = cycles.len() == config.connectors.len() && cycles.iter().all(|cycle| cycle.success);
        Self { cycles, lines, connectors: config.connectors.len(), success }
    }

    /// Whether every connector did everything.
    pub(super) const fn success(&self) -> bool {
        self.success
    }

    /// Whether the graph has something to ask about.
    pub(super) async fn holds_records(&self, catalog: Option<&dyn StreamCatalog>) -> bool {
        match catalog {
            Some(catalog) => catalog.streams().await.is_ok_and(|all| all.iter().any(|one| one.live_records > 0)),
            None => false,
        }
    }

    /// For people.
    pub(super) fn text(&self, next: Option<&str>) -> String {
        if self.connectors == 0 {
            return "The configuration names no connector; nothing to do.\n".to_owned();
        }
        let rows: Vec<Vec<String>> = self.lines.iter().map(Line::row).collect();
        // Writing to a String cannot fail.
        let mut out = render(&HEADER, &rows, &NUMBERS);
        for line in &self.lines {
            if let Some(error) = &line.error {
                let _ = write!(out, "\n{}: {error}\n", line.name);
            }
        }
        if let Some(next) = next {
            let _ = write!(out, "\nAsk the graph:\n  {next}\n");
        }
        out
    }

    /// For programs: one line.
    pub(super) fn json(&self) -> String {
        let seconds: serde_json::Map<_, _> =
            self.lines.iter().filter_map(|line| Some((line.name.clone(), json!(line.seconds?)))).collect();
        let cycles: Vec<_> = self
            .cycles
            .iter()
            .map(|cycle| {
                let refusal = cycle.refusal.as_ref().map(|refusal| {
                    json!({ "code": refusal.leaf_code(), "message": refusal.to_string(), "next": refusal.leaf_next_step() })
                });
                json!({ "cycle": cycle, "refusal": refusal })
            })
            .collect();
        format!("{}\n", json!({ "success": self.success, "connectors": cycles, "seconds": seconds }))
    }
}

impl Line {
    fn row(&self) -> Vec<String> {
        let mut row = vec![self.name.clone()];
        match self.counts {
            Some(counts) => row.extend(counts.iter().map(u64::to_string)),
            None => row.extend(std::iter::repeat_n("-".to_owned(), 6)),
        }
        row.push(self.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.1}")));
        row.push(self.state.clone());
        row
    }
}

fn lines_of(cycle: &CycleReport, timings: &Timings) -> Vec<Line> {
    let stages = cycle.run.as_ref().map(|run| run.stages.as_slice()).unwrap_or_default();
    let mut lines: Vec<Line> = stages.iter().map(|stage| line_of(stage, timings)).collect();
    let told = lines.iter().any(|line| line.error.is_some());
    if let Some(refusal) = cycle.refusal.as_ref().filter(|_| !told) {
        lines.push(Line {
            name: cycle.connector.to_string(),
            counts: None,
            seconds: None,
            state: "failed".to_owned(),
            error: Some(Refused::of_sync(refusal)),
        });
    }
    lines
}

fn line_of(stage: &StageReport, timings: &Timings) -> Line {
    let counts = stage.stream.as_ref().map(|stream| {
        [stream.pages, stream.seen, stream.submitted, stream.unchanged, stream.relationships, stream.withdrawn]
    });
    let error = stage.refusal.as_ref();
    Line {
        name: format!("{}/{}", stage.connector, stage.source),
        counts,
        seconds: timings.of(stage.connector.as_str(), stage.source.as_str()).map(|time| time.as_secs_f64()),
        state: state(stage.state).to_owned(),
        error: error.map(|e| Refused { code: e.code, message: e.message.clone(), next: e.next }),
    }
}

/// A word for a state.
fn state(state: SyncState) -> &'static str {
    match state {
        SyncState::Complete => "complete",
        SyncState::Partial => "partial",
        SyncState::Failed => "failed",
        SyncState::Blocked => "blocked",
        SyncState::Cancelled => "stopped",
        SyncState::Quarantined => "quarantined",
        SyncState::Paused => "paused",
    }
}
