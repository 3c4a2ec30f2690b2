//! The way back to the client of one call, in either era.

#![expect(deprecated, reason = "clients of both eras still take log lines the way the protocol is about to drop")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceError};
use scion_domain::call::{Asking, ChannelRefusal, Continuation, LogLevel, LogLine, ProgressNotice, Question, Reply};
use scion_domain::json::Json;
use scion_ports::{CallChannel, async_trait};
use serde_json::Value;

/// The least severe line a client of the handshake era is sent; it may change it.
#[derive(Debug)]
pub(crate) struct Threshold(AtomicU8);

impl Default for Threshold {
    fn default() -> Self {
        Self(AtomicU8::new(LogLevel::Info as u8))
    }
}

impl Threshold {
    pub(crate) fn set(&self, level: LogLevel) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    fn get(&self) -> LogLevel {
        let level = self.0.load(Ordering::Relaxed);
        LogLevel::ALL.get(usize::from(level)).copied().unwrap_or(LogLevel::Info)
    }
}

pub(crate) struct PeerChannel {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    ways: Ways,
    /// The least severe line to send; `None` for no lines at all.
    level: Option<LogLevel>,
}

enum Ways {
    Unsupported,
    Direct,
    Repeated(Continuation),
}

impl PeerChannel {
    pub(crate) fn new(
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        threshold: &Threshold,
    ) -> Self {
        let enveloped = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let asked = context.client_capabilities().is_some_and(|capabilities| takes_forms(&capabilities));
        let ways = match (asked, enveloped) {
            (false, _) => Ways::Unsupported,
            (true, false) => Ways::Direct,
            (true, true) => Ways::Repeated(continuation(request)),
        };
        // A client of the enveloped era is sent lines only where it asked for them in this very request.
        let level = if enveloped { context.meta.log_level().map(level_of) } else { Some(threshold.get()) };
        Self { peer: context.peer.clone(), token: context.meta.get_progress_token(), ways, level }
    }
}

/// A capability without modes means forms.
fn takes_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

fn continuation(request: &mut CallToolRequestParams) -> Continuation {
    let replies: BTreeMap<String, Reply> = request
        .input_responses
        .take()
        .unwrap_or_default()
        .into_iter()
        .map(|(key, value)| (key, serde_json::from_value(value).map_or(Reply::Malformed, reply)))
        .collect();
    Continuation { state: request.request_state.take(), replies }
}

fn reply(result: ElicitResult) -> Reply {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(Value::Object(content))) => {
            Reply::Accepted(content.into_iter().map(|(key, value)| (key, Json::from(value))).collect())
        }
        (ElicitationAction::Decline, _) => Reply::Declined,
        (ElicitationAction::Cancel, _) => Reply::Cancelled,
        // Accepted without an object, or an action of a later protocol.
        _ => Reply::Malformed,
    }
}

fn form(question: &Question) -> Option<ElicitRequestParams> {
    let schema = Value::from(&Json::Object(question.schema.clone()));
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    let message = question.message.clone();
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// The answer of a call that needs replies first; `None` when a question cannot be asked in this protocol.
pub(crate) fn input_required(questions: &[Question], state: String) -> Option<InputRequiredResult> {
    let requests = questions
        .iter()
        .map(|question| Some((question.key.clone(), InputRequest::Elicitation(ElicitRequest::new(form(question)?)))))
        .collect::<Option<BTreeMap<_, _>>>()?;
    Some(InputRequiredResult::new(Some(requests), Some(state)))
}

pub(crate) fn level_of(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}

fn wire_level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}

fn closed(_failure: ServiceError) -> ChannelRefusal {
    ChannelRefusal::Closed
}

#[async_trait]
impl CallChannel for PeerChannel {
    fn wants_progress(&self) -> bool {
        self.token.is_some()
    }

    async fn progress(&self, notice: &ProgressNotice) -> Result<(), ChannelRefusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let mut params = ProgressNotificationParam::new(token.clone(), notice.completed);
        params.total = notice.total;
        params.message.clone_from(&notice.message);
        self.peer.notify_progress(params).await.map_err(closed)
    }

    async fn log(&self, line: &LogLine) -> Result<(), ChannelRefusal> {
        if self.level.is_none_or(|least| line.level < least) {
            return Ok(());
        }
        let params = LoggingMessageNotificationParam::new(wire_level(line.level), Value::from(&line.data));
        self.peer.notify_logging_message(params).await.map_err(closed)
    }

    fn asking(&self) -> Asking<'_> {
        match &self.ways {
            Ways::Unsupported => Asking::Unsupported,
            Ways::Direct => Asking::Direct,
            Ways::Repeated(continuation) => Asking::Repeated(continuation),
        }
    }

    async fn ask(&self, question: &Question) -> Result<Reply, ChannelRefusal> {
        let unsupported = ChannelRefusal::Unsupported { what: "such questions" };
        let (Ways::Direct, Some(form)) = (&self.ways, form(question)) else { return Err(unsupported) };
        match self.peer.create_elicitation(form).await {
            Ok(result) => Ok(reply(result)),
            Err(ServiceError::McpError(_)) => Err(unsupported),
            Err(ServiceError::UnexpectedResponse) => Err(ChannelRefusal::Malformed),
            Err(failure) => Err(closed(failure)),
        }
    }
}
