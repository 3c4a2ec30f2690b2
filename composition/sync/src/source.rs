//! A declared source as the use cases see it: a read-only tool of a server, called page by page.

mod fan_out;
mod live_tools;

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use scion_domain::declaration::{ConnectorDeclaration, SyncPreset};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonLimits};
use scion_domain::mcp::{McpRefusal, ToolCall, ToolDescription};
use scion_domain::model::IngestMode;
use scion_domain::pagination::{SeenPositions, fan, preset as paging};
use scion_domain::source::{PageRequest, SourceContract, SourceDescription, SourcePage, SourceRefusal};
use scion_domain::sync::SyncRefusal;
use scion_domain::time::Watermark;
use scion_domain::{drift, fingerprint};
use scion_ports::{SourceAdapter, async_trait};

pub use live_tools::LiveTools;
use live_tools::read_only_tool;

/// What one page may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimits {
    /// The most records.
    pub max_records: usize,
    /// Bytes, depth and digits of the result.
    pub json: JsonLimits,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self { max_records: scion_domain::pagination::MAX_PAGE_RECORDS, json: JsonLimits::DEFAULT }
    }
}

/// What is remembered of the sweep under way.
#[derive(Default)]
struct SweepMemory {
    seen: SeenPositions,
    asked: Option<Json>,
    parents: Option<Arc<[Json]>>,
}

/// One stream of records read from a tool of an MCP server.
pub struct McpToolSource {
    description: SourceDescription,
    preset: SyncPreset,
    /// Records older than the accepted watermark are known without looking at them.
    incremental: bool,
    tools: Arc<LiveTools>,
    limits: PageLimits,
    parent: Option<Arc<McpToolSource>>,
    sweep: Mutex<SweepMemory>,
}

impl McpToolSource {
    /// The source of one preset with all parents of its fan-out. Refuses an undeclared parent and a fan-out that leads
    /// back to itself.
    pub fn open(
        declaration: &ConnectorDeclaration,
        preset: &SyncPreset,
        tools: &Arc<LiveTools>,
        limits: PageLimits,
    ) -> Result<Self, SyncRefusal> {
        let mut chain = vec![preset.clone()];
        while let Some(parent) = declaration.parent_preset(&chain[chain.len() - 1])? {
            if chain.iter().any(|known| known.name == parent.name) {
                return Err(SourceRefusal::ForEachCycle { source: preset.name.to_string() }.into());
            }
            chain.push(parent);
        }
        let incremental =
            |preset: &SyncPreset| declaration.source_of_preset(preset).is_some_and(|source| source.incremental);
        let mut source: Option<Arc<Self>> = None;
        for preset in chain.drain(1..).rev() {
            let read = incremental(&preset);
            source = Some(Arc::new(Self::of(&declaration.connector, preset, read, tools.clone(), limits, source)));
        }
        Ok(Self::of(&declaration.connector, preset.clone(), incremental(preset), tools.clone(), limits, source))
    }

    fn of(
        connector: &ConnectorName,
        preset: SyncPreset,
        incremental: bool,
        tools: Arc<LiveTools>,
        limits: PageLimits,
        parent: Option<Arc<Self>>,
    ) -> Self {
        let description = SourceDescription {
            connector: connector.clone(),
            stream: preset.name.clone(),
            delta: !preset.updated_since_param.is_empty() || preset.params.contains_key(&preset.mode_param),
            reconcile: !preset.authoritative_path.is_empty(),
        };
        Self { description, preset, incremental, tools, limits, parent, sweep: Mutex::new(SweepMemory::default()) }
    }

    /// The tools of the session, for whoever follows its change notifications.
    pub fn tools(&self) -> &Arc<LiveTools> {
        &self.tools
    }

    fn memory(&self) -> MutexGuard<'_, SweepMemory> {
        // The memory is replaced, never left half changed, so a panicked holder does not matter.
        self.sweep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which page is asked for. Asking for the page asked for last is a retry; any other page asked for before is a
    /// loop.
    fn admit(&self, position: &Json) -> Result<(), SourceRefusal> {
        let mut memory = self.memory();
        if matches!(position, Json::Object(members) if members.is_empty()) {
            *memory = SweepMemory::default();
        } else if memory.asked.as_ref() == Some(position) {
            return Ok(());
        }
        memory.seen.admit(&self.preset.tool, position)?;
        memory.asked = Some(position.clone());
        Ok(())
    }

