//! The protocol library's server handler over a surface.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use scion_domain::call::CallOutcome;
use scion_domain::json::JsonObject;
use scion_domain::mcp::{ToolCall, ToolResult};
use scion_domain::surface::{CallScope, CallerIdentity, SurfaceRefusal, ToolFailure};
use scion_domain::tool_context::TraceId;
use scion_domain::tool_surface::{ListingPolicy, ListingView};
use scion_ports::{CallChannel, ToolSurface};
use tokio::sync::Semaphore;

use crate::changes::{self, AbortOnDrop, Subscriptions};
use crate::channel::{PeerChannel, Threshold};
use crate::http::Caller;
use crate::{ServeOptions, channel, error, filtering, wire, wire_content};

pub(crate) struct Handler {
    surface: Arc<dyn ToolSurface>,
    options: ServeOptions,
    config: Arc<ServerConfig>,
    caller: Option<CallerIdentity>,
    policy: Arc<ListingPolicy>,
    calls: Arc<Semaphore>,
    subscriptions: Subscriptions,
    threshold: Threshold,
    notifying: Mutex<Option<AbortOnDrop<()>>>,
}

impl Handler {
    pub(crate) fn new(surface: Arc<dyn ToolSurface>, options: ServeOptions, caller: Option<CallerIdentity>) -> Self {
        let config = Arc::new(wire::server_config(surface.identity(), surface.completes()));
        Self {
            surface,
            options,
            config,
            caller,
            policy: Arc::default(),
            calls: Arc::new(Semaphore::new(options.max_calls.clamp(1, Semaphore::MAX_PERMITS))),
            subscriptions: Subscriptions::default(),
            threshold: Threshold::default(),
            notifying: Mutex::new(None),
        }
    }

    /// The same under a policy of what may be listed at all.
    pub(crate) fn with_policy(mut self, policy: Arc<ListingPolicy>) -> Self {
        self.policy = policy;
        self
    }

    /// A handler of one more conversation. The bound of calls at once is shared with this one; subscriptions are its own.
    pub(crate) fn another(&self) -> Self {
        Self {
            surface: Arc::clone(&self.surface),
            options: self.options,
            config: Arc::clone(&self.config),
            caller: self.caller.clone(),
            policy: Arc::clone(&self.policy),
            calls: Arc::clone(&self.calls),
            subscriptions: Subscriptions::default(),
            threshold: Threshold::default(),
            notifying: Mutex::new(None),
        }
    }

    /// What this caller sees; `None` for everything.
    fn view(&self, context: &RequestContext<RoleServer>) -> Option<ListingView<'_>> {
        filtering::view(&self.policy, of_http(context))
    }

    /// Whether the caller sees a tool of this name, a resource at this URI or a prompt of this name.
    async fn sees(&self, context: &RequestContext<RoleServer>, scope: &CallScope, used: Used<'_>) -> bool {
        let Some(view) = self.view(context) else { return true };
        let shown = |name: &str, meta: &JsonObject| view.shows(name, &filtering::tags(meta));
        match used {
            Used::Tool(name) => {
                let all = self.surface.list_tools(scope).await.unwrap_or_default();
                all.iter().any(|tool| tool.name == name && shown(&tool.name, &tool.meta))
            }
            Used::Prompt(name) => {
                let all = self.surface.list_prompts(scope).await.unwrap_or_default();
                all.iter().any(|prompt| prompt.name == name && shown(&prompt.name, &prompt.meta))
            }
            Used::Resource(uri) => {
                let all = self.surface.list_resources(scope).await.unwrap_or_default();
                // One of a template has no entry of its own; it goes by its URI.
                all.iter()
                    .find(|resource| resource.uri == uri)
                    .map_or_else(|| shown(uri, &JsonObject::new()), |resource| shown(&resource.name, &resource.meta))
            }
        }
    }

    /// A tool that panics or hangs costs one answer and not the conversation. The call stays in its request's own task, where the
    /// protocol library knows which request its notices and questions belong to.
    async fn call(
        &self,
        scope: CallScope,
        channel: Arc<dyn CallChannel>,
        call: ToolCall,
    ) -> Result<CallOutcome, SurfaceRefusal> {
        let tool = call.tool.clone();
        let called = AssertUnwindSafe(self.surface.call_tool(&scope, channel, call)).catch_unwind();
        let failure = match tokio::time::timeout(self.options.call_timeout, called).await {
            Ok(Ok(Ok(CallOutcome::Done(answer)))) if answer.size() > self.options.max_answer_bytes => {
                let failure = ToolFailure::TooLarge { tool, limit: self.options.max_answer_bytes };
                // What the call did stays said: its effect is not undone by an answer that is too long.
                return Ok(ToolResult { meta: answer.meta, ..ToolResult::refused(&failure) }.into());
            }
            Ok(Ok(answer)) => return answer,
            Ok(Err(_)) => ToolFailure::Panicked { tool },
            Err(_) => ToolFailure::TimedOut { tool, seconds: self.options.call_timeout.as_secs() },
        };
        Ok(ToolResult::refused(&failure).into())
    }

    fn scope(&self, context: &RequestContext<RoleServer>) -> CallScope {
        let version = context.protocol_version().map(|version| version.as_str().to_owned());
        let trace = context.meta.get_traceparent().and_then(TraceId::of_traceparent);
        let http = of_http(context).cloned().unwrap_or_default();
        CallScope::of_version(version)
            .with_caller(self.caller.clone().or(http.identity))
            .with_token(http.token)
            .with_session(http.session)
            .with_filter(http.filter)
            .with_request(Some(context.id.to_string().into()))
            .with_trace(trace)
    }

    /// Enveloped results name the server; handshake results do not.
    fn sign(&self, context: &RequestContext<RoleServer>, meta: &mut Option<MetaObject>) {
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            let identity = self.surface.identity();
            let server = serde_json::json!({ "name": identity.name, "version": identity.version });
            meta.get_or_insert_default().0.insert("io.modelcontextprotocol/serverInfo".to_owned(), server);
        }
    }
}

