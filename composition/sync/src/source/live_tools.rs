//! The tool list of one session, shared by all its sources and read again when the server says it changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scion_domain::mcp::{McpRefusal, ToolDescription};
use scion_domain::source::SourceRefusal;
use scion_ports::McpSession;
use tokio::sync::Mutex;

/// A cached `tools/list`. A change notification bumps its generation and so makes it stale.
pub struct LiveTools {
    session: Arc<dyn McpSession>,
    generation: AtomicU64,
    cached: Mutex<Option<(u64, Arc<[ToolDescription]>)>>,
}

impl LiveTools {
    /// A view that has read nothing yet.
    pub fn new(session: Arc<dyn McpSession>) -> Self {
        Self { session, generation: AtomicU64::new(0), cached: Mutex::new(None) }
    }

    /// The session behind it.
    pub fn session(&self) -> &Arc<dyn McpSession> {
        &self.session
    }

    /// Grows with every announced change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The server announced a change.
    pub fn mark_changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The list as last read, or read now if it was never read or is stale.
    pub async fn list(&self) -> Result<Arc<[ToolDescription]>, McpRefusal> {
        let mut cached = self.cached.lock().await;
        match &*cached {
            Some((generation, tools)) if *generation == self.generation() => Ok(tools.clone()),
            _ => self.read(&mut cached).await,
        }
    }

    /// The list, read now.
    pub async fn list_fresh(&self) -> Result<Arc<[ToolDescription]>, McpRefusal> {
        self.read(&mut *self.cached.lock().await).await
    }

    async fn read(
        &self,
        cached: &mut Option<(u64, Arc<[ToolDescription]>)>,
    ) -> Result<Arc<[ToolDescription]>, McpRefusal> {
        // The generation is taken before the call: a change announced during the call makes the answer stale again.
        let generation = self.generation();
        let tools: Arc<[ToolDescription]> = self.session.list_tools().await?.into();
        *cached = Some((generation, tools.clone()));
        Ok(tools)
    }
}

/// The one tool of that name, which must say that it is read-only (R004.22).
pub(crate) fn read_only_tool<'t>(
    tools: &'t [ToolDescription],
    name: &str,
) -> Result<&'t ToolDescription, SourceRefusal> {
    let tool = tools.iter().find(|tool| tool.name == name);
    let tool = tool.ok_or_else(|| SourceRefusal::ToolMissing { tool: name.to_owned() })?;
    if tool.hints.is_read_only() { Ok(tool) } else { Err(SourceRefusal::NotReadOnly { tool: name.to_owned() }) }
}
