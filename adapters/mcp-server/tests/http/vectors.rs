//! The exchanges of `mcp_wire.json` over HTTP, replayed against a connector like the one they were recorded with.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::{Method, StatusCode};
use scion_domain::json::{Json, JsonObject, parse as parse_json};
use scion_domain::listener::ListenerSettings;
use scion_domain::secret::Secret;
use scion_domain::served_route::{Readiness, RouteAnswer};
use scion_domain::served_security::{ServedSecurityProfile, TokenRefusal, VerifiedToken};
use scion_mcp_server::Security;
use scion_ports::{ServedRoute, TokenVerifier, async_trait};
use scion_serve::{Connector, Identity, ServedContent, ServedSurface, Tool, ToolRefusal};
use serde_json::Value;

use crate::wire::{Got, Server};

static CONTENT: &[(&str, &[u8])] = &[
    (
        "prompts/daily-summary.json",
        include_bytes!("../../../../composition/scion/tests/desk-content/prompts/daily-summary.json"),
    ),
    ("prompts/reply.json", include_bytes!("../../../../composition/scion/tests/desk-content/prompts/reply.json")),
];

/// Knows the tokens of the recording.
struct Recorded;

#[async_trait]
impl TokenVerifier for Recorded {
    async fn verify(&self, token: &Secret<String>) -> Result<VerifiedToken, TokenRefusal> {
        let (tenant, scopes): (Option<&str>, &[&str]) = match token.expose().as_str() {
            "0123456789abcdef0123456789abcdef" => (Some("acme"), &["desk:use"]),
            "ffffffffffffffffffffffffffffffff" => (None, &["desk:use"]),
            "dddddddddddddddddddddddddddddddd" => (Some("acme"), &[]),
            "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee" => return Err(TokenRefusal::Expired),
            _ => return Err(TokenRefusal::Invalid),
        };
        Ok(VerifiedToken {
            subject: Some("c1".to_owned()),
            tenant: tenant.map(str::to_owned),
            client: Some("c1".to_owned()),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            audiences: BTreeSet::from(["desk".to_owned()]),
            expires_at: None,
            claims: JsonObject::new(),
        })
    }
}

fn desk() -> ServedSurface {
    let agents = Tool::read("desk_list_agents").handle(|_context, _args| async {
        let agents = r#"{"items":[{"id":1,"name":"Ada"},{"id":2,"name":"Lin"}],"next":null}"#;
        Ok::<Json, ToolRefusal>(parse_json(agents).unwrap())
    });
    Connector::builder(Identity::new("acme-desk-mcp", "1.4.0"))
        .instructions("Ticket desk connector.")
        .tool(agents)
        .route(ServedRoute::new("/version", [Method::GET], |_request| async {
            RouteAnswer { status: StatusCode::OK, media_type: "application/json", body: br#"{"v": 1}"#.to_vec() }
        }))
        .readiness(|| async {
            Ok(Readiness { ready: true, detail: JsonObject::from([("backend".to_owned(), "desk".into())]) })
        })
        .content(ServedContent::embedded(CONTENT).unwrap())
        .build()
        .unwrap()
}

async fn start() -> Server {
    let profile = ServedSecurityProfile::new("desk", "desk:use").unwrap();
    let security = Security::Verified { verifier: Arc::new(Recorded), profile: Arc::new(profile) };
    Server::serve(desk(), security, ListenerSettings::default(), |options| {
        options.rate = None;
    })
    .await
}

/// Where we answer otherwise, with status and error code; each has a row in `DEVIATIONS.md`.
const OTHERWISE: &[(&str, u16, Option<i64>)] = &[
    ("declared route", 401, None),
    ("session used by another client", 200, Some(-32_001)),
    ("wrong content type", 406, None),
    ("foreign host header", 400, None),
    ("foreign origin header", 403, None),
    ("body over 4 MiB", 413, None),
];

/// Members that differ on purpose, each with a row too.
const MEMBERS: &[&str] =
    &["result.capabilities.resources.subscribe", "result.capabilities.extensions", "result.supportedVersions"];

async fn replay(server: &Server, request: &Value, session: &str) -> Got {
    let (method, path) = (request["method"].as_str().unwrap(), request["path"].as_str().unwrap());
    let headers: Vec<(&str, &str)> = request["headers"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| {
            let value = value.as_str().unwrap();
            (name.as_str(), if name == "mcp-session-id" && value.len() == 32 { session } else { value })
        })
        .collect();
    let body = match &request["body"] {
        Value::Null => String::new(),
        // The others are written out.
        Value::String(text) if text == "<4194486 bytes>" => "x".repeat(4_194_486),
        Value::String(text) => text.clone(),
        message => message.to_string(),
    };
    server.send(method, path, &headers, &body).await
}

/// The JSON of a recorded body; `None` for a text.
fn recorded(body: &Value) -> Option<&Value> {
    if body.is_object() { Some(body["sse"].get(0).unwrap_or(body)) } else { None }
}

/// Compares what clients read: names of members, and the values that are no prose.
fn compare(id: &str, path: &str, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::String(text), _) if text.starts_with('<') => {}
        _ if MEMBERS.contains(&path.trim_start_matches('.')) => {}
        // We repeat the id of a request that is refused.
        (Value::Null, Value::Number(_)) if path == ".id" => {}
        (Value::Object(theirs), Value::Object(_)) => {
            for (name, value) in theirs {
                compare(id, &format!("{path}.{name}"), value, &ours[name], found);
            }
        }
        // Prompts of code are not declared here.
        (Value::Array(theirs), Value::Array(ours)) if path.ends_with(".prompts") => {
            for prompt in theirs {
                let name = &prompt["name"];
                if ["connector-status", "typed"].iter().any(|of_code| name == of_code) {
                    continue;
                }
                // Ours is a file, theirs was code: its arguments are the same, not its tags.
                if name == "reply" {
                    let names = |prompt: &Value| {
                        let all = prompt["arguments"].as_array().cloned().unwrap_or_default();
                        all.iter().map(|one| (one["name"].clone(), one["required"].clone())).collect::<Vec<_>>()
                    };
                    let same = ours.iter().find(|ours| ours["name"] == "reply").map(names);
                    if same != Some(names(prompt)) {
                        found.push(format!("{id}{path}: {prompt} became {same:?}"));
                    }
                    continue;
                }
                let same = ours.iter().find(|ours| ours["name"] == *name).unwrap_or(&Value::Null);
                compare(id, &format!("{path}.{name}"), prompt, same, found);
            }
        }
        _ if theirs == ours => {}
        _ => found.push(format!("{id}{path}: {theirs} became {ours}")),
    }
}

