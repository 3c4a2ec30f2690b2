//! What goes wrong before and while an API is served: each has its refusal, and none reaches the API that should not.

use std::time::{Duration, Instant};

use scion_lab::{Answer, Behaviour};
use serde_json::json;

use crate::client::{Client, command};
use crate::example::folder;
use crate::service::{Notes, TOKEN, always};

struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

fn serve(files: &[(&str, &str)], args: &[&str], env: &[(&str, &str)]) -> Ended {
    let place = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(place.path().join(name), text).unwrap();
    }
    let output = command(place.path(), args, env).stdin(std::process::Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

const DOCUMENT: &str = r"
openapi: 3.0.3
info: {title: Desk, version: '1'}
servers: [{url: 'https://api.desk.example/v1'}]
paths:
  /a: {get: {operationId: readA, tags: [one], responses: {}, security: [{key: []}, {user: []}, {app: [], key: []}, {cert: []}]}}
  /b: {get: {operationId: readB, responses: {}}}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    user: {type: http, scheme: basic}
    app: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://id.desk.example/token', scopes: {}}}}
    cert: {type: mutualTLS}
";

#[test]
fn a_document_that_wants_authentication_says_exactly_what_to_set() {
    let ended = serve(&[("d.yaml", DOCUMENT)], &["--openapi", "d.yaml"], &[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""));
    assert!(ended.err.starts_with("error[openapi_auth_needed]: the API wants authentication: "), "{}", ended.err);
    for way in [
        "--auth key with DESK_KEY_KEY set (a key in the header field X-Key)",
        "--auth user with DESK_USER_USERNAME and DESK_USER_PASSWORD set (a name and a password)",
        "--auth app --client-id ID with DESK_APP_CLIENT_SECRET set (OAuth 2 client credentials) together with --auth key",
        "`cert` (not supported: it is a client certificate, which belongs to the TLS profile)",
        "--auth none",
    ] {
        assert!(ended.err.contains(way), "{way}\n{}", ended.err);
    }
}

#[test]
fn a_secret_on_the_command_line_is_refused_and_not_repeated() {
    for secret in ["hunter2-literal", "key=hunter2-literal", "user=env://A,hunter2-literal", "Bearer hunter2-literal"] {
        let ended = serve(&[("d.yaml", DOCUMENT)], &["--openapi", "d.yaml", "--auth", secret], &[]);
        assert_eq!(ended.code, Some(1), "{secret}");
        assert!(ended.err.contains("error[openapi_auth_unknown]") && !ended.err.contains("hunter2"), "{}", ended.err);
        assert!(ended.err.contains("schemes: app, cert, key, user"), "{}", ended.err);
    }
}

#[test]
fn what_auth_can_be_refused_for() {
    for (auth, code, text) in [
        ("key", "credential_missing", "env://DESK_KEY_KEY is not set"),
        ("key=env://MY_KEY", "credential_missing", "env://MY_KEY is not set"),
        ("env://MY_KEY", "openapi_auth_scheme", "those that take one: app, key"),
        ("user=env://A", "openapi_auth_references", "takes 2 references, of its username and its password"),
        ("app=env://A", "openapi_security_scheme", "the security scheme `app` needs a client id"),
        ("cert", "openapi_security_scheme", "is a client certificate"),
    ] {
        let ended = serve(&[("d.yaml", DOCUMENT)], &["--openapi", "d.yaml", "--auth", auth], &[]);
        assert_eq!(ended.code, Some(1), "{auth}");
        assert!(ended.err.contains(&format!("error[{code}]")) && ended.err.contains(text), "{auth}: {}", ended.err);
    }
}

#[test]
fn a_document_that_cannot_be_served_is_refused_with_what_to_do() {
    let relative = DOCUMENT.replace("https://api.desk.example/v1", "/v1");
    let silent = DOCUMENT.replace("servers: [{url: 'https://api.desk.example/v1'}]\n", "");
    for (files, args, code, text) in [
        (vec![], vec!["--openapi", "gone.yaml"], "document_unreadable", "gone.yaml cannot be read: it does not exist"),
        (
            vec![("d.yaml", "a: [")],
            vec!["--openapi", "d.yaml"],
            "openapi_malformed",
            "d.yaml: the document is not YAML at line",
        ),
        (vec![("d.yaml", "a: 1")], vec!["--openapi", "d.yaml"], "openapi_not_an_api", "neither OpenAPI 3.0"),
        (
            vec![("d.yaml", relative.as_str())],
            vec!["--openapi", "d.yaml", "--auth", "none"],
            "openapi_relative_server",
            "`/v1` names no host",
        ),
        (
            vec![("d.yaml", silent.as_str())],
            vec!["--openapi", "d.yaml", "--auth", "none"],
            "openapi_no_server",
            "names no server",
        ),
        (
            vec![("d.yaml", "openapi: 3.0.0\npaths: {}")],
            vec!["--openapi", "d.yaml"],
            "openapi_no_operation",
            "no operation",
        ),
        (
            vec![("d.yaml", DOCUMENT)],
            vec!["--openapi", "d.yaml", "--server-variable", "x=y", "--auth", "none"],
            "openapi_server_variable",
            "`x`",
        ),
        (vec![("d.yaml", DOCUMENT)], vec!["--openapi", "d.yaml", "--name", "No Name"], "", "error["),
    ] {
        let ended = serve(&files, &args, &[]);
        assert!(matches!(ended.code, Some(1 | 2)) && ended.out.is_empty(), "{args:?}");
        assert!(ended.err.contains(&format!("error[{code}")) && ended.err.contains(text), "{args:?}: {}", ended.err);
    }
    // The document alone leads to no private place.
    let inside = DOCUMENT.replace("https://api.desk.example/v1", "http://127.0.0.1:9/v1");
    let ended = serve(&[("d.yaml", &inside)], &["--openapi", "d.yaml", "--auth", "none"], &[]);
    assert!(ended.code == Some(1) && ended.err.contains("error["), "{}", ended.err);
}

#[test]
fn a_curation_that_fits_nothing_is_refused_with_its_place_and_the_closest_right_word() {
    for (curation, expected) in [
        ("nmae: x\n", vec!["c.yaml:1:1: nmae: unknown key; did you mean `name`? [config_unknown_key]"]),
        (
            "operations:\n  readAx: {}\n",
            vec![
                "c.yaml:2:3: operations.readAx: there is no operation of this name; did you mean `readA`? [config_unknown_name]",
            ],
        ),
        (
            "operations:\n  readA: {rsik: read}\n",
            vec!["c.yaml:2:11: operations.readA.rsik: unknown key; did you mean `risk`?"],
        ),
        (
            "operations:\n  readA: {risk: reed}\n",
            vec!["c.yaml:2:17: operations.readA.risk: there is no risk class of this name; did you mean `read`?"],
        ),
        (
            "exclude:\n  - method: GTE\n",
            vec!["c.yaml:2:13: exclude.0.method: there is no method of this name; known here: GET, HEAD"],
        ),
        (
            "exclude: [{tag: two}]\n",
            vec!["c.yaml:1:17: exclude.0.tag: there is no tag of this name; known here: one [config_unknown_name]"],
        ),
        ("exclude: [{tag: one, method: GET}]\n", vec!["needs exactly one of `operation`, `tag` and `method`"]),
        ("include: [{operation: readB}]\noperations: {readA: {title: x}}\n", vec!["this operation is not served"]),
        ("operations:\n  readA: {name: same}\n  readB: {name: same}\n", vec!["another operation has this tool name"]),
        (
            "operations:\n  readA: {fixed: {nope: 1}}\n",
            vec!["c.yaml:2:19: operations.readA.fixed.nope: there is no argument of this name; there is none"],
        ),
        ("operations:\n  readA: {source: {}}\n", vec!["`record_type` is missing"]),
        ("operations:\n  readA: {}\n  GET /a: {}\n", vec!["under another of its names"]),
        ("operations: {readA: {name: 1st}}\n", vec!["not every client takes this name"]),
        ("prefix: 9x\n", vec!["not a prefix"]),
        ("name: a\nname: b\n", vec!["c.yaml:2:1: name: this key stands in line 1 already"]),
        ("", vec!["the file holds no configuration"]),
    ] {
        let ended =
            serve(&[("d.yaml", DOCUMENT), ("c.yaml", curation)], &["--openapi", "d.yaml", "--curate", "c.yaml"], &[]);
        assert_eq!(ended.code, Some(2), "{curation}: {}", ended.err);
        for text in expected {
            assert!(ended.err.contains(text), "{curation}: {}", ended.err);
        }
    }
}

#[test]
fn a_network_transport_does_not_start_without_known_callers() {
    for transport in ["streamable-http", "sse"] {
        let args = ["--openapi", "d.yaml", "--auth", "none", "--transport", transport, "--port", "0"];
        let wrong = serve(&[("d.yaml", DOCUMENT)], &args, &[]);
        assert!(wrong.code == Some(2) && wrong.err.contains("--port"), "{}", wrong.err);
        let ended = serve(&[("d.yaml", DOCUMENT)], &args[..6], &[]);
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{}", ended.err);
        assert!(ended.err.contains("an authentication provider"), "{}", ended.err);
    }
}

fn notes(base: &str, more: &[&str]) -> Client {
    let mut args = vec![
        "--openapi",
        "openapi.yaml",
        "--curate",
        "curation.yaml",
        "--auth",
        "token=env://NOTES_TOKEN",
        "--base-url",
        base,
    ];
    args.extend(more);
    Client::start(&folder(), &args, &[("NOTES_TOKEN", TOKEN)])
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_with_wrong_arguments_reach_no_api() {
    let service = Notes::start().await;
    let mut client = notes(&service.base(), &[]);
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    for (tool, arguments, code) in [
        ("notes_list_notes", json!({"nope": 1}), "argument_unknown"),
        ("notes_list_notes", json!({"limit": "many"}), "plan_argument_type"),
        ("notes_list_notes", json!({"limit": {"a": 1}}), "plan_argument_type"),
        ("notes_list_notes", json!({"tag": "a"}), "plan_argument_type"),
        ("notes_list_events", json!({"kind": "burned"}), "plan_argument_choice"),
        ("notes_list_events", json!({"next_page": "http://evil.example/v1/events?a=1"}), "plan_next_page"),
        ("notes_list_events", json!({"next_page": "/v1/notes?a=1"}), "plan_next_page"),
        ("notes_list_events", json!({"next_page": 7}), "plan_next_page"),
        ("notes_get_note", json!({}), "plan_argument_missing"),
        ("notes_get_note", json!({"note_id": ".."}), "plan_path_value"),
        ("notes_get_note", json!({"note_id": ""}), "plan_path_value"),
        ("notes_write_note", json!({"body": {"text": "no title"}}), "plan_argument_missing"),
        ("notes_write_note", json!({"body": {"title": 7}}), "plan_argument_type"),
        ("notes_write_note", json!({"body": {"title": "x", "more": 1}}), "plan_argument_unknown"),
        ("notes_write_note", json!({"body": {"title": "x", "parent": "{"}}), "plan_argument_encoded"),
        ("notes_write_note", json!({"body": [deep]}), "plan_argument_type"),
        ("notes_attach_file", json!({"note_id": "n1", "body": {"file": "not base64!"}}), "plan_argument_encoded"),
    ] {
        let text = client.refused(tool, &arguments);
        assert!(text.starts_with(&format!("{code}: ")), "{tool} {arguments}: {text}");
    }
    assert!(service.lab.received().is_empty(), "no refused call reached the API");
    client.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_answer_has_its_refusal() {
    let utf8 = Answer::invalid_utf8();
    for (what, behaviour, code) in [
        ("a web page", Behaviour::Answer(Answer::html()), "openapi_answer_html"),
        (
            "a web page that says it is text",
            Behaviour::Answer(Answer::ok("<!DOCTYPE html><p>").header("content-type", "text/plain")),
            "openapi_answer_html",
        ),
        ("no UTF-8", Behaviour::Answer(utf8), "openapi_answer_not_text"),
        (
            "half a document",
            Behaviour::Answer(Answer::ok("{\"items\": [").header("content-type", "application/json")),
            "response_not_json",
        ),
        ("a body without end", Behaviour::EndlessBody, "http_"),
        ("nothing, for ever", Behaviour::StallBeforeHead, ""),
        ("half a body, for ever", Behaviour::StallInBody(Answer::json(&json!({"items": [1, 2, 3]}))), ""),
        ("500", Behaviour::Answer(Answer::status(500).body("s3cr3t trace")), "response_server"),
        ("403", Behaviour::Answer(Answer::status(403)), "response_forbidden"),
        (
            "422 with a problem",
            Behaviour::Answer(
                Answer::status(422)
                    .header("content-type", "application/problem+json")
                    .body(r#"{"type":"https://x.example/bad","detail":"s3cr3t"}"#),
            ),
            "response_rejected",
        ),
        ("everything it was sent", Behaviour::Echo(400), "response_rejected"),
        ("a redirect to another host", Behaviour::Answer(Answer::redirect(302, "http://169.254.169.254/latest")), ""),
    ] {
        let lab = always(behaviour).await;
        let base = lab.url("/v1").to_string();
        let mut client = notes(&base, &["--timeout", "2", "--max-answer", "65536"]);
        let start = Instant::now();
        let text = client.refused("notes_list_notes", &json!({}));
        assert!(start.elapsed() < Duration::from_secs(6), "{what}: {:?}", start.elapsed());
        assert!(text.starts_with(code) && text.contains(": ") && text.contains("; "), "{what}: {text}");
        assert!(!text.contains("s3cr3t") && !text.contains(TOKEN) && !text.contains("trace"), "{what}: {text}");
        assert!(lab.bytes_sent() < 32 << 20, "{what}: {}", lab.bytes_sent());
        client.end();
    }
}
