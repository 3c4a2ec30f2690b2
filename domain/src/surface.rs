//! What a server shows and refuses (the models of the `ToolSurface` port), free of any MCP library.

use std::sync::Arc;
use std::time::Duration;

use crate::id::TenantId;
use crate::refusals;
use crate::secret::Secret;
use crate::served_security::VerifiedToken;
use crate::tool_context::{RecoveryRequest, TraceId};
use crate::tool_surface::ListingFilter;

/// Who serves: the answer to the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceIdentity {
    /// The connector's one declared name (`serverInfo.name`, SDK-CONNECTOR-CONTROL-R071).
    pub name: String,
    /// The connector's version, from its package metadata (`serverInfo.version`, R071.2).
    pub version: String,
    /// A name for people.
    pub title: Option<String>,
    /// How to use the server, for models and people.
    pub instructions: Option<String>,
}

/// Who is calling, as the host or the transport verified it. No part of it is ever read from the parameters of a call, so it
/// cannot be read from JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallerIdentity {
    /// The tenant.
    pub tenant: TenantId,
    /// The person or service.
    pub principal: String,
    /// The program that acts for it.
    pub client: String,
}

impl CallerIdentity {
    /// An identity; principal and client have 1 to 256 characters, without control characters. `None` for others.
    pub fn new(tenant: TenantId, principal: impl Into<String>, client: impl Into<String>) -> Option<Self> {
        let (principal, client) = (principal.into(), client.into());
        let good = |text: &str| (1..=256).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        (good(&principal) && good(&client)).then_some(Self { tenant, principal, client })
    }
}

/// What is known about the request behind an operation. All of it comes from the transport or the host, none of it from the
/// parameters of a call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CallScope {
    /// The protocol version the request was made under, when the transport knows it.
    pub protocol_version: Option<String>,
    /// Who is calling. `None` where nobody verified it: on standard input and output, unless the host that started the process
    /// said who its peer is.
    pub caller: Option<CallerIdentity>,
    /// The access token behind `caller`, where the transport verified one.
    pub token: Option<Arc<PresentedToken>>,
    /// The session: one per conversation, or per caller where the protocol has none.
    pub session: Option<Arc<str>>,
    /// The request's own id, as the client wrote it.
    pub request: Option<Arc<str>>,
    /// What the caller asked to see (`wire/mcp-surface.md` 0.7).
    pub filter: Option<Arc<ListingFilter>>,
    /// The time the call has in all, where the transport bounds it.
    pub time_limit: Option<Duration>,
    /// The trace the caller's request is part of.
    pub trace: Option<TraceId>,
    /// The earlier request whose result the caller wants, in place of a new call.
    pub recovers: Option<Arc<RecoveryRequest>>,
}

/// An access token as its client presented it, with what the verifier found in it.
pub struct PresentedToken {
    /// The token itself, for an exchange on the caller's behalf.
    pub text: Secret<String>,
    /// What the verifier found.
    pub verified: VerifiedToken,
}

impl std::fmt::Debug for PresentedToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PresentedToken").field("verified", &self.verified).finish_non_exhaustive()
    }
}

impl CallScope {
    /// A scope of one protocol version.
    pub fn of_version(protocol_version: Option<String>) -> Self {
        Self { protocol_version, ..Self::default() }
    }

    /// The same with a verified caller.
    #[must_use]
    pub fn with_caller(mut self, caller: Option<CallerIdentity>) -> Self {
        self.caller = caller;
        self
    }

    /// The same with the access token behind the caller.
    #[must_use]
    pub fn with_token(mut self, token: Option<Arc<PresentedToken>>) -> Self {
        self.token = token;
        self
    }

    /// The same in a session.
    #[must_use]
    pub fn with_session(mut self, session: Option<Arc<str>>) -> Self {
        self.session = session;
        self
    }

    /// The same for one request.
    #[must_use]
    pub fn with_request(mut self, request: Option<Arc<str>>) -> Self {
        self.request = request;
        self
    }

