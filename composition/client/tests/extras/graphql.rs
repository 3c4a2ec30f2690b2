use std::time::Duration;

use futures_util::TryStreamExt as _;
use scion_client::{ClientBuilder, GraphQlClient};
use scion_domain::auth::{AuthDeclaration, Basic, Bearer};
use scion_domain::graphql::{ConnectionOptions, GraphQlDocument, INTROSPECTION};
use scion_domain::http::ExchangeLimits;
use scion_domain::json::{Json, JsonObject, parse};
use scion_domain::refusal::Refusal as _;
use scion_lab::{Answer, Behaviour, Lab};

use crate::support::{SECRET, builder, ports};

async fn opened(builder: ClientBuilder) -> GraphQlClient {
    GraphQlClient::new(builder.build_with(&ports()).await.unwrap(), "/graphql")
}

async fn client(lab: &Lab) -> GraphQlClient {
    opened(builder(lab)).await
}

const OK: &str = r#"{"data": {"viewer": {"login": "ada"}}}"#;
const QUERY: &str = "query Viewer { viewer { login } }";
const MUTATION: &str = "mutation Rename { rename { id } }";

/// Proves: SDK-CONNECTOR-CONTROL-R030.1, SDK-CENTRALIZED-CAPABILITIES-R016
#[tokio::test]
async fn each_declared_credential_reaches_the_endpoint_and_no_refusal() {
    for (declaration, expected) in [
        (AuthDeclaration::from(Bearer::env("T")), format!("Bearer {SECRET}")),
        (Bearer::env("T").scheme("Token").into(), format!("Token {SECRET}")),
        (Basic::user("ada").into(), format!("Basic {SECRET}")),
    ] {
        let lab = Lab::sequence([Answer::ok(OK).into(), Answer::status(400).body(SECRET).into()]).await;
        let client = opened(builder(&lab).auth(declaration)).await;
        let answer = client.document(QUERY).unwrap().run().await.unwrap();
        assert_eq!(Json::Object(answer.data), *parse(OK).unwrap().get("data").unwrap());
        let failure = client.document(QUERY).unwrap().run().await.unwrap_err();
        assert!(!format!("{failure} {failure:?} {:?}", failure.payload()).contains(SECRET));
        let received = lab.received();
        assert_eq!(received.len(), 2);
        assert_eq!(received[0].header("authorization"), Some(expected.as_str()));
        assert_eq!((received[0].method.as_str(), received[0].path()), ("POST", "/graphql"));
        let body = parse(&received[0].text()).unwrap();
        assert_eq!(body.get("operationName").and_then(Json::as_str), Some("Viewer"));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn queries_are_retried_after_429_and_5xx_within_a_bound() {
    for status in [429, 500, 502, 503, 504] {
        let lab =
            Lab::sequence([Answer::status(status).into(), Answer::status(status).into(), Answer::ok(OK).into()]).await;
        client(&lab).await.document(QUERY).unwrap().run().await.unwrap();
        assert_eq!(lab.received().len(), 3, "{status}");
        let lab = Lab::always(Answer::status(status)).await;
        let failure = client(&lab).await.document(QUERY).unwrap().run().await.unwrap_err();
        assert_eq!(
            (lab.received().len(), failure.payload()["retryable"].as_bool()),
            (3, Some(true)),
            "{status}: {failure}"
        );
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn rejections_and_query_errors_are_not_retried() {
    let error = r#"{"data": null, "errors": [{"message": "field hunter2 is unknown", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}]}"#;
    for answer in
        [Answer::status(400).body(error), Answer::status(401), Answer::ok(error), Answer::ok("{}"), Answer::html()]
    {
        let lab = Lab::always(answer).await;
        let failure = client(&lab).await.document(QUERY).unwrap().run().await.unwrap_err();
        assert_eq!(lab.received().len(), 1, "{failure}");
        let payload = failure.payload();
        assert_eq!(payload["error"], "graphql_execution_failed".into());
        assert_eq!(payload["code"], failure.code().into());
        assert!(!format!("{failure} {failure:?} {payload:?}").contains("hunter2"));
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn a_mutation_is_never_sent_twice() {
    let throttled = r#"{"errors": [{"extensions": {"code": "THROTTLED"}}]}"#;
    for behaviour in [
        Behaviour::from(Answer::status(503)),
        Answer::status(429).into(),
        Answer::status(500).into(),
        Answer::ok(throttled).into(),
        Behaviour::CloseBeforeHead,
    ] {
        let lab = Lab::always(behaviour.clone()).await;
        assert!(client(&lab).await.document(MUTATION).unwrap().run().await.is_err());
        assert_eq!(lab.received().len(), 1, "{behaviour:?}");
    }
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn partial_data_is_an_answer_only_where_it_was_asked_for() {
    let lab = Lab::always(Answer::ok(r#"{"data": {"a": 1, "b": null}, "errors": [{"path": ["b"]}]}"#)).await;
    let call = client(&lab).await.document("{ a b }").unwrap();
    assert_eq!(call.clone().run().await.unwrap_err().code(), "graphql_errors");
    let answer = call.partial().run().await.unwrap();
    assert_eq!((answer.errors, answer.data["a"].clone()), (1, 1.into()));
}

fn page(form: &str, items: &str, end: &str, more: bool) -> Answer {
    Answer::ok(format!(
        r#"{{"data": {{"list": {{"{form}": [{items}], "pageInfo": {{"hasNextPage": {more}, "endCursor": "{end}"}}}}}}}}"#
    ))
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn connections_are_walked_over_nodes_and_edges_within_bounds() {
    let lab = Lab::scripted(|received| {
        match parse(&received.text()).unwrap().get("variables").and_then(|all| all.get("after")) {
            None => page("nodes", "1, 2", "c1", true).into(),
            Some(after) if after.as_str() == Some("c1") => {
                page("edges", r#"{"node": 3}, {"node": null}"#, "c2", true).into()
            }
            Some(_) => page("nodes", "4", "c3", false).into(),
        }
    })
    .await;
    let client = client(&lab).await;
    let call = || client.document("query L($first: Int, $after: String) { list }").unwrap();
    let read = call().pages(ConnectionOptions::new("list")).read().await.unwrap();
    assert_eq!((read.items, read.pages, read.complete), (vec![1.into(), 2.into(), 3.into(), 4.into()], 3, true));
    let streamed: Vec<Json> = call()
        .variables(JsonObject::from([("first".to_owned(), 2.into())]))
        .pages(ConnectionOptions::new("list"))
        .items()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(streamed.len(), 4);
    let last = parse(&lab.received().last().unwrap().text()).unwrap();
    assert_eq!(last.get("variables").unwrap().get("first"), Some(&2.into()));
    let bounded = ConnectionOptions { max_pages: 1, ..ConnectionOptions::new("list") };
    let read = call().pages(bounded.clone()).read().await.unwrap();
    assert_eq!((read.items.len(), read.complete), (2, false));
    let streamed = call().pages(bounded).items().try_collect::<Vec<Json>>().await.unwrap_err();
    assert_eq!(streamed.code(), "graphql_incomplete");
}

#[tokio::test]
async fn a_cursor_that_comes_again_ends_the_walk_by_name() {
    let lab = Lab::always(page("nodes", "1", "same", true)).await;
    let client = client(&lab).await;
    let call = client.document("query L($after: String) { list }").unwrap();
    let refused = call.pages(ConnectionOptions::new("list")).read().await.unwrap_err();
    assert_eq!((refused.code(), lab.received().len()), ("graphql_cursor_loop", 2));
    let mutation = client.document("mutation M($after: String) { list }").unwrap();
    let refused = mutation.pages(ConnectionOptions::new("list")).read().await.unwrap_err();
    assert_eq!((refused.code(), lab.received().len()), ("graphql_document", 2));
}

fn costed(available: u64, rate: u64, throttled: bool) -> Answer {
    let status = format!(r#"{{"maximumAvailable": 1000, "currentlyAvailable": {available}, "restoreRate": {rate}}}"#);
    let cost = format!(r#""extensions": {{"cost": {{"requestedQueryCost": 100, "throttleStatus": {status}}}}}"#);
    let result = if throttled { r#""errors": [{"extensions": {"code": "THROTTLED"}}]"# } else { r#""data": {"a": 1}"# };
    Answer::ok(format!("{{{result}, {cost}}}"))
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn a_cost_budget_paces_and_a_throttled_query_waits_for_its_points() {
    let lab = Lab::sequence([costed(0, 1000, true).into(), costed(900, 1000, false).into()]).await;
    let client = client(&lab).await;
    let started = std::time::Instant::now();
    client.document("{ a }").unwrap().run().await.unwrap();
    assert_eq!(lab.received().len(), 2);
    assert!(started.elapsed() >= Duration::from_millis(95), "{:?}", started.elapsed());
    // A bucket that holds less than the operation costs: refused before anything is sent.
    let refused = client.document("{ a }").unwrap().cost(1001).run().await.unwrap_err();
    assert_eq!((refused.code(), lab.received().len()), ("graphql_too_costly", 2));
    // Points that come too late for the deadline: refused as well, at once.
    let lab = Lab::always(costed(0, 1, false)).await;
    let slow = GraphQlClient::new(builder(&lab).build_with(&ports()).await.unwrap(), "/graphql").keeping(10);
    slow.document("{ a }").unwrap().run().await.unwrap();
    let refused = slow.document("{ a }").unwrap().total_timeout(Duration::from_secs(2)).run().await.unwrap_err();
    assert_eq!((refused.code(), lab.received().len()), ("graphql_throttled", 1));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R016
#[tokio::test]
async fn introspection_reads_what_a_server_offers() {
    let schema = r#"{"data": {"__schema": {"queryType": {"name": "Q"}, "mutationType": null, "types": [{"kind": "SCALAR", "name": "Int"},
        {"kind": "OBJECT", "name": "Q", "fields": [{"name": "n", "args": [], "type": {"kind": "SCALAR", "name": "Int"}}]}]}}}"#;
    let lab = Lab::always(Answer::ok(schema)).await;
    let model = client(&lab).await.schema().await.unwrap();
    assert_eq!(model.queries()[0].of.to_string(), "Int");
    assert_eq!(parse(&lab.received()[0].text()).unwrap().get("query").and_then(Json::as_str), Some(INTROSPECTION));
}

/// Proves: SDK-CONNECTOR-CONTROL-R030, SDK-CONNECTOR-CONTROL-R014.12
#[tokio::test]
async fn a_tool_shows_types_and_never_the_message_of_a_failure() {
    let schema = r#"{"data": {"__schema": {"queryType": {"name": "Q"}, "mutationType": null, "types": [{"kind": "SCALAR", "name": "Int"},
        {"kind": "OBJECT", "name": "Q", "fields": [{"name": "n", "args": [], "type": {"kind": "SCALAR", "name": "Int"}}]}]}}}"#;
    let lab = Lab::always(Answer::ok(schema)).await;
    let client_of = client(&lab).await;
    assert_eq!(client_of.list_types("7f").await["types"].as_array().unwrap().len(), 2);
    assert_eq!(client_of.type_details("Q", "7f").await["kind"].as_str(), Some("OBJECT"));
    assert_eq!(client_of.type_details("Nope", "7f").await["error"].as_str(), Some("unknown_type"));

    let lab = Lab::always(Answer::ok(r#"{"errors": [{"message": "s3cret"}]}"#)).await;
    let failed = client(&lab).await.list_types("7f").await;
    assert_eq!(failed["error"].as_str(), Some("operation_failed"));
    assert_eq!(failed["correlation_id"].as_str(), Some("7f"));
    assert!(failed["class"].as_str().unwrap().starts_with("graphql_"));
    assert!(failed.len() == 3 && !format!("{failed:?}").contains("s3cret"));
}

/// Proves: SDK-CONNECTOR-CONTROL-R030.1
#[tokio::test]
async fn timeouts_sizes_and_redirects_are_bounded() {
    let lab = Lab::always(Behaviour::StallBeforeHead).await;
    let call = client(&lab).await.document(QUERY).unwrap().total_timeout(Duration::from_millis(100));
    let started = std::time::Instant::now();
    assert!(call.run().await.is_err());
    assert!(started.elapsed() < Duration::from_secs(3));
    let big = format!(r#"{{"data": {{"a": "{}"}}}}"#, "x".repeat(10_000));
    let lab = Lab::always(Answer::ok(big)).await;
    let small = builder(&lab).limits(ExchangeLimits { body_bytes: 1000, ..ExchangeLimits::default() });
    assert_eq!(opened(small).await.document(QUERY).unwrap().run().await.unwrap_err().code(), "http_too_large");
    let other = Lab::always(Answer::ok(OK)).await;
    let lab = Lab::always(Answer::redirect(307, other.url("/graphql").as_str())).await;
    assert_eq!(client(&lab).await.document(QUERY).unwrap().run().await.unwrap_err().code(), "response_redirected");
    assert_eq!(other.received().len(), 0);
    let document = GraphQlDocument::parse(QUERY).unwrap();
    assert!(!format!("{:?}", client(&lab).await.operation(document)).contains("login"));
}
