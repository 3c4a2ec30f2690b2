//! A real OpenBao server in dev mode, on loopback.
//!
//! The program is `SCION_OPENBAO_BIN`, or `bao` on the path; `scripts/lib/openbao.sh` fetches it. Without it a test says
//! `skipped`, and fails when `SCION_OPENBAO_REQUIRED` is set, as it is in the full test command.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::HashMap;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use scion_domain::credential::{CredentialRefusal, CredentialRequest, SecretRef, StoreLogin, StoreSettings};
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{Bytes, HeaderValue, HttpProfile, HttpRefusal, Method, OutboundRequest, Url};
use scion_domain::id::ConnectorName;
use scion_domain::secret::Secret;
use scion_http::Dialer;
use scion_openbao::OpenBao;
use scion_ports::{CredentialProvider, HttpDialer as _, HttpExchange, InboundResponse};
use serde_json::{Value, json};

pub(crate) const ROOT: &str = "root-token-of-a-test";

fn program() -> Option<String> {
    let named = std::env::var("SCION_OPENBAO_BIN").ok().filter(|program| !program.is_empty());
    let program = named.unwrap_or_else(|| "bao".to_owned());
    let works = Command::new(&program).arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    works.is_ok_and(|status| status.success()).then_some(program)
}

/// A server with its data in memory; it ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    pub(crate) exchange: Arc<Counted>,
    pub(crate) unseal_key: String,
    home: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An exchange that counts.
pub(crate) struct Counted {
    inner: Arc<dyn HttpExchange>,
    pub(crate) sent: AtomicUsize,
}

#[async_trait]
impl HttpExchange for Counted {
    async fn send(&self, request: OutboundRequest) -> Result<InboundResponse, HttpRefusal> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        self.inner.send(request).await
    }
}

pub(crate) async fn exchange() -> Arc<Counted> {
    let profile = HttpProfile {
        egress: EgressPolicy { allow_loopback: true, ..EgressPolicy::default() },
        ..HttpProfile::default()
    };
    Arc::new(Counted { inner: Dialer::builder().build().open(&profile).await.unwrap(), sent: AtomicUsize::new(0) })
}