#[tokio::test]
async fn every_recorded_exchange_is_answered_alike() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors/mcp_wire.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (server, mut session, mut ran, mut found) = (start().await, String::new(), 0, Vec::new());
    for case in vectors["http"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let got = replay(&server, &case["request"], &session).await;
        if id == "initialize" {
            session = got.header("mcp-session-id").unwrap().to_owned();
        }
        let json = got.header("content-type").is_some_and(|media| !media.starts_with("text/plain"));
        let message = if json && !got.body.is_empty() { got.message() } else { Value::Null };
        ran += 1;
        if let Some((_, status, code)) = OTHERWISE.iter().find(|(otherwise, ..)| *otherwise == id) {
            if (got.status, message["error"]["code"].as_i64()) != (*status, *code) {
                found.push(format!("{id}: neither alike nor as noted: {got:?}"));
            }
            continue;
        }
        if u64::from(got.status) != case["status"].as_u64().unwrap() {
            found.push(format!("{id}: {} became {} {}", case["status"], got.status, got.body));
        }
        for name in ["content-type", "cache-control", "www-authenticate"] {
            let theirs = case["headers"][name].as_str();
            let alike = match (name, theirs, got.header(name)) {
                ("www-authenticate", Some(theirs), Some(ours)) => {
                    ours.starts_with("Bearer") && theirs.contains("invalid_token") == ours.contains("invalid_token")
                }
                ("cache-control", Some("no-store"), ours) => ours == Some("no-store"),
                // What is refused before a session is no stream, and there are no texts.
                ("content-type", Some("text/event-stream"), ours) if message["error"].is_object() => {
                    ours == Some("application/json")
                }
                ("content-type", Some(theirs), ours) if !got.body.is_empty() && !theirs.starts_with("text/plain") => {
                    ours == Some(theirs)
                }
                _ => true,
            };
            if !alike {
                found.push(format!("{id}: {name} {theirs:?} became {:?}", got.header(name)));
            }
        }
        if let Some(theirs) = recorded(&case["body"]) {
            let mut theirs = theirs.clone();
            // The text of an error is for people.
            if let Some(error) = theirs["error"].as_object_mut() {
                error.remove("message");
            }
            compare(id, "", &theirs, &message, &mut found);
        }
    }
    assert!(ran >= 35, "{ran} exchanges");
    assert!(found.is_empty(), "{} of {ran}:\n{}", found.len(), found.join("\n"));
}
