//! The desk, and the connector's process with a client.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::ClientServiceExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability,
};
use rmcp::service::{ClientLifecycleMode, RequestContext, RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::process::Command;

pub(crate) use desk::{DeskService, TOKEN};

/// A person at the client, who says the same to every question.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) says: Option<bool>,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Person {
    pub(crate) fn who_says(says: Option<bool>) -> Self {
        Self { says, asked: Arc::default() }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl rmcp::ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        if self.says.is_some() {
            info.capabilities.elicitation = Some(ElicitationCapability::default());
        }
        info
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let action = if self.says.is_some() { ElicitationAction::Accept } else { ElicitationAction::Decline };
        Ok(ElicitResult::new(action).with_content(json!({"confirmed": self.says})))
    }
}

/// The connector's program over this desk.
pub(crate) fn program(desk: &DeskService) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ticket-desk"));
    command.env_clear().env("DESK_BASE_URL", &desk.url).env("DESK_TOKEN", TOKEN).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A client of the program over standard input and output.
pub(crate) struct Client {
    session: RunningService<RoleClient, Person>,
}

impl Client {
    pub(crate) async fn start(desk: &DeskService, person: Person, mode: ClientLifecycleMode) -> Self {
        let transport = TokioChildProcess::new(program(desk)).unwrap();
        Self { session: person.serve_with_lifecycle(transport, mode).await.unwrap() }
    }

    pub(crate) async fn over(program: Command) -> Self {
        let transport = TokioChildProcess::new(program).unwrap();
        let person = Person::who_says(Some(true));
        Self { session: person.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await.unwrap() }
    }

    pub(crate) fn session(&self) -> &RunningService<RoleClient, Person> {
        &self.session
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().unwrap().clone();
        self.session.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
    }

    /// The structured value of a call that must succeed.
    pub(crate) async fn value(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{result:?}");
        result.structured_content.unwrap()
    }

    /// The text of a call that must be refused.
    pub(crate) async fn refusal(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        result.content[0].as_text().unwrap().text.clone()
    }
}
