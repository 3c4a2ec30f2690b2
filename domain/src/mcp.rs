//! What an MCP session talks about, free of any MCP library.

use crate::json::{Json, JsonObject};
use crate::refusals;

/// Who answered the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.version`.
    pub version: String,
    /// The negotiated protocol version, for example `2025-11-25`.
    pub protocol_version: String,
    /// Whether the server announces change notifications for tools, prompts or resources.
    pub list_changed: bool,
    /// Whether the server lets a client subscribe to resources.
    pub subscribe: bool,
}

/// The hints a tool carries (MCP `ToolAnnotations`); `None` when the server is silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

impl ToolHints {
    /// A source may only call tools that say they are read-only and do not say they are destructive (R004.22).
    pub fn is_read_only(&self) -> bool {
        self.read_only == Some(true) && self.destructive != Some(true)
    }
}

/// One tool as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolDescription {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// `inputSchema`, as served.
    pub input_schema: Json,
    /// `outputSchema`, as served.
    pub output_schema: Option<Json>,
    /// Hints.
    pub hints: ToolHints,
    /// `_meta`.
    pub meta: JsonObject,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: JsonObject,
}

/// What a tool gives beside its text: a further content block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// A picture.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A sound.
    Audio {
        /// Its media type.
        media_type: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// A resource of the server that the client can read.
    Link(ResourceDescription),
    /// A resource with its body.
    Resource(ResourceBody),
}

/// What a call answered. Decode it with [`ToolResult::decode`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResult {
    /// The text blocks, in order.
    pub texts: Vec<String>,
    /// What comes behind the texts. A client that reads records does not look at it.
    pub attachments: Vec<Attachment>,
    /// Members of the result's `_meta` beside those of the protocol.
    pub meta: JsonObject,
    /// `structuredContent`.
    pub structured: Option<Json>,
    /// The server marked the structured value as wrapped in `result` (`_meta.fastmcp.wrap_result`, or the
    /// `x-fastmcp-wrap-result` member of the output schema).
    pub wrapped: bool,
    /// `isError`.
    pub is_error: bool,
}

impl Attachment {
    /// The bytes of what it carries; those of a link are its URI's.
    pub fn size(&self) -> usize {
        match self {
            Self::Image { bytes, .. } | Self::Audio { bytes, .. } => bytes.len(),
            Self::Link(described) => described.uri.len(),
            Self::Resource(body) => body.bytes.len(),
        }
    }
}

/// One resource as listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceDescription {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its size in bytes, where that is known.
    pub size: Option<u64>,
    /// `_meta`.
    pub meta: JsonObject,
}

/// A family of resources whose URIs follow a template (RFC 6570, level 1 and `{name*}`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The template of the URIs.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the resources are.
    pub description: Option<String>,
    /// The media type, when all have the same.
    pub media_type: Option<String>,
    /// `_meta`.
    pub meta: JsonObject,
}

/// The body of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceBody {
    /// The URI asked for.
    pub uri: String,
    /// The media type. Bytes that are text travel as text, others in base64.
    pub media_type: Option<String>,
    /// The exact bytes.
    pub bytes: Vec<u8>,
    /// `_meta`.
    pub meta: JsonObject,
}

/// One prompt as listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptDescription {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
    /// `_meta`.
    pub meta: JsonObject,
}

/// One argument of a prompt; its value is a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether the prompt needs it.
    pub required: bool,
}

/// A prompt as `prompts/get` answers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptBody {
    /// What it is for.
    pub description: Option<String>,
    /// The messages, at least one.
    pub messages: Vec<PromptMessage>,
    /// `_meta`.
    pub meta: JsonObject,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: PromptRole,
    /// What is said.
    pub content: PromptContent,
}

/// Who says a message of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptRole {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// What a message of a prompt holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptContent {
    /// A text.
    Text(String),
    /// Something else.
    Attachment(Attachment),
}

/// What a client that fills in an argument asks (MCP `completion/complete`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionRequest {
    /// What the argument belongs to.
    pub target: CompletionTarget,
    /// Its name.
    pub argument: String,
    /// What is typed so far.
    pub value: String,
    /// The other arguments that are filled in already.
    pub known: std::collections::BTreeMap<String, String>,
}

