//! `mcp-runner-client URL`: the test client of the runner's client scenarios. It opens a session with the MCP client of the sync runner
//! and the authorization a connector would have, lists the tools and calls each. The runner names the scenario and its context in the
//! environment.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use scion_auth::{
    LoginPolicy, McpClientIdentity, OutboundAuth, PersonLogin, ProgramLogin, ProgramProof, RegisteredClient,
};
use scion_domain::auth::{AuthUrl, JwtAlgorithm, PkceRefusal};
use scion_domain::config::{EndpointSpec, EndpointTarget};
use scion_domain::credential::SecretSource;
use scion_domain::egress::EgressPolicy;
use scion_domain::http::{HttpProfile, Method, OutboundRequest, Url, header};
use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::{ToolCall, ToolDescription};
use scion_domain::refusal::Refusal;
use scion_domain::secret::Secret;
use scion_http::Dialer;
use scion_jwt::Jwt;
use scion_local::{EnvCredentials, LoopbackCallback, SystemClock, SystemEntropy};
use scion_mcp_client::McpClient;
use scion_ports::{BrowserLauncher, HttpDialer as _, HttpExchange, McpConnector as _};
use serde_json::Value;

/// The address the runner expects where a server takes metadata documents.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        let _ = writeln!(std::io::stderr(), "usage: mcp-runner-client URL");
        return ExitCode::from(2);
    };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    match runtime.block_on(run(&url)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            let (code, next) = (refusal.code(), refusal.next_step());
            let _ = writeln!(std::io::stderr(), "error[{code}]: {refusal}\n  next: {next}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str) -> Result<(), Box<dyn Refusal>> {
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let connector = ConnectorName::parse("conformance-client").map_err(boxed)?;
    let egress = EgressPolicy { allow_loopback: true, ..EgressPolicy::default() };
    let profile = HttpProfile { egress, ..HttpProfile::default() };
    let exchange = Dialer::builder().build().open(&profile).await.map_err(boxed)?;

    let jwt = || Arc::new(Jwt::new());
    let person = Arc::new(Person(exchange.clone()));
    let auth = OutboundAuth::new(
        Arc::new(EnvCredentials::of_process()),
        Arc::new(SystemClock::new()),
        Arc::new(SystemEntropy),
    )
    .jwt(jwt(), jwt())
    .browser(Arc::new(LoopbackCallback), person)
    .login_policy(LoginPolicy::Inline);
    let server =
        Url::parse(url).map_err(|_| boxed(scion_domain::mcp::McpRefusal::Unreachable { endpoint: url.to_owned() }))?;
    let authorization = auth.mcp(&connector, &server, identity(&context), exchange.clone());

    let client = McpClient::builder(connector).http(exchange).auth(Arc::new(authorization)).build();
    let target = EndpointTarget::Url { url: url.to_owned(), bearer_token: String::new(), client_credentials: None };
    let session = client.connect(&EndpointSpec { target, timeout: Duration::from_secs(10) }).await.map_err(boxed)?;
    let worked = async {
        let tools = session.list_tools().await?;
        let calls = asked(&context).unwrap_or_else(|| tools.into_iter().map(call_of).collect());
        for call in calls {
            session.call_tool(&call).await?;
        }
        Ok(())
    }
    .await;
    session.close().await;
    worked.map_err(|refusal: scion_domain::mcp::McpRefusal| boxed(refusal))
}

fn boxed(refusal: impl Refusal + 'static) -> Box<dyn Refusal> {
    Box::new(refusal)
}

/// Who logs in, as the scenario's context says.
fn identity(context: &Value) -> McpClientIdentity {
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let secret = |name: &str| text(name).map(|value| SecretSource::Literal(Secret::new(value)));
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    if let (Some(id), Some(key)) = (text("client_id"), secret("private_key_pem")) {
        let algorithm =
            text("signing_algorithm").and_then(|word| JwtAlgorithm::parse(&word)).unwrap_or(JwtAlgorithm::ES256);
        return McpClientIdentity::Program(ProgramLogin {
            id,
            proof: ProgramProof::Key { key, algorithm, key_id: None },
        });
    }
    if let (Some(id), Some(secret), true) =
        (text("client_id"), secret("client_secret"), scenario.starts_with("auth/client-credentials"))
    {
        return McpClientIdentity::Program(ProgramLogin { id, proof: ProgramProof::Secret(secret) });
    }
    McpClientIdentity::Person(PersonLogin {
        name: "Scion conformance client".to_owned(),
        registered: text("client_id").map(|id| RegisteredClient { id, secret: secret("client_secret") }),
        metadata_url: AuthUrl::parse("metadata_url", METADATA_URL).ok(),
    })
}

/// The calls the scenario's context asks for.
fn asked(context: &Value) -> Option<Vec<ToolCall>> {
    let call = |call: &Value| {
        let arguments =
            call["arguments"].as_object()?.iter().map(|(name, value)| (name.clone(), Json::from(value.clone())));
        Some(ToolCall { tool: call["name"].as_str()?.to_owned(), arguments: arguments.collect() })
    };
    context["toolCalls"].as_array()?.iter().map(call).collect()
}

fn call_of(tool: ToolDescription) -> ToolCall {
    ToolCall { arguments: arguments(&tool), tool: tool.name }
}

/// A value for each property of a tool, by its type.
fn arguments(tool: &ToolDescription) -> JsonObject {
    let Some(properties) = tool.input_schema.get("properties").and_then(Json::as_object) else {
        return JsonObject::new();
    };
    let value = |schema: &Json| match schema.get("type").and_then(Json::as_str) {
        Some("number" | "integer") => Json::from(2),
        Some("boolean") => Json::from(true),
        _ => Json::from("test"),
    };
    properties.iter().map(|(name, schema)| (name.clone(), value(schema))).collect()
}

/// A person who says yes to everything: opens the page and goes where it leads.
#[derive(Clone)]
struct Person(Arc<dyn HttpExchange>);

#[async_trait]
impl BrowserLauncher for Person {
    async fn launch(&self, url: &Url) -> Result<(), PkceRefusal> {
        let failed = |_| PkceRefusal::BrowserLaunchFailed;
        let page = self.0.send(OutboundRequest::new(Method::GET, url.clone())).await.map_err(failed)?;
        let place = page.head.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let place = place.and_then(|text| url.join(text).ok()).ok_or(PkceRefusal::BrowserLaunchFailed)?;
        let person = self.clone();
        // The callback is only taken once the launch is over.
        tokio::spawn(async move { person.0.send(OutboundRequest::new(Method::GET, place)).await.map(drop) });
        Ok(())
    }
}
