//! The same over streamable HTTP, and over a whole configuration.

use scion_lab::{Answer, Lab};
use serde_json::{Value, json};

use super::toy::{declaration, server, source, toy};
use crate::support::Place;

fn good() -> Value {
    toy(&declaration(&[source("a", "ls", &json!({ "params_style": "args" }))]))
}

async fn lab(token: &'static str) -> Lab {
    let all = good();
    Lab::scripted(move |received| {
        if received.header("authorization") != Some(format!("Bearer {token}").as_str()) {
            return Answer::status(401).into();
        }
        let message: Value = serde_json::from_str(&received.text()).unwrap_or_default();
        let mut result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}},
                "_meta": {"io.modelcontextprotocol/serverInfo": all["server"]}})
            }
            "tools/list" => json!({ "tools": all["tools"] }),
            "resources/read" => json!({"contents": [{"uri": message["params"]["uri"], "mimeType": "application/json",
                "text": all["resources"]["connector://resources"]}]}),
            _ => return Answer::status(202).into(),
        };
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
        Answer::json(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).into()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_behind_a_url_with_a_token() {
    let lab = lab("open-sesame").await;
    let place = Place::new();
    let url = lab.url("/mcp").to_string();
    let run = |token: &'static str| {
        let mut command = place.command(super::toy::CONNECTOR_CERTIFY);
        command.args(["--url", &url, "--bearer-token", "env://TOY_TOKEN", "--format", "json"]).env("TOY_TOKEN", token);
        async move { tokio::task::spawn_blocking(move || crate::support::Run::of(command.output().unwrap())).await.unwrap() }
    };
    let passed = run("open-sesame").await;
    assert_eq!(passed.code, 0, "{passed:?}");
    let report: Value = serde_json::from_str(&passed.out).unwrap();
    assert_eq!((&report["connector"], &report["tools"][0]["status"]), (&json!("toy"), &json!("certified")));
    let refused = run("wrong-word").await;
    assert_eq!(refused.code, 2);
    assert!(!refused.out.contains("wrong-word") && !refused.err.contains("wrong-word"));
    let report: Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!((&report["listed"], &report["scion"]["refusal"]["code"]), (&json!(false), &json!("certify_not_listed")));
}

/// Proves: SDK-CONNECTOR-CONTROL-R007
#[test]
fn a_fleet_is_certified_connector_by_connector() {
    let place = Place::new();
    let named = |name: &str, tool: &str| {
        let mut all =
            toy(&json!({ "connector": name, "sources": [source("a", tool, &json!({ "params_style": "args" }))] }));
        all["server"]["name"] = name.into();
        place.write_server(&format!("{name}.server"), &all);
    };
    named("first", "ls");
    named("second", "ls");
    let config = |names: &[&str]| {
        let mut text = "connectors:\n".to_owned();
        for name in names {
            let (program, file) = (server().display(), place.path(&format!("{name}.server")));
            text.push_str(&format!(
                "  - connector: {name}\n    endpoint:\n      command: \"{program}\"\n      args: [\"{}\"]\n",
                file.display()
            ));
        }
        place.write("fleet.yaml", &text);
    };
    config(&["first", "second"]);
    let run = place.certify(&["--config", "fleet.yaml", "--report", "fleet.json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(place.path("fleet.json")).unwrap()).unwrap();
    assert_eq!(report["passed"], true);
    for (index, name) in ["first", "second"].into_iter().enumerate() {
        let one = &report["connectors"][index];
        assert_eq!(one["connector"], name);
        for tool in one["tools"].as_array().unwrap() {
            assert_eq!(tool["live"].as_str().unwrap().len(), 64);
            assert_eq!(tool["output_schema_sha256"].as_str().unwrap().len(), 64);
        }
        assert!(!one["tools"].as_array().unwrap().is_empty());
    }
    // One that answers with another name, one that is broken, one that is gone.
    named("third", "nope");
    std::fs::copy(place.path("first.server"), place.path("fourth.server")).unwrap();
    config(&["first", "third", "fourth"]);
    let run = place.certify(&["--config", "fleet.yaml"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("certify_tool_missing") && run.err.contains("certify_other_connector"), "{}", run.err);
    config(&["first", "absent"]);
    let run = place.certify(&["--config", "fleet.yaml", "--format", "junit"]);
    assert_eq!(run.code, 2, "a fleet with a gap is not certified");
    assert!(run.out.matches("<testsuite ").count() == 2 && run.out.contains("errors=\"1\""), "{}", run.out);
}
