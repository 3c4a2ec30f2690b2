//! Wrong sessions, scripted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::json::Json;
use scion_domain::mcp::{
    McpRefusal, ResourceBody, ResourceDescription, ServerIdentity, ToolCall, ToolDescription, ToolHints, ToolResult,
};
use scion_ports::{ChangeFeed, McpSession};

use crate::suites::mcp_session::SessionFixture;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionFlaw {
    /// Nothing; a scripted session that passes.
    None,
    /// Lists the first page only.
    FirstPage,
    /// Follows a repeated cursor.
    FollowsLoop,
    /// Mixes answers up.
    MixesAnswers,
    /// Has no deadline.
    NoDeadline,
    /// Does not tell the server about a dropped call.
    NoCancel,
    /// Hangs when the server dies.
    HangsOnDeath,
    /// Takes messages of any size.
    Unbounded,
    /// Repeats the server's error text.
    RepeatsText,
    /// Trims resources.
    TrimsResource,
    /// Answers after `close`.
    NeverCloses,
}

impl SessionFlaw {
    /// Every flaw.
    pub const ALL: &'static [Self] = &[
        Self::FirstPage,
        Self::FollowsLoop,
        Self::MixesAnswers,
        Self::NoDeadline,
        Self::NoCancel,
        Self::HangsOnDeath,
        Self::Unbounded,
        Self::RepeatsText,
        Self::TrimsResource,
        Self::NeverCloses,
    ];
}

const TOOLS: usize = 7;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    Good,
    Looping,
    Bounded,
}

struct ScriptedSession {
    flaw: SessionFlaw,
    server: Server,
    identity: ServerIdentity,
    gone: AtomicBool,
    died: tokio::sync::Notify,
    cancelled: Arc<AtomicBool>,
}

/// Tells the "server" when a call is dropped before it ended.
struct OnDrop<'a>(Option<&'a AtomicBool>);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        if let Some(flag) = self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }
}

impl ScriptedSession {
    async fn slow(&self) -> Result<ToolResult, McpRefusal> {
        let mut guard = OnDrop((self.flaw != SessionFlaw::NoCancel).then_some(&*self.cancelled));
        let seconds = if self.flaw == SessionFlaw::NoDeadline { 3600 } else { 2 };
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
            () = self.died.notified(), if self.flaw != SessionFlaw::HangsOnDeath => {
                return Err(McpRefusal::Closed { operation: "tools/call".into() });
            }
        }
        if self.flaw == SessionFlaw::HangsOnDeath && self.gone.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        guard.0 = None;
        Err(McpRefusal::Timeout { operation: "tools/call".into(), seconds: 2 })
    }
}

#[async_trait]
impl McpSession for ScriptedSession {
    fn server(&self) -> &ServerIdentity {
        &self.identity
    }

    async fn list_tools(&self) -> Result<Vec<ToolDescription>, McpRefusal> {
        if self.server == Server::Looping && self.flaw != SessionFlaw::FollowsLoop {
            return Err(McpRefusal::ListingLoop { operation: "tools/list".into() });
        }
        let count = if self.flaw == SessionFlaw::FirstPage { TOOLS / 2 } else { TOOLS };
        let tool = |number: usize| ToolDescription {
            name: format!("tool{number}"),
            title: None,
            description: None,
            input_schema: Json::from([("type", Json::from("object"))]),
            output_schema: None,
            hints: ToolHints::default(),
            meta: scion_domain::json::JsonObject::new(),
        };
        Ok((0..count).map(tool).collect())
    }

    async fn list_resources(&self) -> Result<Vec<ResourceDescription>, McpRefusal> {
        Ok(vec![])
    }

    async fn read_resource(&self, uri: &str) -> Result<ResourceBody, McpRefusal> {
        if uri != "connector://status" {
            return Err(McpRefusal::UnknownResource { uri: uri.into() });
        }
        let bytes = if self.flaw == SessionFlaw::TrimsResource { b"o".to_vec() } else { b"ok".to_vec() };
        Ok(ResourceBody { uri: uri.into(), bytes, ..ResourceBody::default() })
    }

    async fn call_tool(&self, call: &ToolCall) -> Result<ToolResult, McpRefusal> {
        if self.gone.load(Ordering::Relaxed) && self.flaw != SessionFlaw::NeverCloses {
            return Err(McpRefusal::Closed { operation: "tools/call".into() });
        }
        let text = call.arguments.get("text").and_then(Json::as_str).unwrap_or_default().to_owned();
        let answer = |text: String| ToolResult { texts: vec![text], ..ToolResult::default() };
        match call.tool.as_str() {
            "slow" => self.slow().await,
            "die" => {
                self.gone.store(true, Ordering::Relaxed);
                self.died.notify_waiters();
                Err(McpRefusal::Closed { operation: "tools/call".into() })
            }
            "huge" if self.server == Server::Bounded && self.flaw != SessionFlaw::Unbounded => {
                Err(McpRefusal::TooLarge { operation: "tools/call".into(), limit: 65_536 })
            }
            "fail" => Ok(ToolResult { is_error: true, ..answer("hunter2".into()) }),
            "raise" if self.flaw == SessionFlaw::RepeatsText => Err(McpRefusal::ToolFailed { tool: "hunter2".into() }),
            "raise" => Err(McpRefusal::ToolFailed { tool: "raise".into() }),
            _ if self.flaw == SessionFlaw::MixesAnswers => Ok(answer("caller 0".into())),
            _ => Ok(answer(text)),
        }
    }

    async fn changes(&self, _resource_uris: &[String]) -> Result<Box<dyn ChangeFeed>, McpRefusal> {
        Err(McpRefusal::Unsupported { operation: "changes".into() })
    }

    async fn close(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}

/// A fixture of flawed sessions.
#[derive(Debug)]
pub struct FlawedSessions {
    flaw: SessionFlaw,
    cancelled: Arc<AtomicBool>,
}

impl FlawedSessions {
    /// With a flaw.
    pub fn new(flaw: SessionFlaw) -> Self {
        Self { flaw, cancelled: Arc::default() }
    }

    fn make(&self, server: Server) -> Arc<dyn McpSession> {
        self.cancelled.store(false, Ordering::Relaxed);
        let identity = ServerIdentity {
            name: "scripted".into(),
            version: "1".into(),
            protocol_version: "2025-11-25".into(),
            list_changed: false,
            subscribe: false,
        };
        let cancelled = self.cancelled.clone();
        let (gone, died) = (AtomicBool::new(false), tokio::sync::Notify::new());
        Arc::new(ScriptedSession { flaw: self.flaw, server, identity, gone, died, cancelled })
    }
}

#[async_trait]
impl SessionFixture for FlawedSessions {
    async fn open(&self) -> Arc<dyn McpSession> {
        self.make(Server::Good)
    }

    async fn looping(&self) -> Arc<dyn McpSession> {
        self.make(Server::Looping)
    }

    async fn dying(&self) -> Arc<dyn McpSession> {
        self.make(Server::Good)
    }

    async fn bounded(&self) -> Arc<dyn McpSession> {
        self.make(Server::Bounded)
    }

    async fn saw_cancellation(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn tools(&self) -> usize {
        TOOLS
    }
}
