//! From declared tools to definitions and handlers.

use std::collections::HashSet;
use std::sync::Arc;

use scion_domain::id::ToolName;
use scion_domain::ingest::IngestRefusal;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolHints;
use scion_ports::async_trait;

use super::{IngestTool, ToolSource, ToolYield, arguments};
use crate::stream::{ClientFactory, SourceStream, SyncEnd, open_client};

/// The tags of every ingest tool.
pub const INGEST_TAGS: [&str; 2] = ["ingest", "mutating"];

/// What a server lists of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestToolDefinition {
    /// Its name.
    pub name: ToolName,
    /// Its title.
    pub title: String,
    /// What it does; the title when the declaration says nothing.
    pub description: String,
    /// It writes to the graph, destroys nothing, is idempotent because the same source read again leads to the same graph,
    /// and talks to the outside.
    pub hints: ToolHints,
    /// [`INGEST_TAGS`].
    pub tags: Vec<String>,
    /// A closed object schema of the source's parameters.
    pub input_schema: JsonObject,
}

/// What a call answers: counts, and how a walk went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// `{"nodes": n, "edges": n}`; a paged tool adds `pages` and `end`. `null` when a best-effort stream did not commit.
    pub structured: Json,
}

/// Carries out one call.
#[async_trait]
pub trait IngestToolHandler: Send + Sync {
    /// Checks the arguments, runs the tool and closes the client.
    async fn call(&self, arguments: JsonObject) -> Result<ToolAnswer, IngestRefusal>;
}

/// A tool a server can register.
#[derive(Clone)]
pub struct RegisteredIngestTool {
    /// What is listed.
    pub definition: IngestToolDefinition,
    /// What is called.
    pub handler: Arc<dyn IngestToolHandler>,
}

/// Checks tools and binds them to a stream and a client.
///
/// Refuses a name that is empty or stands twice, a tool without a title, a kind the stream has no mapper of, a paged tool
/// without a kind, and arguments that cannot stand together.
pub fn ingest_registration<F: ClientFactory>(
    stream: &SourceStream,
    tools: Vec<IngestTool<F::Client>>,
    clients: &Arc<F>,
) -> Result<Vec<RegisteredIngestTool>, IngestRefusal> {
    let mut names = HashSet::new();
    let mut registered = Vec::with_capacity(tools.len());
    for tool in tools {
        let refused = |what| Err(IngestRefusal::Declaration { what, name: tool.name.clone() });
        if !names.insert(tool.name.clone()) {
            return refused("two ingest tools share the name");
        }
        if tool.title.trim().is_empty() {
            return refused("the ingest tool has no title");
        }
        if matches!(tool.source, ToolSource::Paged { .. }) && tool.kind.is_none() {
            return refused("a paged ingest tool needs a kind");
        }
        if let Some(kind) = tool.kind.as_ref().filter(|kind| !stream.has_kind(kind)) {
            return Err(IngestRefusal::UnknownKind { kind: kind.clone() });
        }
        arguments::check(&tool.name, &tool.arguments)?;
        registered.push(RegisteredIngestTool {
            definition: define(&tool)?,
            handler: Arc::new(Handler { stream: stream.clone(), tool, clients: Arc::clone(clients) }),
        });
    }
    Ok(registered)
}

fn define<C>(tool: &IngestTool<C>) -> Result<IngestToolDefinition, IngestRefusal> {
    Ok(IngestToolDefinition {
        name: ToolName::parse(&tool.name)?,
        title: tool.title.clone(),
        description: if tool.description.is_empty() { tool.title.clone() } else { tool.description.clone() },
        hints: ToolHints {
            read_only: Some(false),
            destructive: Some(false),
            idempotent: Some(true),
            open_world: Some(true),
        },
        tags: INGEST_TAGS.map(str::to_owned).to_vec(),
        input_schema: arguments::schema(&tool.arguments),
    })
}

struct Handler<F: ClientFactory> {
    stream: SourceStream,
    tool: IngestTool<F::Client>,
    clients: Arc<F>,
}

#[async_trait]
impl<F: ClientFactory> IngestToolHandler for Handler<F> {
    async fn call(&self, arguments: JsonObject) -> Result<ToolAnswer, IngestRefusal> {
        let arguments = arguments::read(&self.tool.arguments, arguments)?;
        Box::pin(open_client(&*self.clients, |client| self.run(client, arguments))).await
    }
}

impl<F: ClientFactory> Handler<F> {
    async fn run(&self, client: Arc<F::Client>, arguments: JsonObject) -> Result<ToolAnswer, IngestRefusal> {
        match &self.tool.source {
            ToolSource::Once(source) => {
                let counts = match source(client, arguments).await? {
                    ToolYield::Mapped(mapped) => self.stream.mapped(mapped).await?,
                    ToolYield::Records(records) => self.stream.records(self.kind()?, &records).await?,
                };
                let counts = counts.map(|counts| numbers([("nodes", counts.nodes), ("edges", counts.edges)]));
                Ok(ToolAnswer { structured: counts.into() })
            }
            ToolSource::Paged { fetch, plan } => {
                let page = |cursor| fetch(Arc::clone(&client), arguments.clone(), cursor);
                let summary = self.stream.sync(self.kind()?, plan, page).await?;
                let structured = summary.map(|summary| {
                    let counts = [("nodes", summary.counts.nodes), ("edges", summary.counts.edges)];
                    let mut members = numbers(counts);
                    members.extend(numbers([("pages", summary.pages), ("skipped", summary.skipped)]));
                    members.insert("end".to_owned(), word(summary.end).into());
                    members
                });
                Ok(ToolAnswer { structured: structured.into() })
            }
        }
    }

    fn kind(&self) -> Result<&str, IngestRefusal> {
        let missing = || IngestRefusal::Declaration { what: "records need a kind", name: self.tool.name.clone() };
        self.tool.kind.as_deref().ok_or_else(missing)
    }
}

fn numbers<const N: usize>(counts: [(&str, usize); N]) -> JsonObject {
    counts.into_iter().map(|(name, count)| (name.to_owned(), Json::from(count as u64))).collect()
}

const fn word(end: SyncEnd) -> &'static str {
    match end {
        SyncEnd::Exhausted => "exhausted",
        SyncEnd::Repeated => "repeated",
        SyncEnd::MaxPages => "max_pages",
    }
}
