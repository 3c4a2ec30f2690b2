//! A client in memory: what it answers, and everything it was told.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by several tests; a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use scion_domain::call::{Asking, CallOutcome, ChannelRefusal, Continuation, LogLine, ProgressNotice, Question, Reply};
use scion_domain::id::TenantId;
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::mcp::{ToolCall, ToolHints, ToolResult};
use scion_domain::surface::{CallScope, CallerIdentity, SurfaceRefusal};
use scion_ports::{CallChannel, ToolSurface as _, async_trait};
use scion_serve::{Connector, Identity, Param, ServedSurface, Tool, ToolBuilder, ToolRefusal};

pub const DESTRUCTIVE: ToolHints =
    ToolHints { read_only: Some(false), destructive: Some(true), idempotent: Some(true), open_world: Some(true) };
pub const WRITING: ToolHints =
    ToolHints { read_only: Some(false), destructive: Some(false), idempotent: Some(false), open_world: Some(true) };

/// How the client takes questions.
#[derive(Clone)]
pub enum Asks {
    Not,
    /// Answers at once; `None` never answers.
    Direct(Option<Result<Reply, ChannelRefusal>>),
    Repeated(Continuation),
}

pub struct Client {
    pub asks: Asks,
    pub token: bool,
    /// The notice from which on nothing arrives.
    pub deaf_from: usize,
    pub questions: Mutex<Vec<Question>>,
    pub notices: Mutex<Vec<ProgressNotice>>,
    pub lines: Mutex<Vec<LogLine>>,
}

impl Client {
    pub fn new(asks: Asks) -> Self {
        Self {
            asks,
            token: true,
            deaf_from: usize::MAX,
            questions: Mutex::default(),
            notices: Mutex::default(),
            lines: Mutex::default(),
        }
    }

    pub fn saying(reply: Reply) -> Self {
        Self::new(Asks::Direct(Some(Ok(reply))))
    }
}

#[async_trait]
impl CallChannel for Client {
    fn wants_progress(&self) -> bool {
        self.token
    }

    async fn progress(&self, notice: &ProgressNotice) -> Result<(), ChannelRefusal> {
        tokio::task::yield_now().await;
        let mut notices = self.notices.lock().unwrap();
        if notices.len() >= self.deaf_from {
            return Err(ChannelRefusal::Closed);
        }
        notices.push(notice.clone());
        Ok(())
    }

    async fn log(&self, line: &LogLine) -> Result<(), ChannelRefusal> {
        self.lines.lock().unwrap().push(line.clone());
        Ok(())
    }

    fn asking(&self) -> Asking<'_> {
        match &self.asks {
            Asks::Not => Asking::Unsupported,
            Asks::Direct(_) => Asking::Direct,
            Asks::Repeated(continuation) => Asking::Repeated(continuation),
        }
    }

    async fn ask(&self, question: &Question) -> Result<Reply, ChannelRefusal> {
        self.questions.lock().unwrap().push(question.clone());
        match &self.asks {
            Asks::Direct(Some(reply)) => reply.clone(),
            Asks::Direct(None) => std::future::pending().await,
            _ => Err(ChannelRefusal::Unsupported { what: "questions" }),
        }
    }
}

/// The vendor, who counts.
#[derive(Clone, Default)]
pub struct Backend(Arc<AtomicUsize>);

impl Backend {
    pub fn hit(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub fn hits(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

pub fn deleting(name: &str) -> ToolBuilder {
    Tool::with_hints(name, DESTRUCTIVE).param(Param::integer("ticket_id", "The ticket").between(1, 1000))
}

/// A desk with one destructive tool that always works.
pub fn desk(backend: &Backend) -> ServedSurface {
    let backend = backend.clone();
    of(deleting("desk_delete_ticket").handle(move |_context, _args| {
        backend.hit();
        async { Ok::<_, ToolRefusal>(Json::from([("deleted", true.into())])) }
    }))
}

pub fn of(tool: Tool) -> ServedSurface {
    Connector::builder(Identity::new("desk-mcp", "1.0.0")).tool(tool).build().unwrap()
}

pub fn object(text: &str) -> JsonObject {
    parse(text).unwrap().as_object().unwrap().clone()
}

pub fn accepted(text: &str) -> Reply {
    Reply::Accepted(object(text))
}

pub fn yes() -> Reply {
    accepted(r#"{"confirmed":true}"#)
}

pub fn caller(tenant: &str, principal: &str) -> CallerIdentity {
    CallerIdentity::new(TenantId::parse(tenant).unwrap(), principal, "cli").unwrap()
}

pub fn scope_of(tenant: &str, request: &str) -> CallScope {
    CallScope::default().with_caller(Some(caller(tenant, "ada"))).with_request(Some(request.into()))
}

pub async fn call(
    surface: &ServedSurface,
    scope: &CallScope,
    client: &Arc<Client>,
    arguments: &str,
) -> Result<CallOutcome, SurfaceRefusal> {
    let tool = surface.list_tools(scope).await.unwrap().remove(0).name;
    let call = ToolCall { tool, arguments: object(arguments) };
    surface.call_tool(scope, Arc::clone(client) as Arc<dyn CallChannel>, call).await
}

/// A call that comes to its end.
pub async fn done(surface: &ServedSurface, scope: &CallScope, client: &Arc<Client>, arguments: &str) -> ToolResult {
    call(surface, scope, client, arguments).await.unwrap().done().unwrap()
}

pub fn continued(state: Option<&str>, replies: &[(&str, Reply)]) -> Arc<Client> {
    let replies: BTreeMap<_, _> = replies.iter().map(|(key, reply)| ((*key).to_owned(), reply.clone())).collect();
    Arc::new(Client::new(Asks::Repeated(Continuation { state: state.map(str::to_owned), replies })))
}

/// The member of the result's execution metadata.
pub fn meta<'r>(result: &'r ToolResult, member: &str) -> Option<&'r Json> {
    result.meta.get("team.knuckles/execution")?.get(member)
}

pub fn meta_text<'r>(result: &'r ToolResult, member: &str) -> Option<&'r str> {
    meta(result, member).and_then(Json::as_str)
}
