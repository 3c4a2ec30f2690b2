//! Connectors behind a URL that want a token: `client_credentials`, and where the secret comes from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scion_jwt::Jwt;
use scion_lab::{Answer, Behaviour, Idp, IdpClient, Lab, Received};
use serde_json::{Value, json};

use crate::support::{CONNECTOR_SYNC, Place, Run, SCION, desk};

const SECRET: &str = "s3cr3t-of-the-desk";

/// An MCP server that takes the tokens of the identity provider, and no others.
struct Desk {
    idp: Arc<Idp>,
    lab: Lab,
    /// Before the next call of a tool every token is taken back.
    revoke: Arc<AtomicBool>,
}

impl Desk {
    async fn start() -> Self {
        let idp = Arc::new(Idp::start(Jwt::new()).await);
        idp.client(IdpClient::confidential("desk", SECRET));
        let revoke = Arc::new(AtomicBool::new(false));
        let (tokens, asked, scenario) = (idp.clone(), revoke.clone(), desk(3));
        let lab = Lab::scripted(move |received| {
            let message: Value = serde_json::from_str(&received.text()).unwrap_or_default();
            if message["method"] == "tools/call" && asked.swap(false, Ordering::SeqCst) {
                tokens.revoke_access();
            }
            let token = received.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
            if !token.is_some_and(|token| tokens.accepts(token)) {
                return Answer::status(401).into();
            }
            serve(received, &message, &scenario)
        })
        .await;
        Self { idp, lab, revoke }
    }

    fn place(&self, secret: &str) -> Place {
        let place = Place::new();
        let (url, issuer) = (self.lab.url("/mcp"), self.idp.issuer());
        place.write(
            "config.yaml",
            &format!(
                "connectors:\n  - connector: desk\n    endpoint:\n      url: {url}\n      client_credentials: {{issuer: '{issuer}', \
                 client_id: desk, client_secret_ref: '{secret}'}}\n"
            ),
        );
        place
    }
}

fn serve(_: &Received, message: &Value, scenario: &Value) -> Behaviour {
    let tool = |name: &String| {
        let properties = json!({"page": {}, "page_size": {}});
        json!({"name": name, "inputSchema": {"type": "object", "properties": properties},
            "annotations": {"readOnlyHint": true, "destructiveHint": false}})
    };
    let mut result = match message["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}}})
        }
        "tools/list" => {
            let tools: Vec<Value> = scenario["tools"].as_object().unwrap().keys().map(tool).collect();
            json!({ "tools": tools })
        }
        "resources/list" => json!({"resources": []}),
        "resources/read" => json!({"contents": [{"uri": message["params"]["uri"], "mimeType": "application/json",
            "text": scenario["declaration"].to_string()}]}),
        "tools/call" => {
            let records = &scenario["tools"][message["params"]["name"].as_str().unwrap()]["records"];
            json!({"content": [{"type": "text", "text": records.to_string()}]})
        }
        _ => return Answer::status(202).into(),
    };
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!("private");
    Answer::json(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into()
}

fn run(place: &Place, program: &str, args: &[&str], secret: &str) -> Run {
    let mut command = place.command(program);
    command.args(args).env("DESK_SECRET", secret).env_remove("OPENBAO_TOKEN_REF").env_remove("SCION_OUTBOUND_CONFIG");
    let run = Run::of(command.output().unwrap());
    assert!(!run.out.contains(secret) && !run.err.contains(secret), "{run:?}");
    run
}

const ONCE: [&str; 5] = ["--config", "config.yaml", "--once", "--log-format", "json"];