/// What a completed argument belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionTarget {
    /// A prompt, by its name.
    Prompt(String),
    /// A family of resources, by its template.
    Template(String),
}

/// Values an argument may have, the likeliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The values, at most [`MAX_COMPLETIONS`].
    pub values: Vec<String>,
    /// How many there are in all, where that is known.
    pub total: Option<u32>,
    /// Whether there are more than those given.
    pub has_more: bool,
}

/// The most values of one completion (MCP).
pub const MAX_COMPLETIONS: usize = 100;

/// Something changed on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerChange {
    /// The tool list.
    Tools,
    /// The prompt list.
    Prompts,
    /// The resource list.
    Resources,
    /// One resource.
    Resource(String),
}

refusals! {
    /// Why a conversation with an MCP server did not succeed. Peer error texts are never repeated.
    pub enum McpRefusal {
        /// The command could not be started.
        StartFailed { program: String, reason: &'static str } => "server_start_failed", CallerMistake, Never,
            "cannot start `{program}`: {reason}", "check endpoint.command: it must be an executable file or a name on PATH";
        /// The child ended before it answered.
        Exited { program: String, status: String } => "server_exited", PeerMisbehaved, Later,
            "`{program}` ended ({status}) before it answered", "run the command by hand and read what it prints on standard error";
        /// The child wrote something that is not a protocol message on standard output.
        NoiseOnStdout { program: String } => "server_noise_on_stdout", PeerMisbehaved, Never,
            "`{program}` prints something that is not an MCP message on standard output",
            "standard output of a stdio server carries protocol messages only; send its logs to standard error";
        /// Nobody answers at the address.
        Unreachable { endpoint: String } => "server_unreachable", Unavailable, Later,
            "nothing answers at {endpoint}", "check that the server runs and that endpoint.url is right";
        /// A server behind a URL, and no HTTP client to reach it with.
        NoHttpClient { endpoint: String } => "endpoint_without_http", CallerMistake, Never,
            "no HTTP client is configured to reach {endpoint}", "give the MCP client an HttpExchange";
        /// The HTTP client may not, or cannot, go there; `reason` is the code of its refusal.
        NotDialled { endpoint: String, reason: &'static str } => "endpoint_not_dialled", Denied, Never,
            "{endpoint} is not dialled ({reason})", "use https to a host that may be reached, or fix the profile the code names";
        /// The certificate is not acceptable.
        Tls { endpoint: String } => "server_tls_failed", PeerMisbehaved, Never,
            "the TLS certificate or handshake of {endpoint} is not acceptable", "name a TLS profile with the right CA";
        /// A secret the endpoint names cannot be had. The reference is not repeated: it may be a secret put in the wrong place.
        CredentialUnresolved { setting: String, reason: &'static str } => "endpoint_credential_unresolved", CallerMistake, Never,
            "the reference in {setting} cannot be resolved: {reason}",
            "write env://NAME or openbao://MOUNT/PATH#FIELD there, and make sure the secret is set";
        /// The secret store does not answer.
        CredentialUnavailable { setting: String } => "endpoint_credential_unavailable", Unavailable, Later,
            "the secret store behind {setting} does not answer", "check the secret store";
        /// The endpoint's OAuth client gets no token; `code` is the code of the refusal behind it.
        LoginRefused { setting: &'static str, code: &'static str } => "endpoint_login_refused", Denied, Never,
            "{setting} gives no access token ({code})", "ask `scion explain` about the code in brackets, and check the secret behind client_secret_ref";
        /// The endpoint's OAuth client cannot get a token now; `code` is the code of the refusal behind it.
        LoginUnavailable { setting: &'static str, code: &'static str } => "endpoint_login_unavailable", Unavailable, Later,
            "{setting} gives no access token now ({code})", "check the authorization server and the secret store";
        /// The server wants other credentials.
        Unauthorized { endpoint: String } => "server_unauthorized", Denied, Never,
            "{endpoint} refuses the credentials", "check bearer_token or client_credentials of this connector";
        /// The peer does not speak MCP, or no version in common.
        Handshake { endpoint: String } => "server_handshake_failed", PeerMisbehaved, Never,
            "{endpoint} does not complete an MCP handshake", "check that this is an MCP endpoint and that it supports 2025-11-25 or 2026-07-28";
        /// The deadline passed.
        Timeout { operation: String, seconds: u64 } => "server_timeout", Unavailable, Later,
            "{operation} took longer than {seconds} s", "raise timeout_seconds, or find out why the server is slow";
        /// The session ended.
        Closed { operation: String } => "session_closed", Unavailable, Later,
            "the session ended during {operation}", "connect again";
        /// A message is larger than allowed.
        TooLarge { operation: String, limit: usize } => "message_too_large", PeerMisbehaved, Never,
            "the answer to {operation} is larger than {limit} bytes", "ask for smaller pages";
        /// The tool does not exist.
        UnknownTool { tool: String } => "unknown_tool", CallerMistake, Never,
            "the server has no tool `{tool}`", "check the tool name against `tools/list`";
        /// The arguments were refused.
        ArgumentsRefused { tool: String } => "arguments_refused", CallerMistake, Never,
            "`{tool}` refuses its arguments", "compare the preset's params and arguments with the tool's input schema";
        /// The server refuses to fill a prompt in.
        PromptRejected { prompt: String } => "prompt_rejected", CallerMistake, Never,
            "the server refuses to fill in the prompt `{prompt}`", "compare the arguments with the prompt's definition";
        /// The tool answered with an error.
        ToolFailed { tool: String } => "tool_failed", PeerMisbehaved, Later,
            "`{tool}` answered with an error", "look at the server's own log; the error text is not repeated here";
        /// The server is limiting its callers.
        RateLimited { operation: String } => "server_rate_limited", Unavailable, Later,
            "the server limits {operation}", "lower the pace of this connector";
        /// Access to the operation was denied.
        AccessDenied { operation: String } => "server_access_denied", Denied, Never,
            "the server denies {operation}", "ask for the scope this operation needs";
        /// The resource does not exist.
        UnknownResource { uri: String } => "unknown_resource", CallerMistake, Never,
            "the server has no resource {uri}", "check the URI against `resources/list`";
        /// A listing never ends or repeats a cursor.
        ListingLoop { operation: String } => "listing_loop", PeerMisbehaved, Never,
            "{operation} repeats a page", "fix the server's paging";
        /// An answer that is not what the protocol says.
        Malformed { operation: String } => "answer_malformed", PeerMisbehaved, Never,
            "the answer to {operation} is not what the protocol says", "fix the server, or report it to its author";
        /// The server cannot do this.
        Unsupported { operation: String } => "operation_unsupported", CallerMistake, Never,
            "the server does not offer {operation}", "use a server that does";
    }
}

impl ToolResult {
    /// The bytes of its texts and attachments, before a transport encodes them.
    pub fn size(&self) -> usize {
        let texts = self.texts.iter().map(String::len);
        texts.chain(self.attachments.iter().map(Attachment::size)).fold(0, usize::saturating_add)
    }

    /// The answer of a tool that says no: its one text is `code: message; next step`, and nothing else.
    pub fn refused(refusal: &dyn crate::refusal::Refusal) -> Self {
        let text = format!("{}: {}; {}", refusal.code(), refusal, refusal.next_step());
        Self { texts: vec![text], is_error: true, ..Self::default() }
    }

    /// The value of a result, text first (`wire/mcp-surface.md` 2.5): all text blocks joined by newlines and parsed; text
    /// that is not JSON stays text; with no text at all, the structured value, unwrapped when it is marked as wrapped.
    /// A result with neither is `null`.
    pub fn decode(&self, limits: crate::json::JsonLimits) -> Result<Json, crate::json::JsonRefusal> {
        use crate::json::JsonRefusal;
        if self.texts.is_empty() {
            return Ok(match (&self.structured, self.wrapped) {
                (Some(Json::Object(members)), true) if members.len() == 1 && members.contains_key("result") => {
                    members["result"].clone()
                }
                (Some(value), _) => value.clone(),
                (None, _) => Json::Null,
            });
        }
        let joined;
        let text = if let [only] = self.texts.as_slice() {
            only.as_str()
        } else {
            joined = self.texts.join("\n");
            joined.as_str()
        };
        match crate::json::parse_with(text.as_bytes(), limits) {
            Ok(value) => Ok(value),
            Err(JsonRefusal::Malformed { .. }) => Ok(Json::String(text.to_owned())),
            Err(other) => Err(other),
        }
    }
}