    /// The same with what the caller asked to see.
    #[must_use]
    pub fn with_filter(mut self, filter: Option<Arc<ListingFilter>>) -> Self {
        self.filter = filter;
        self
    }

    /// The same with the time the call has in all.
    #[must_use]
    pub const fn with_time_limit(mut self, time_limit: Option<Duration>) -> Self {
        self.time_limit = time_limit;
        self
    }

    /// The same as part of a trace.
    #[must_use]
    pub const fn with_trace(mut self, trace: Option<TraceId>) -> Self {
        self.trace = trace;
        self
    }

    /// The same for the result of an earlier request.
    #[must_use]
    pub fn with_recovery(mut self, recovers: Option<Arc<RecoveryRequest>>) -> Self {
        self.recovers = recovers;
        self
    }
}

refusals! {
    /// Why a surface does not answer. What a tool itself refuses is an answer (`isError`), not one of these.
    pub enum SurfaceRefusal {
        /// There is no such tool.
        UnknownTool { tool: String } => "surface_unknown_tool", CallerMistake, Never,
            "there is no tool `{tool}`", "use a name from tools/list";
        /// There is no such resource.
        UnknownResource { uri: String } => "surface_unknown_resource", CallerMistake, Never,
            "there is no resource {uri}", "use a URI from resources/list";
        /// There is no such prompt.
        UnknownPrompt { prompt: String } => "surface_unknown_prompt", CallerMistake, Never,
            "there is no prompt `{prompt}`", "use a name from prompts/list";
        /// The arguments of a prompt are not acceptable.
        PromptArguments { prompt: String, refusal: ArgumentRefusal } => "surface_prompt_arguments", CallerMistake, Never,
            "the prompt `{prompt}` does not take these arguments: {refusal}", "give the arguments that prompts/list names";
        /// The state of a repeated call was not made for it, was used already, or is too old.
        RequestState => "surface_request_state", CallerMistake, Never,
            "the state of the repeated call does not belong to it", "make the call again without a state";
        /// The tool needs something of its client that the client did not declare, such as `elicitation`.
        ClientCapability { capability: &'static str } => "surface_client_capability", CallerMistake, Never,
            "this needs a client that declares {capability}", "use a client that does";
        /// The surface cannot be listed or read now.
        Unavailable { what: &'static str } => "surface_unavailable", Unavailable, Later,
            "{what} is not available now", "try again later";
    }
}

refusals! {
    /// Why the arguments of a call are not acceptable.
    pub enum ArgumentRefusal {
        /// A required one is absent.
        Missing { name: String } => "argument_missing", CallerMistake, Never,
            "the argument `{name}` is missing", "give it, see the tool's input schema";
        /// It is of another type.
        WrongType { name: String, expected: &'static str } => "argument_wrong_type", CallerMistake, Never,
            "the argument `{name}` must be {expected}", "see the tool's input schema";
        /// It is outside its bounds.
        OutOfRange { name: String, minimum: i64, maximum: i64 } => "argument_out_of_range", CallerMistake, Never,
            "the argument `{name}` must be between {minimum} and {maximum}", "see the tool's input schema";
        /// A text is longer than allowed.
        TooLong { name: String, limit: usize } => "argument_too_long", CallerMistake, Never,
            "the argument `{name}` has more than {limit} characters", "shorten it";
        /// The tool has no such argument. The name is not repeated: the caller made it up.
        Unknown { tool: String } => "argument_unknown", CallerMistake, Never,
            "`{tool}` was given an argument it does not have", "use the arguments of the tool's input schema only";
    }
}

refusals! {
    /// What a surface answers in place of a tool that did not come to its own end.
    pub enum ToolFailure {
        /// The tool panicked.
        Panicked { tool: String } => "tool_panicked", PeerMisbehaved, Never,
            "`{tool}` failed inside", "report it to the connector's author; the server's standard error has the details";
        /// The tool did not answer in time.
        TimedOut { tool: String, seconds: u64 } => "tool_timed_out", Unavailable, Later,
            "`{tool}` did not answer within {seconds} s and was stopped", "ask for less, or try later";
        /// The tool's value is not what its output schema says.
        WrongShape { tool: String, expected: &'static str } => "tool_wrong_shape", PeerMisbehaved, Never,
            "`{tool}` gave a value that is not {expected}, against its own output schema", "report it to the connector's author";
        /// The answer is larger than allowed.
        TooLarge { tool: String, limit: usize } => "tool_answer_too_large", CallerMistake, Never,
            "the answer of `{tool}` has more than {limit} bytes", "ask for a smaller page";
    }
}

refusals! {
    /// Why a connector's declaration in code is not served.
    pub enum ConnectorRefusal {
        /// The declared name is not a fleet name.
        Name { refusal: crate::id::IdRefusal } => "connector_name_invalid", CallerMistake, Never,
            "{refusal}", "use lower-case letters, digits, `.`, `_` and `-`, for example the package name";
        /// There is no version.
        NoVersion => "connector_version_missing", CallerMistake, Never,
            "the connector has no version", "declare it with identity!(), which reads the package metadata";
        /// A tool that some client would not take, which can cost that client every tool of the server. `code` and `fix` are
        /// those of the finding behind it.
        Profile { code: &'static str, finding: crate::client_profile::ProfileFinding, fix: &'static str } => "tool_client_profile", CallerMistake, Never,
            "{finding} [{code}]; {fix}", "change the tool as said";
        /// A tool's version is not one short word.
        ToolVersion { tool: String } => "tool_version_invalid", CallerMistake, Never,
            "the version of `{tool}` is not one word of at most 64 characters", "write a version such as 1.2.0";
        /// Two tools share a name.
        DuplicateTool { tool: String, first: String, second: String } => "tool_duplicate", CallerMistake, Never,
            "two tools are called `{tool}`: {first} and {second}", "rename one";
        /// A group of tools is switched by a setting that says neither yes nor no. The setting's value is not repeated.
        Toggle { setting: String } => "tool_toggle_invalid", CallerMistake, Never,
            "the setting {setting} is neither true nor false", "set it to true or false, or leave it out";
        /// Groups of tools are declared, and plain tools beside them.
        RegistryAndTools => "tool_registry_conflict", CallerMistake, Never,
            "the connector declares groups of tools and plain tools beside them", "put each tool into a group, or add it with inline_tool";
        /// An action of a router that acts for its caller would be served by a tool that does not (R902.1).
        ActorDropped { router: String, action: String, tool: String } => "router_actor_dropped", CallerMistake, Never,
            "`{router}` requires an actor, but its action `{action}` is served by `{tool}`, which does not", "declare that tool with requires_actor, or the router without";
        /// A declared route cannot be served. `code` is the code of the refusal behind it.
        Route { code: &'static str, refusal: crate::served_route::RouteRefusal } => "connector_route_invalid", CallerMistake, Never,
            "{refusal} [{code}]", "give each route a path of its own";
        /// Two resources share a URI.
        DuplicateResource { uri: String } => "resource_duplicate", CallerMistake, Never,
            "two resources are served at {uri}", "change one";
        /// A source names a tool that is not there (R075.2).
        SourceTool { source: String, tool: String } => "source_tool_unknown", CallerMistake, Never,
            "the source `{source}` names the tool `{tool}`, which the connector does not have", "declare the tool, or fix the name";
        /// A source reads through a tool that may write.
        SourceNotReadOnly { source: String, tool: String } => "source_tool_not_read_only", CallerMistake, Never,
            "the source `{source}` reads through `{tool}`, which is not marked read-only", "declare the tool with Tool::read";
        /// A source would pass an argument the tool does not have.
        SourceArgument { source: String, tool: String, argument: String } => "source_argument_unknown", CallerMistake, Never,
            "the source `{source}` passes `{argument}`, which `{tool}` does not take", "name one of the tool's parameters";
        /// A record type has no mapping (R004.25).
        MappingMissing { source: String, record_type: String } => "mapping_missing", CallerMistake, Never,
            "the source `{source}` gives {record_type} records, which have no mapping", "add a mapping to the source or to the connector";
        /// A record type is mapped in two ways.
        MappingConflict { record_type: String } => "mapping_conflict", CallerMistake, Never,
            "{record_type} is mapped in two different ways", "keep one mapping per record type";
        /// An edge leads to a source that is not declared.
        EdgeTarget { source: String, target: String } => "source_edge_target_unknown", CallerMistake, Never,
            "an edge of the source `{source}` leads to the source `{target}`, which is not declared", "declare that source, or fix the name";
        /// The operations, routers or risk classes do not make tools. `code` is the code of the refusal behind it.
        Operations { code: &'static str, refusal: crate::tool_surface::ToolSurfaceRefusal } => "connector_operations_invalid", CallerMistake, Never,
            "{refusal} [{code}]", "fix the operation, the router or the declaration it names";
        /// The declared content is not acceptable. `code` is the code of the refusal behind it.
        Content { code: &'static str, refusal: crate::content::ContentRefusal } => "connector_content_invalid", CallerMistake, Never,
            "{refusal} [{code}]", "fix the file or the declaration it names";
        /// The assembled declaration is not acceptable.
        Declaration { refusal: crate::declaration::DeclarationRefusal } => "connector_declaration_invalid", CallerMistake, Never,
            "{refusal}", "fix the source it names";
    }
}

refusals! {
    /// Why a connector's process does not come as far as serving.
    pub enum StartRefusal {
        /// Nobody says where the vendor's API is.
        NoBaseUrl { variable: String } => "start_base_url_missing", CallerMistake, Never,
            "the connector has no base URL of its own, and {variable} is not set", "set it to the API's https URL";
        /// A rate that cannot be read.
        Rate { variable: String } => "start_rate_invalid", CallerMistake, Never,
            "{variable} is not a rate", "write a number and a unit, such as 10/s or 300/min";
        /// A network transport without a way to know its callers.
        NoCallers { needs: &'static str } => "start_callers_unknown", Denied, Never,
            "a network transport needs {needs}", "set it, or serve on standard input and output";
        /// The listener cannot be opened.
        Listen { host: String, port: u16, what: &'static str } => "start_listen_failed", CallerMistake, Never,
            "cannot listen on {host} port {port}: {what}", "choose a free port and an address of this machine";
    }
}

refusals! {
    /// Why a transport stopped serving.
    pub enum TransportRefusal {
        /// The peer's first messages are not an MCP opening.
        Opening => "serve_opening_failed", PeerMisbehaved, Never,
            "the client did not open the conversation as MCP says", "use an MCP client that speaks 2025-11-25 or 2026-07-28";
        /// Standard output cannot be set aside for the protocol.
        Stdio { what: &'static str } => "serve_stdio_unusable", Unavailable, Never,
            "cannot serve on standard input and output: {what}", "start the server with both connected to the client";
        /// A route beside the protocol cannot be served. `code` is the code of the refusal behind it.
        Route { code: &'static str, refusal: crate::served_route::RouteRefusal } => "serve_route_invalid", CallerMistake, Never,
            "{refusal} [{code}]", "give each route a path of its own";
        /// The certificate or the key of the listener cannot be used.
        Tls { what: &'static str } => "serve_tls_unusable", CallerMistake, Never,
            "the listener cannot speak TLS: {what}", "give a PEM certificate chain and its PKCS #8, PKCS #1 or SEC 1 key";
        /// The serving task itself failed.
        Broken => "serve_broken", Unavailable, Later,
            "serving stopped for an inner reason", "start the server again; standard error has the details";
    }
}

pub use crate::content::ContentRefusal;