impl Server {
    /// Starts one; `None` when the program is not there.
    pub(crate) async fn start() -> Option<Self> {
        let Some(program) = program() else {
            assert!(std::env::var_os("SCION_OPENBAO_REQUIRED").is_none(), "OpenBao is not there");
            eprintln!("skipped: no OpenBao server (scripts/lib/openbao.sh fetches one)");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let home = tempfile::tempdir().unwrap();
        let log = std::fs::File::create(home.path().join("log")).unwrap();
        let child = Command::new(program)
            .args(["server", "-dev", "-dev-no-store-token"])
            .arg(format!("-dev-root-token-id={ROOT}"))
            .arg(format!("-dev-listen-address=127.0.0.1:{port}"))
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, port, exchange: exchange().await, unseal_key: String::new(), home };
        for _ in 0..300 {
            let log = std::fs::read_to_string(server.home.path().join("log")).unwrap();
            let key = log.lines().find_map(|line| line.strip_prefix("Unseal Key: "));
            if let Some(key) = key
                && server.call(Method::GET, "sys/health", None).await.0 == 200
            {
                server.unseal_key = key.trim().to_owned();
                return Some(server);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server did not start");
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A call as the operator; the status and the answer.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        self.call_in("", method, path, body).await
    }

    pub(crate) async fn call_in(&self, ns: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let url = Url::parse(&format!("{}/v1/{path}", self.address())).unwrap();
        let mut request = OutboundRequest::new(method, url);
        request.headers.insert("x-vault-token", HeaderValue::from_static(ROOT));
        if !ns.is_empty() {
            request.headers.insert("x-vault-namespace", HeaderValue::from_str(ns).unwrap());
        }
        request.body = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let Ok(mut response) = self.exchange.inner.send(request).await else { return (0, Value::Null) };
        let body = response.bytes().await.unwrap();
        (response.head.status.as_u16(), serde_json::from_slice(&body).unwrap_or_default())
    }

    /// A call that must succeed.
    pub(crate) async fn must(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(Method::POST, path, Some(body)).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// Stores a secret in the engine of version 2 that dev mode mounts.
    pub(crate) async fn put(&self, path: &str, fields: Value) {
        self.must(&format!("secret/data/{path}"), json!({"data": fields})).await;
    }

    /// A policy that lets read below one path of an engine, and a name for it.
    pub(crate) async fn policy(&self, name: &str, path: &str) {
        let rules = format!("path \"{path}\" {{ capabilities = [\"read\"] }}");
        self.must(&format!("sys/policies/acl/{name}"), json!({"policy": rules})).await;
    }

    /// A token with a policy.
    pub(crate) async fn token(&self, policy: &str, ttl: &str) -> String {
        let body = json!({"policies": [policy], "ttl": ttl});
        self.must("auth/token/create", body).await["auth"]["client_token"].as_str().unwrap().to_owned()
    }

    /// A role of `auth/approle`, its id and a secret id.
    pub(crate) async fn app_role(&self, name: &str, role: Value) -> (String, String) {
        let path = format!("auth/approle/role/{name}");
        self.must(&path, role).await;
        let (_, id) = self.call(Method::GET, &format!("{path}/role-id"), None).await;
        let secret = self.must(&format!("{path}/secret-id"), json!({})).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&id["data"]["role_id"]), text(&secret["data"]["secret_id"]))
    }

    /// The provider under test.
    pub(crate) fn open(&self, login: StoreLogin, secrets: &Arc<Bootstrap>) -> OpenBao {
        self.open_with(&StoreSettings::new(&self.address(), login).unwrap(), secrets)
    }

    pub(crate) fn open_with(&self, settings: &StoreSettings, secrets: &Arc<Bootstrap>) -> OpenBao {
        let owner = ConnectorName::parse("scion").unwrap();
        OpenBao::new(settings, self.exchange.clone(), secrets.clone(), owner).unwrap()
    }
}

/// The secrets of logins, which a test can change.
#[derive(Default)]
pub(crate) struct Bootstrap(Mutex<HashMap<String, String>>);

impl Bootstrap {
    pub(crate) fn with(pairs: &[(&str, &str)]) -> Arc<Self> {
        let bootstrap = Self::default();
        for (name, value) in pairs {
            bootstrap.put(name, value);
        }
        Arc::new(bootstrap)
    }

    pub(crate) fn put(&self, reference: &str, value: &str) {
        self.0.lock().unwrap().insert(reference.to_owned(), value.to_owned());
    }
}

#[async_trait]
impl CredentialProvider for Bootstrap {
    async fn resolve(&self, request: &CredentialRequest) -> Result<Secret<String>, CredentialRefusal> {
        let reference = request.reference.to_string();
        let value = self.0.lock().unwrap().get(&reference).cloned();
        value.map(Secret::new).ok_or(CredentialRefusal::Missing { reference })
    }
}

pub(crate) fn reference(text: &str) -> SecretRef {
    SecretRef::parse(text).unwrap()
}

pub(crate) fn by_token() -> StoreLogin {
    StoreLogin::Token { token_ref: reference("env://BAO_TOKEN") }
}

pub(crate) fn by_role() -> StoreLogin {
    StoreLogin::app_role(reference("env://ROLE_ID"), reference("env://SECRET_ID"))
}

pub(crate) async fn resolve(provider: &dyn CredentialProvider, text: &str) -> Result<String, CredentialRefusal> {
    let connector = ConnectorName::parse("desk-mcp").unwrap();
    let request = CredentialRequest { connector, reference: reference(text) };
    provider.resolve(&request).await.map(|value| value.expose().clone())
}
