//! Whether the graph can be read, and which streams are held.

use scion::sink::{Access, OpenSink, SinkRegistry};
use scion_domain::model::StreamHold;
use scion_domain::sync::SyncRefusal;

use super::findings::Findings;
use crate::commands::DoctorArgs;
use crate::output::Refused;
use crate::{place, status};

/// Checks the graph; answers it when it is there.
pub(super) async fn check(
    args: &DoctorArgs,
    sinks: &SinkRegistry,
    findings: &mut Findings,
) -> Result<Option<OpenSink>, Refused> {
    let (factory, request) = args.place.request(sinks, Access::Read)?;
    let place = factory.place(&request);
    let open = match place::open_existing(factory, &request).await {
        Ok(open) => open,
        Err(refused) if refused.code == "store_missing" => {
            findings.note("graph", &format!("nothing was synchronised yet; it will be made at {place}"))?;
            return Ok(None);
        }
        Err(refused) => {
            findings.wrong(&format!("graph {place}"), &refused)?;
            return Ok(None);
        }
    };
    let lines = match status::lines(&open).await {
        Ok(lines) => lines,
        Err(refused) => {
            findings.wrong(&format!("graph {place}"), &refused)?;
            return Ok(None);
        }
    };
    let s = if lines.len() == 1 { "" } else { "s" };
    findings.ok("graph", &format!("{place} holds {} stream{s}", lines.len()))?;
    for line in &lines {
        let stream = || line.stream.to_string();
        let refusal = match &line.progress {
            None => SyncRefusal::ProgressUnreadable { stream: stream() },
            Some(progress) => match &progress.hold {
                None => continue,
                Some(StreamHold::Quarantined { .. }) => {
                    SyncRefusal::Quarantined { stream: stream(), classification: "see `scion status`" }
                }
                Some(StreamHold::RepairPending { .. }) => SyncRefusal::RepairPending { stream: stream() },
            },
        };
        findings.wrong(&format!("{}/{}", line.connector, line.stream), &Refused::of_sync(&refusal))?;
    }
    Ok(Some(open))
}