fn code(run: &Run) -> String {
    let report: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{run:?}"));
    report["connectors"][0]["cycle"]["refusal"]["code"]
        .as_str()
        .or(report["connectors"][0]["refusal"]["code"].as_str())
        .unwrap_or_else(|| panic!("{run:?}"))
        .to_owned()
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test(flavor = "multi_thread")]
async fn a_sync_gets_a_token_and_renews_a_refused_one_once() {
    let desk = Desk::start().await;
    let place = desk.place("env://DESK_SECRET");
    let first = run(&place, CONNECTOR_SYNC, &ONCE, SECRET);
    assert_eq!(first.code, 0, "{first:?}");
    assert_eq!(desk.idp.count("/token"), 1, "one token serves the session");
    assert_eq!(place.ids("tickets").len(), 3);
    desk.revoke.store(true, Ordering::SeqCst);
    let heard = desk.lab.received().len();
    let second = run(&place, CONNECTOR_SYNC, &ONCE, SECRET);
    assert_eq!(second.code, 0, "{second:?}");
    assert_eq!(desk.idp.count("/token"), 3, "a new session, and one renewal in it");
    assert!(desk.lab.received().len() > heard);
    assert!(desk.lab.received().iter().all(|received| !received.contains(SECRET)), "the secret went to the server");
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009, SDK-CENTRALIZED-CAPABILITIES-R011
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_is_refused_by_name_and_the_server_hears_nothing() {
    let desk = Desk::start().await;
    let place = desk.place("env://DESK_SECRET");
    let wrong = run(&place, CONNECTOR_SYNC, &ONCE, "not-the-secret-at-all");
    assert_eq!((wrong.code, code(&wrong).as_str()), (1, "endpoint_login_refused"), "{wrong:?}");
    assert!(wrong.out.contains("auth_rejected"), "{wrong:?}");
    assert_eq!(desk.lab.received().len(), 0);
    let told = run(&place, SCION, &["doctor", "--config", "config.yaml"], "not-the-secret-at-all");
    assert!(told.code == 1 && told.out.contains("[endpoint_login_refused]"), "{told:?}");
    let missing = desk.place("env://DESK_SECRET_THAT_IS_NOT_SET");
    let told = run(&missing, SCION, &["doctor", "--config", "config.yaml"], SECRET);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.out.contains("wrong  desk endpoint.client_credentials.client_secret_ref: "), "{told:?}");
    let sync = run(&missing, CONNECTOR_SYNC, &ONCE, SECRET);
    assert_eq!((sync.code, code(&sync).as_str()), (1, "endpoint_login_refused"), "{sync:?}");
    desk.idp.set(|knobs| knobs.down.push(("/token".to_owned(), 503)));
    let down = run(&place, CONNECTOR_SYNC, &ONCE, SECRET);
    assert_eq!((down.code, code(&down).as_str()), (1, "endpoint_login_unavailable"), "{down:?}");
    assert_eq!(desk.lab.received().len(), 0);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R009
#[tokio::test(flavor = "multi_thread")]
async fn a_mounted_secret_is_read_below_its_directory_only() {
    let desk = Desk::start().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("secret"), format!("{SECRET}\n")).unwrap();
    let place = desk.place(&format!("file://{}/secret", dir.path().display()));
    let without = run(&place, SCION, &["doctor", "--config", "config.yaml"], SECRET);
    assert!(without.code == 1 && without.out.contains("client_secret_ref"), "{without:?}");
    let mut command = place.command(CONNECTOR_SYNC);
    let with = Run::of(command.args(ONCE).env("SCION_SECRET_DIRS", dir.path()).output().unwrap());
    assert_eq!(with.code, 0, "{with:?}");
    let mut command = place.command(CONNECTOR_SYNC);
    let bad = Run::of(command.args(ONCE).env("SCION_SECRET_DIRS", "relative").output().unwrap());
    assert_eq!((bad.code, &bad.event("start_failed")["code"]), (2, &json!("outbound_directories")), "{bad:?}");
    let file = place.write("outbound.yaml", "tls:\n  corp:\n    verify: false\n");
    let mut command = place.command(CONNECTOR_SYNC);
    let bad = Run::of(command.args(ONCE).env("SCION_OUTBOUND_CONFIG", file).output().unwrap());
    assert_eq!((bad.code, &bad.event("start_failed")["code"]), (2, &json!("outbound_setting")), "{bad:?}");
}