/// What a request uses.
#[derive(Clone, Copy)]
enum Used<'a> {
    Tool(&'a str),
    Prompt(&'a str),
    Resource(&'a str),
}

/// What the listener knows of the caller; `None` on other transports.
fn of_http(context: &RequestContext<RoleServer>) -> Option<&Caller> {
    context.extensions.get::<::http::request::Parts>()?.extensions.get()
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::clone(&self.config)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools =
            self.surface.list_tools(&self.scope(&context)).await.map_err(|refusal| error::protocol(&refusal))?;
        filtering::keep(self.view(&context).as_ref(), &mut tools, |tool| (&tool.name, &tool.meta));
        let mut result = ListToolsResult::with_all_items(tools.into_iter().map(wire::tool).collect());
        self.sign(&context, &mut result.meta);
        Ok(result)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let channel: Arc<dyn CallChannel> = Arc::new(PeerChannel::new(&mut request, &context, &self.threshold));
        let scope = self
            .scope(&context)
            .with_time_limit(Some(self.options.call_timeout))
            .with_recovery(wire::recovery(&context.meta));
        let call = ToolCall { tool: request.name.into_owned(), arguments: wire::arguments(request.arguments) };
        if !self.sees(&context, &scope, Used::Tool(&call.tool)).await {
            let tool = call.tool.chars().take(64).collect();
            return Err(error::protocol(&SurfaceRefusal::UnknownTool { tool }));
        }
        let answered = async {
            // The semaphore is never closed; the permit is only a turn.
            let _turn = self.calls.acquire().await;
            self.call(scope, channel, call).await
        };
        let answer = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(error::cancelled()),
            answer = answered => answer.map_err(|refusal| error::protocol(&refusal))?,
        };
        let answer = match answer {
            CallOutcome::Done(answer) => answer,
            CallOutcome::Asks { questions, state } => {
                let unavailable = || error::protocol(&SurfaceRefusal::Unavailable { what: "such a question" });
                let mut asks = channel::input_required(&questions, state).ok_or_else(unavailable)?;
                self.sign(&context, &mut asks.meta);
                return Ok(asks.into());
            }
        };
        let mut result = wire::tool_result(answer);
        self.sign(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut all =
            self.surface.list_resources(&self.scope(&context)).await.map_err(|refusal| error::protocol(&refusal))?;
        filtering::keep(self.view(&context).as_ref(), &mut all, |resource| (&resource.name, &resource.meta));
        let mut result = ListResourcesResult::with_all_items(all.into_iter().map(wire_content::resource).collect());
        self.sign(&context, &mut result.meta);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let scope = self.scope(&context);
        if !self.sees(&context, &scope, Used::Resource(&request.uri)).await {
            let uri = request.uri.chars().take(256).collect();
            return Err(error::protocol(&SurfaceRefusal::UnknownResource { uri }));
        }
        let read = self.surface.read_resource(&scope, &request.uri);
        let body = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(error::cancelled()),
            body = read => body.map_err(|refusal| error::protocol(&refusal))?,
        };
        let mut result = wire_content::resource_result(body);
        self.sign(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all = self.surface.list_resource_templates(&self.scope(&context)).await;
        let mut all = all.map_err(|refusal| error::protocol(&refusal))?;
        filtering::keep(self.view(&context).as_ref(), &mut all, |template| (&template.name, &template.meta));
        let all = all.into_iter().map(wire_content::template).collect();
        let mut result = ListResourceTemplatesResult::with_all_items(all);
        self.sign(&context, &mut result.meta);
        Ok(result)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut all =
            self.surface.list_prompts(&self.scope(&context)).await.map_err(|refusal| error::protocol(&refusal))?;
        filtering::keep(self.view(&context).as_ref(), &mut all, |prompt| (&prompt.name, &prompt.meta));
        let mut result = ListPromptsResult::with_all_items(all.into_iter().map(wire_content::prompt).collect());
        self.sign(&context, &mut result.meta);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let (scope, arguments) = (self.scope(&context), wire_content::prompt_arguments(request.arguments));
        if !self.sees(&context, &scope, Used::Prompt(&request.name)).await {
            let prompt = request.name.chars().take(64).collect();
            return Err(error::protocol(&SurfaceRefusal::UnknownPrompt { prompt }));
        }
        let got = self.surface.get_prompt(&scope, &request.name, arguments);
        let body = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(error::cancelled()),
            body = got => body.map_err(|refusal| error::protocol(&refusal))?,
        };
        let mut result = wire_content::prompt_result(body);
        self.sign(&context, &mut result.meta);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let Some(request) = wire_content::completion_request(request) else { return Ok(CompleteResult::default()) };
        let found = self.surface.complete(&self.scope(&context), request).await;
        let mut result = wire_content::completion(found.map_err(|refusal| error::protocol(&refusal))?);
        self.sign(&context, &mut result.meta);
        Ok(result)
    }

    #[expect(deprecated, reason = "clients of the handshake era still choose their level this way")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.threshold.set(channel::level_of(request.level));
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let task = changes::notify(self.surface.changes(), context.peer, self.subscriptions.clone());
        let mut slot = self.notifying.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(AbortOnDrop(tokio::spawn(task)));
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.subscriptions.add(request.uri) {
            return Ok(());
        }
        Err(error::protocol(&SurfaceRefusal::Unavailable { what: "one more subscription" }))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        changes::listen(self.surface.changes(), context).await;
        Ok(())
    }
}
