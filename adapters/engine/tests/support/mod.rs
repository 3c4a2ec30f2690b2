//! A real engine in a folder of its own.
//!
//! The program is `SCION_ENGINE_BIN`; `scripts/lib/engine.sh` fetches it. Without it a test says `skipped`, and fails when
//! `SCION_ENGINE_REQUIRED` is set, as it is in the full test command.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use scion_domain::secret::Secret;
use scion_engine::{
    Body, COMMONS, Call, Endpoint, EngineClient, EngineOptions, Identity, Repeats, RequestContext, Value, detached,
};
use scion_local::{SystemClock, SystemEntropy};

/// What the engine and its clients share in the signed mode.
pub(crate) const SECRET: &str = "test-secret-0123456789abcdef0123456789abcdef";
const SIGNER_KEY: &str = "signer-key-0123456789abcdef";

/// How requests are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Anonymous,
    Signed,
}

/// A running engine; it ends when this is dropped.
pub(crate) struct Engine {
    child: Child,
    program: String,
    mode: Mode,
    folder: tempfile::TempDir,
    arguments: Vec<String>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Engine {
    /// Starts one on an empty folder; `None` when the program is not there.
    pub(crate) async fn start(mode: Mode) -> Option<Self> {
        Self::start_with(mode, &[]).await
    }

    /// Starts one with more arguments.
    pub(crate) async fn start_with(mode: Mode, arguments: &[String]) -> Option<Self> {
        let Some(program) = std::env::var("SCION_ENGINE_BIN").ok().filter(|program| Path::new(program).is_file())
        else {
            assert!(std::env::var_os("SCION_ENGINE_REQUIRED").is_none(), "the engine is not there");
            eprintln!("skipped: no engine (scripts/lib/engine.sh fetches one)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let child = launch(&program, mode, folder.path(), arguments);
        let engine = Self { child, program, mode, folder, arguments: arguments.to_vec() };
        engine.answers().await;
        if mode == Mode::Signed {
            engine.register().await;
        }
        Some(engine)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("eg.sock")
    }

    /// A client in the engine's mode, with every scope.
    pub(crate) fn client(&self) -> EngineClient {
        self.client_with(&["*", "source:reconcile-empty"], EngineOptions::default())
    }

    /// Who a client in the engine's mode is.
    pub(crate) fn identity(&self, scopes: &[&str]) -> Identity {
        match self.mode {
            Mode::Anonymous => Identity::Anonymous,
            Mode::Signed => {
                Identity::Signed { context: Arc::new(context(scopes)), secret: Secret::new(SECRET.to_owned()) }
            }
        }
    }

    pub(crate) fn client_with(&self, scopes: &[&str], options: EngineOptions) -> EngineClient {
        let identity = self.identity(scopes);
        let endpoint = Endpoint::parse(&format!("unix://{}", self.socket().display())).unwrap();
        EngineClient::new(endpoint, identity, options, Arc::new(SystemClock::new()), Arc::new(SystemEntropy))
    }

    /// Kills the process, as a crash would, and starts it again on the same data.
    pub(crate) async fn crash_and_restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let _ = std::fs::remove_file(self.socket());
        self.child = launch(&self.program, self.mode, self.folder.path(), &self.arguments);
        self.answers().await;
    }

    async fn answers(&self) {
        let since = Instant::now();
        while let Err(refusal) = self.client_with(&["service:control"], EngineOptions::default()).ping().await {
            // An engine nobody is registered with says no, but it says so.
            if !matches!(refusal, scion_domain::engine::EngineRefusal::Unreachable { .. }) {
                return;
            }
            assert!(since.elapsed() < Duration::from_secs(30), "the engine does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Registers the first identity (`wire/engine-protocol.md` 2.3).
    async fn register(&self) {
        let body = |signature: &str| {
            Body::with(
                "RegisterIdentity",
                [
                    ("agent_id", "service:root".into()),
                    ("role", "System".into()),
                    ("teams", Value::List(Vec::new())),
                    ("signature", signature.into()),
                    ("roles", Value::List(Vec::new())),
                ],
            )
        };
        let key = "operation:first-identity";
        let context = context(&["security:bootstrap"]);
        let signer = Secret::new(SIGNER_KEY.to_owned());
        let signature = detached("service:root", &signer, &context, key, COMMONS, &body(""));
        let client = self.client_with(&["security:bootstrap"], EngineOptions::default());
        let call = Call { graph: COMMONS, body: body(&signature), idempotency_key: Some(key), repeats: Repeats::ByKey };
        client.call(call).await.unwrap();
    }
}

fn context(scopes: &[&str]) -> RequestContext {
    RequestContext {
        principal: "service:root".to_owned(),
        tenant: "tenant:acme".to_owned(),
        audience: "epistemic-graph".to_owned(),
        agent: "service:root".to_owned(),
        roles: Vec::new(),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        policy_version: "policy:current".to_owned(),
        delegation: Vec::new(),
    }
}

fn launch(program: &str, mode: Mode, folder: &Path, arguments: &[String]) -> Child {
    let mut command = Command::new(program);
    command.args(arguments);
    command.arg("--socket-path").arg(folder.join("eg.sock")).arg("--persist-dir").arg(folder.join("data"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    match mode {
        Mode::Anonymous => {
            command.args(["--auth-mode", "none"]);
        }
        Mode::Signed => {
            let signers = format!(
                r#"{{"service:root": {{"key": "{SIGNER_KEY}", "allowed_roles": [], "may_grant_system": true}}}}"#
            );
            command
                .env("GRAPH_SERVICE_AUTH_SECRET", SECRET)
                .env("EPISTEMIC_GRAPH_AUDIENCE", "epistemic-graph")
                .env("EPISTEMIC_GRAPH_TENANT", "tenant:acme")
                .env("EPISTEMIC_GRAPH_POLICY_VERSION", "policy:current")
                .env("EPISTEMIC_GRAPH_SIGNER_KEYS_JSON", signers)
                .env("EPISTEMIC_GRAPH_REQUIRE_OIDC", "false")
                .env("EPISTEMIC_GRAPH_ENCRYPTION_KEY", "test-encryption-key-0123456789abcdef0123456789");
        }
    }
    command.spawn().unwrap()
}
