//! `scion status`: every stream of the graph.

mod table;

use std::collections::{BTreeMap, BTreeSet};

use scion::ports::Clock as _;
use scion::sink::{Access, OpenSink, SinkRegistry};
use scion::sync::sweep::{Progress, write_hold};
use scion_domain::id::{ConnectorName, Digest256, StreamName};
use scion_domain::json::{Json, to_compact};
use scion_domain::model::StreamOverview;

use crate::commands::{ListFormat, Outcome, StatusArgs, done};
use crate::output::{Refused, print};

/// Where runners keep progress documents.
const NAMESPACE: &str = "agent-connector-sdk";
const KEY_PREFIX: &str = "ingest-source/";
/// Keys of one page.
const PAGE: usize = 500;

/// One stream: what the graph knows, and what its runner remembers.
pub(crate) struct StreamLine {
    /// The connector.
    pub(crate) connector: ConnectorName,
    /// The stream.
    pub(crate) stream: StreamName,
    /// `None` when it never committed.
    pub(crate) overview: Option<StreamOverview>,
    /// `None` when its document is of another release.
    pub(crate) progress: Option<Progress>,
}

pub(crate) async fn main(args: &StatusArgs, sinks: &SinkRegistry) -> Outcome {
    let open = args.place.open(sinks, Access::Read).await?;
    if open.catalog.is_none() {
        return Err(args.place.lacks("list its streams").into());
    }
    let lines = lines(&open).await?;
    let now = scion::local::SystemClock::new().unix_millis();
    done(print(&match args.format {
        ListFormat::Table => table::text(&lines, now),
        ListFormat::Json => json(&lines, now),
    }))
}

/// Every stream that committed or has a progress document.
pub(crate) async fn names(open: &OpenSink) -> Result<Vec<(ConnectorName, StreamName)>, Refused> {
    let mut names = BTreeSet::new();
    if let Some(catalog) = &open.catalog {
        names.extend(catalog.streams().await?.into_iter().map(|one| (one.connector, one.stream)));
    }
    names.extend(documents(open).await?);
    Ok(names.into_iter().collect())
}

async fn documents(open: &OpenSink) -> Result<Vec<(ConnectorName, StreamName)>, Refused> {
    let Some(store) = &open.key_values else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = store.scan(NAMESPACE, KEY_PREFIX, after.as_deref(), PAGE).await?;
        let last = page.last().map(|(key, _)| key.clone());
        for (key, _) in &page {
            let name = key.strip_prefix(KEY_PREFIX).and_then(|rest| rest.split_once('/'));
            let name = name.and_then(|(c, s)| Some((ConnectorName::parse(c).ok()?, StreamName::parse(s).ok()?)));
            out.extend(name);
        }
        match last {
            Some(last) if page.len() == PAGE => after = Some(last),
            _ => return Ok(out),
        }
    }
}

pub(crate) async fn lines(open: &OpenSink) -> Result<Vec<StreamLine>, Refused> {
    let mut overviews = BTreeMap::new();
    if let Some(catalog) = &open.catalog {
        for one in catalog.streams().await? {
            overviews.insert((one.connector.clone(), one.stream.clone()), one);
        }
    }
    let mut out = Vec::new();
    for (connector, stream) in names(open).await? {
        let overview = overviews.remove(&(connector.clone(), stream.clone()));
        let document = open.checkpoints.load(&connector, &stream).await?;
        let progress = match document {
            Some(document) => Progress::read(&document.body),
            None => Some(Progress::default()),
        };
        out.push(StreamLine { connector, stream, overview, progress });
    }
    Ok(out)
}

fn json(lines: &[StreamLine], now: i64) -> String {
    let streams = lines.iter().map(|line| line.json(now)).collect();
    format!("{}\n", to_compact(&Json::from([("streams", Json::Array(streams))])))
}

impl StreamLine {
    /// Milliseconds since the last commit.
    fn age(&self, now: i64) -> Option<u64> {
        let at = self.overview.as_ref()?.last_commit_unix_ms?;
        u64::try_from(now.saturating_sub(at)).ok()
    }

    fn json(&self, now: i64) -> Json {
        let overview = self.overview.as_ref();
        let count = |of: fn(&StreamOverview) -> u64| Json::from(overview.map_or(0, of));
        let checkpoint = overview.and_then(|one| one.checkpoint.as_ref()).map(|checkpoint| {
            Json::from([
                ("watermark", Json::from(checkpoint.watermark.clone())),
                ("position", checkpoint.position.clone()),
                ("pending_watermark", Json::from(checkpoint.pending_watermark.clone())),
                ("content_hash", Json::from(checkpoint.content_hash.map(Digest256::to_hex))),
            ])
        });
        let progress = self.progress.as_ref();
        Json::from([
            ("connector", Json::from(self.connector.as_str())),
            ("stream", Json::from(self.stream.as_str())),
            ("state", Json::from(self.state())),
            ("hold", Json::from(progress.and_then(|one| one.hold.as_ref()).map(write_hold))),
            ("checkpoint", checkpoint.unwrap_or_default()),
            ("last_receipt", Json::from(overview.and_then(|one| one.last_receipt_id.clone()))),
            ("last_commit_unix_ms", Json::from(overview.and_then(|one| one.last_commit_unix_ms))),
            ("age_ms", Json::from(self.age(now))),
            ("batches", count(|one| one.batches)),
            ("live_records", count(|one| one.live_records)),
            ("withdrawn_records", count(|one| one.withdrawn_records)),
            ("relationships", count(|one| one.relationships)),
        ])
    }

    /// A word for how it stands: why it is held, else how its last cycle ended.
    fn state(&self) -> String {
        use scion_domain::model::StreamHold;
        let Some(progress) = &self.progress else { return "unreadable".to_owned() };
        match &progress.hold {
            Some(StreamHold::Quarantined { .. }) => "quarantined".to_owned(),
            Some(StreamHold::RepairPending { .. }) => "paused".to_owned(),
            None => progress.last_state.clone().unwrap_or_else(|| "unknown".to_owned()),
        }
    }
}
