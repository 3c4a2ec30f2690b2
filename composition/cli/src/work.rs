//! `scion work`: lanes, and the jobs in them.

use clap::{Args, Subcommand};
use scion::local::SystemClock;
use scion::ports::Clock as _;
use scion::sink::Access;
use scion_domain::id::{ConnectorName, StreamName};
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::work::{LanePolicy, NewWork, WorkLane, WorkView};

use crate::commands::{Outcome, done};
use crate::connectors::Connectors;
use crate::output::{Refused, print, printable};
use crate::worker::queue::{OpenQueue, QueueArgs};
use crate::worker::{KIND, payload};

/// `scion work`.
#[derive(Debug, Args)]
pub(crate) struct WorkArgs {
    #[command(subcommand)]
    command: WorkCommand,
}

#[derive(Debug, Subcommand)]
enum WorkCommand {
    /// Set a lane up, or change it: how many work at once, and their times.
    #[command(next_line_help = true)]
    Lane(LaneArgs),
    /// Put a source sync into the queue; prints the id of the work.
    #[command(next_line_help = true)]
    Submit(SubmitArgs),
    /// Show the work in the queue, one JSON object a line.
    #[command(next_line_help = true)]
    List(ListArgs),
    /// Withdraw work that nobody has.
    #[command(next_line_help = true)]
    Cancel(CancelArgs),
}

/// `scion work lane`.
#[derive(Debug, Args)]
struct LaneArgs {
    /// How many workers there is room for.
    #[arg(long, value_name = "N")]
    capacity: u32,

    /// How much of it background work leaves free.
    #[arg(long, value_name = "N", default_value_t = 0)]
    floor: u32,

    /// How long a claim holds unrenewed, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    lease_ms: u64,

    /// How often a worker renews, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 15_000)]
    renew_ms: u64,

    /// How long room is held unrenewed, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 60_000)]
    hold_ms: u64,

    /// The wait when nothing is due, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    idle_ms: u64,

    /// The wait when the lane is full, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    full_ms: u64,

    #[command(flatten)]
    queue: QueueArgs,
}

/// `scion work submit`.
#[derive(Debug, Args)]
struct SubmitArgs {
    /// The connector to sync, as the worker's configuration names it.
    #[arg(value_name = "CONNECTOR")]
    connector: String,

    /// Only this stream; may be given more than once.
    #[arg(long = "stream", value_name = "STREAM")]
    streams: Vec<String>,

    /// Names the job: the same key again is the same job, done once. Give
    /// each run its own, for example a date.
    #[arg(long, value_name = "KEY", verbatim_doc_comment)]
    key: String,

    /// 0 to 1000; the smaller goes first.
    #[arg(long, value_name = "N", default_value_t = 100)]
    priority: u16,

    /// How often it is tried at most: 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 5)]
    max_attempts: u32,

    #[command(flatten)]
    queue: QueueArgs,
}

/// `scion work list`.
#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    queue: QueueArgs,
}

/// `scion work cancel`.
#[derive(Debug, Args)]
struct CancelArgs {
    /// The work, as `scion work list` names it.
    #[arg(value_name = "WORK")]
    work: String,

    #[command(flatten)]
    queue: QueueArgs,
}

/// Entries of one page.
const PAGE: usize = 500;

pub(crate) async fn main(args: &WorkArgs) -> Outcome {
    let now = SystemClock::new().unix_millis();
    match &args.command {
        WorkCommand::Lane(args) => lane(args, now).await,
        WorkCommand::Submit(args) => submit(args, now).await,
        WorkCommand::List(args) => list(args).await,
        WorkCommand::Cancel(args) => {
            open(&args.queue, Access::Write).await?.queue.cancel(&args.work, now).await?;
            done(print(&format!("{} is withdrawn\n", printable(&args.work))))
        }
    }
}

async fn open(queue: &QueueArgs, access: Access) -> Result<OpenQueue, Refused> {
    queue.open(access, || Ok(Connectors::of_process()?.credentials())).await
}

async fn lane(args: &LaneArgs, now: i64) -> Outcome {
    let LaneArgs { lease_ms, renew_ms, hold_ms, idle_ms, full_ms, .. } = *args;
    let policy = LanePolicy { lease_ms, renew_ms, hold_ms, idle_ms, full_ms };
    let name = args.queue.lane.clone();
    let lane = WorkLane { name, capacity: args.capacity, reserved_floor: args.floor, policy };
    lane.check()?;
    open(&args.queue, Access::Write).await?.admission.set_lane(&lane, now).await?;
    done(print(&format!("lane {} admits {} workers at once\n", lane.name, lane.background())))
}

async fn submit(args: &SubmitArgs, now: i64) -> Outcome {
    let connector = ConnectorName::parse(&args.connector)?;
    let streams = args.streams.iter().map(|stream| StreamName::parse(stream)).collect::<Result<Vec<_>, _>>()?;
    let work = NewWork {
        kind: KIND.to_owned(),
        key: args.key.clone(),
        payload: payload(&connector, &streams),
        priority: args.priority,
        max_attempts: args.max_attempts,
    };
    work.check()?;
    let id = open(&args.queue, Access::Write).await?.queue.submit(&work, now).await?;
    done(print(&format!("{id}\n")))
}

async fn list(args: &ListArgs) -> Outcome {
    let queue = open(&args.queue, Access::Read).await?.queue;
    let (mut text, mut after) = (String::new(), None);
    loop {
        let page = queue.list(after.as_deref(), PAGE).await?;
        for view in &page {
            text.push_str(&to_compact(&line(view)));
            text.push('\n');
        }
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.work_id.clone()),
            _ => break,
        }
    }
    done(print(&text))
}

fn line(view: &WorkView) -> Json {
    let text = |text: Option<String>| text.map_or(Json::Null, Json::from);
    let members = [
        ("work", Json::from(view.work_id.as_str())),
        ("kind", Json::from(view.kind.as_str())),
        ("key", Json::from(view.key.as_str())),
        ("status", Json::from(view.status.as_str())),
        ("attempts", view.attempts.map_or(Json::Null, |attempts| Json::from(u64::from(attempts)))),
        ("code", text(view.code.clone())),
        ("effect_digest", text(view.effect_digest.map(scion_domain::id::Digest256::to_hex))),
        ("updated_at_ms", Json::from(view.updated_at_ms)),
    ];
    Json::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<JsonObject>())
}