    async fn parents(&self) -> Result<Option<Arc<[Json]>>, SourceRefusal> {
        let Some(each) = &self.preset.for_each else { return Ok(None) };
        let parent = self.parent.as_ref().ok_or_else(|| SourceRefusal::UnknownParent {
            source: self.preset.name.to_string(),
            parent: each.source.to_string(),
        })?;
        if let Some(known) = self.memory().parents.clone() {
            return Ok(Some(known));
        }
        let values = fan_out::parent_values(&self.preset, each, parent).await?;
        self.memory().parents = Some(values.clone());
        Ok(Some(values))
    }

    async fn read_one(
        &self,
        preset: &SyncPreset,
        position: &Json,
        request: &PageRequest,
    ) -> Result<SourcePage, SourceRefusal> {
        let tools = self.tools.list().await?;
        let tool = read_only_tool(&tools, &preset.tool)?;
        let since = request.watermark.as_deref().filter(|_| !preset.updated_since_param.is_empty());
        let fitted = paging::fitted(preset, &tool.input_schema);
        let preset = &*fitted;
        let arguments = paging::call_arguments(preset, position, since)?;
        let call = ToolCall { tool: preset.tool.clone(), arguments };
        let result = self.tools.session().call_tool(&call).await?;
        if result.is_error {
            return Err(McpRefusal::ToolFailed { tool: preset.tool.clone() }.into());
        }
        let value = result
            .decode(self.limits.json)
            .map_err(|refusal| SourceRefusal::Unreadable { tool: preset.tool.clone(), refusal })?;
        let page = paging::page(preset, position, value, since.is_some())?;
        if page.raw_count > self.limits.max_records {
            return Err(SourceRefusal::PageTooLong {
                tool: preset.tool.clone(),
                count: page.raw_count,
                limit: self.limits.max_records,
            });
        }
        Ok(page)
    }

    /// Leaves out what an incremental source is known to have handed out before. Records at the mark itself stay: others may
    /// share it, and unchanged ones are told apart by their content.
    fn skip_known(&self, page: &mut SourcePage, watermark: Option<&str>) {
        if !self.incremental || page.mode == Some(IngestMode::Reconcile) {
            return;
        }
        if let Some(watermark) = watermark {
            page.records.retain(|record| {
                let before =
                    |at| Watermark::covers(watermark, at) && Watermark::compare(at, watermark) == Ordering::Less;
                !record.updated_at.as_deref().is_some_and(before)
            });
            let kept: std::collections::HashSet<_> = page.records.iter().map(|record| &record.id).collect();
            page.relationships.retain(|edge| kept.contains(&edge.source));
        }
    }
}

#[async_trait]
impl SourceAdapter for McpToolSource {
    fn describe(&self) -> &SourceDescription {
        &self.description
    }

    async fn contract(&self) -> Result<SourceContract, SourceRefusal> {
        let tools = self.tools.list_fresh().await?;
        live_contract(&self.preset, read_only_tool(&tools, &self.preset.tool)?)
    }

    // Dropping this between the tool call and the return loses the page only: nothing was decided about it.
    async fn read_page(&self, request: &PageRequest) -> Result<SourcePage, SourceRefusal> {
        if request.position.as_object().is_none() {
            return Err(SourceRefusal::BadPosition { what: "not an object" });
        }
        self.admit(&request.position)?;
        let mut page = match (self.parents().await?, &self.preset.for_each) {
            (Some(parents), Some(each)) => {
                let (index, position) = fan::resume(&request.position, &parents)?;
                let Some(value) = parents.get(index) else { return Ok(SourcePage::default()) };
                let bound = fan::bind(&self.preset, each, value);
                let mut page = self.read_one(&bound, &position, request).await?;
                page.next_position = fan::advance(index, &parents, page.next_position.take());
                page
            }
            _ => self.read_one(&self.preset, &request.position, request).await?,
        };
        if let Some(next) = &page.next_position {
            let memory = self.memory();
            if memory.asked.as_ref() == Some(next) {
                return Err(SourceRefusal::PositionRepeats { tool: self.preset.tool.clone() });
            }
        }
        self.skip_known(&mut page, request.watermark.as_deref());
        Ok(page)
    }
}

fn live_contract(preset: &SyncPreset, tool: &ToolDescription) -> Result<SourceContract, SourceRefusal> {
    let fingerprint = fingerprint::compatibility(tool).map_err(|_| SourceRefusal::BadMember {
        tool: tool.name.clone(),
        path: "inputSchema".to_owned(),
        expected: "schema that says something",
    })?;
    let schema = drift::contract_schema(&tool.input_schema, tool.output_schema.as_ref());
    Ok(SourceContract { schema, identifier_fields: vec![preset.id_field.clone()], fingerprint })
}
