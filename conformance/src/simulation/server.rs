//! The simulated MCP server: real pages over the simulated system, with everything that can go wrong in a conversation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use scion_domain::config::EndpointSpec;
use scion_domain::json::{Json, JsonObject, to_compact};
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolResult,
};
use scion_ports::{ChangeFeed, McpConnector, McpSession};

use super::declare;
use super::drive::Env;
use super::layout::Kind;
use super::system::{Snapshot, System, Table};
use super::world::lock;

/// Opens sessions with the simulated server.
pub(super) struct SimConnector {
    pub(super) env: Arc<Env>,
    /// No fault strikes its sessions.
    pub(super) quiet: bool,
}

struct SimSession {
    env: Arc<Env>,
    quiet: bool,
    closed: AtomicBool,
    identity: ServerIdentity,
}

#[async_trait]
impl McpConnector for SimConnector {
    async fn connect(&self, _endpoint: &EndpointSpec) -> Result<Box<dyn McpSession>, McpRefusal> {
        if !self.quiet && self.env.world.strikes() {
            self.env.world.note("connect fails");
            return Err(McpRefusal::Unreachable { endpoint: "sim".into() });
        }
        let identity = ServerIdentity {
            name: "sim".into(),
            version: "1".into(),
            protocol_version: "2025-11-25".into(),
            list_changed: false,
            subscribe: false,
        };
        let (env, quiet) = (self.env.clone(), self.quiet);
        Ok(Box::new(SimSession { env, quiet, closed: AtomicBool::new(false), identity }))
    }
}

impl SimSession {
    /// What may go wrong with any request; `Ok(true)` asks for an answer with `isError`.
    async fn trouble(&self, operation: &str) -> Result<bool, McpRefusal> {
        let closed = || McpRefusal::Closed { operation: operation.to_owned() };
        if self.closed.load(Ordering::Relaxed) {
            return Err(closed());
        }
        let world = &self.env.world;
        if self.quiet || !world.strikes() {
            return Ok(false);
        }
        let what = world.dice.below(6);
        world.note(format!("{operation}: session fault {what}"));
        match what {
            0 => Ok(true),
            1 => Err(McpRefusal::Timeout { operation: operation.to_owned(), seconds: 30 }),
            2 => Err(McpRefusal::RateLimited { operation: operation.to_owned() }),
            3 => {
                self.closed.store(true, Ordering::Relaxed);
                Err(closed())
            }
            4 => std::future::pending().await,
            _ => {
                world.late().await;
                Ok(false)
            }
        }
    }
}

#[async_trait]
impl McpSession for SimSession {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        if self.trouble("tools/list").await? {
            return Err(McpRefusal::Malformed { operation: "tools/list".into() });
        }
        Ok(lock(&self.env.system).tables.iter().map(declare::tool).collect())
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        Ok(Vec::new())
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        if self.trouble("resources/read").await? {
            return Err(McpRefusal::Malformed { operation: "resources/read".into() });
        }
        Ok(ResourceBody {
            uri: uri.to_owned(),
            media_type: Some("application/json".into()),
            bytes: self.env.declaration.clone().into_bytes(),
            ..ResourceBody::default()
        })
    }

    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        if self.trouble(&call.tool).await? {
            return Ok(ToolResult { is_error: true, ..ToolResult::default() });
        }
        let mut system = lock(&self.env.system);
        let Some(name) = call.tool.strip_prefix("list_").map(str::to_owned) else {
            return Err(McpRefusal::UnknownTool { tool: call.tool.clone() });
        };
        let value = answer(&mut system, &name, &call.arguments)
            .ok_or_else(|| McpRefusal::ArgumentsRefused { tool: call.tool.clone() })?;
        Ok(ToolResult { texts: vec![to_compact(&value)], ..ToolResult::default() })
    }

    async fn changes(&self, _resource_uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        Err(McpRefusal::Unsupported { operation: "subscriptions".into() })
    }

    async fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

fn number(arguments: &JsonObject, name: &str) -> Option<u64> {
    match arguments.get(name)? {
        Json::Number(number) => number.as_u64(),
        Json::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn answer(system: &mut System, name: &str, arguments: &JsonObject) -> Option<Json> {
    let table = system.table(name)?;
    let size = table.layout.size;
    let list = |table: &Table, skip: usize, take: usize| {
        let records = table.records.values().skip(skip).take(take);
        Json::Array(records.map(|record| Json::Object(record.payload())).collect())
    };
    match table.layout.kind {
        Kind::Whole => Some(list(table, 0, usize::MAX)),
        Kind::Page => {
            let page = usize::try_from(number(arguments, "page")?).ok()?.checked_sub(1)?;
            Some(list(table, page * size, size))
        }
        Kind::Offset => {
            let offset = usize::try_from(number(arguments, "offset")?).ok()?;
            let more = offset + size < table.records.len();
            Some(Json::from([("items", list(table, offset, size)), ("more", Json::from(more))]))
        }
        Kind::FanOut => {
            let parent = arguments.get("parent")?.as_str()?;
            let records = table.records.values().filter(|record| record.parent.as_deref() == Some(parent));
            Some(Json::Array(records.map(|record| Json::Object(record.payload())).collect()))
        }
        Kind::Cursor | Kind::Delta | Kind::Opaque | Kind::Incremental | Kind::Reconcile => {
            let (index, offset) = match arguments.get("cursor") {
                None => (system.snapshot(name, number(arguments, "since")), 0),
                Some(cursor) => {
                    let (index, offset) = cursor.as_str()?.split_once('-')?;
                    (index.parse().ok()?, offset.parse().ok()?)
                }
            };
            let table = system.table(name)?;
            let sent_since = arguments.contains_key("since");
            Some(page(table.snapshots.get(index)?, table, (index, offset), sent_since))
        }
    }
}

fn page(snapshot: &Snapshot, table: &Table, (index, offset): (usize, usize), sent_since: bool) -> Json {
    let end = (offset + table.layout.size).min(snapshot.records.len());
    let items = snapshot.records[offset.min(end)..end].iter().map(|record| Json::Object(record.payload()));
    let last = end >= snapshot.records.len();
    let mut members = JsonObject::new();
    members.insert("items".into(), Json::Array(items.collect()));
    members.insert("next".into(), if last { Json::Null } else { Json::from(format!("{index}-{end}")) });
    match table.layout.kind {
        Kind::Delta | Kind::Opaque => {
            if last && sent_since {
                let gone = snapshot
                    .gone
                    .iter()
                    .map(|id| Json::from([("id", Json::from(id.as_str())), ("reason", Json::from("deleted"))]));
                members.insert("gone".into(), Json::Array(gone.collect()));
            }
            if table.layout.kind == Kind::Opaque {
                members.insert("mark".into(), Json::from(snapshot.mark));
            }
        }
        Kind::Reconcile => {
            let live = snapshot.live.iter().map(|id| Json::from(id.as_str()));
            members.insert("live".into(), Json::Array(live.collect()));
            members.insert("complete".into(), Json::from(true));
        }
        _ => {}
    }
    Json::Object(members)
}
