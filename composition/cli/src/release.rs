//! `scion release`: an operator accepts what a stream was held for.

use std::sync::Arc;

use scion::local::{SystemClock, SystemEntropy};
use scion::pack::Capturer;
use scion::sink::{Access, SinkRegistry};
use scion::sync::events::NoEvents;
use scion::sync::sweep::Progress;
use scion::sync::{Committer, SourceSyncRunner, SyncBudget, SyncPorts};
use scion_domain::command::CommandRefusal;
use scion_domain::id::{ConnectorName, StreamName, TenantId};
use scion_domain::model::StreamHold;

use crate::commands::{Outcome, ReleaseArgs, done};
use crate::output::{Refused, print, printable};
use crate::status;

pub(crate) async fn main(args: &ReleaseArgs, sinks: &SinkRegistry) -> Outcome {
    let connector = ConnectorName::parse(&args.connector)?;
    let stream = StreamName::parse(&args.stream)?;
    let open = args.place.open(sinks, Access::Write).await?;
    let loaded = Progress::load(&*open.checkpoints, &connector, &stream).await;
    let progress = loaded.map_err(|refusal| Refused::of_sync(&refusal))?;
    if progress.version.is_none() {
        let known = status::names(&open).await?;
        let known: Vec<_> =
            known.into_iter().filter(|(name, _)| *name == connector).map(|(_, s)| s.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let (connector, stream) = (printable(connector.as_str()), printable(stream.as_str()));
        return Err(CommandRefusal::UnknownStream { connector, stream, known }.into());
    }
    let clock = Arc::new(SystemClock::new());
    let ports = SyncPorts {
        committer: Committer::new(open.sink.clone(), open.digests.clone(), clock.clone()),
        packs: Arc::new(Capturer::new(clock)),
        checkpoints: open.checkpoints.clone(),
        repairs: None,
        entropy: Arc::new(SystemEntropy),
        events: Arc::new(NoEvents),
    };
    let tenant = TenantId::parse("local")?;
    let released = SourceSyncRunner::new(ports, SyncBudget::default(), tenant).release(&connector, &stream).await;
    released.map_err(|refusal| Refused::of_sync(&refusal))?;
    let what = match progress.hold {
        Some(StreamHold::RepairPending { .. }) => "It no longer waits for its repair.",
        _ => "The contract its tool has now is the accepted one.",
    };
    done(print(&format!("{connector}/{stream} is released. {what} The next cycle goes on from its checkpoint.\n")))
}
