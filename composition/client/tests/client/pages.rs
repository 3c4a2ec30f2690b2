//! Lists over pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use scion_client::pages::{FetchedPage, PageFetch};
use scion_client::{ClientRefusal, Cursor, LinkHeader, NextUrl, Offset, PageNumber, Paged, SinceId, per_second};
use scion_domain::json::{Json, parse};
use scion_domain::pagination::http::{WalkEnd, WalkOptions, WalkRequest};
use scion_domain::refusal::Refusal as _;
use scion_ports::async_trait;
use serde::Deserialize;

use crate::support::{Script, Step, code, ok, status, with};

#[derive(Debug, Deserialize, PartialEq)]
struct Repo {
    id: u64,
}

fn ids(repos: &[Repo]) -> Vec<u64> {
    repos.iter().map(|repo| repo.id).collect()
}

fn link(target: &str, body: &str) -> Step {
    with(200, &[("link", &format!("<{target}>; rel=\"next\""))], body)
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R004
#[tokio::test(start_paused = true)]
async fn six_modes_walk_to_the_end() {
    let script =
        Script::new([link("https://api.example/elsewhere?page=2", r#"[{"id":1},{"id":2}]"#), ok(r#"[{"id":3}]"#)]);
    let client = script.client().await;
    let repos: Vec<Repo> = client.get("/user/repos").query("sort", "name").pages(LinkHeader).all().await.unwrap();
    assert_eq!(ids(&repos), [1, 2, 3]);
    assert_eq!(script.paths(), ["/v1/user/repos?sort=name", "/elsewhere?page=2"], "a named URL is used as it is");

    let script = Script::new([ok(r#"{"d":[{"id":1}],"next_cursor":"a b"}"#), ok(r#"{"d":[],"next_cursor":null}"#)]);
    let client = script.client().await;
    let walk = client.get("/x?q=1").pages(Cursor::default()).items_path("d");
    assert_eq!(ids(&walk.all().await.unwrap()), [1]);
    assert_eq!(script.paths(), ["/v1/x?q=1", "/v1/x?q=1&cursor=a+b"]);

    let script = Script::new([ok(r#"[{"id":1},{"id":2}]"#), ok(r#"[{"id":3}]"#), ok("[]")]);
    let client = script.client().await;
    let walk = client.get("/x").pages(PageNumber::new("p", 0, "per_page")).page_size(2);
    assert_eq!(ids(&walk.all().await.unwrap()), [1, 2, 3]);
    assert_eq!(script.paths(), ["/v1/x?p=0&per_page=2", "/v1/x?p=1&per_page=2", "/v1/x?p=2&per_page=2"]);

    let script = Script::new([ok(r#"[{"id":1},{"id":2}]"#), ok(r#"[{"id":3}]"#), ok("[]")]);
    let walk = script.client().await.get("/x").pages(Offset::default());
    assert_eq!(ids(&walk.all().await.unwrap()), [1, 2, 3]);
    assert_eq!(script.paths(), ["/v1/x?offset=0", "/v1/x?offset=2", "/v1/x?offset=3"]);

    let script = Script::new([ok(r#"[{"id":1},{"id":2}]"#), ok("[]")]);
    let walk = script.client().await.get("/x").pages(SinceId::default());
    assert_eq!(ids(&walk.all().await.unwrap()), [1, 2]);
    assert_eq!(script.paths(), ["/v1/x", "/v1/x?since_id=2"]);

    let script = Script::new([ok(r#"{"value":[{"id":1}],"next":"?skip=1"}"#), ok(r#"{"value":[{"id":2}],"next":""}"#)]);
    let walk = script.client().await.get("/x").pages(NextUrl::default()).items_path("value");
    assert_eq!(ids(&walk.all().await.unwrap()), [1, 2]);
    assert_eq!(script.paths(), ["/v1/x", "/v1/x?skip=1"]);
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R004
#[tokio::test(start_paused = true)]
async fn a_page_is_requested_when_it_is_needed() {
    let script = Script::new([link("/v1/x?page=2", r#"[{"id":1},{"id":2}]"#), ok(r#"[{"id":3}]"#)]);
    let client = script.client().await;
    let mut repos: Paged<Repo> = client.get("/x").pages(LinkHeader).items();
    assert_eq!(script.count(), 0);
    assert_eq!(repos.next().await.unwrap().unwrap().id, 1);
    assert_eq!(repos.next().await.unwrap().unwrap().id, 2);
    assert_eq!((script.count(), repos.end()), (1, None));
    assert_eq!(repos.next().await.unwrap().unwrap().id, 3);
    assert!(repos.next().await.is_none() && repos.next().await.is_none());
    assert_eq!((script.count(), repos.end()), (2, Some(WalkEnd::Exhausted)));
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R004
#[tokio::test(start_paused = true)]
async fn no_page_leads_to_another_origin() {
    for target in [
        "https://evil.example/v1/x",
        "http://api.example/v1/x",
        "https://api.example:8443/v1/x",
        "//evil.example/x",
        "https://api.example@evil.example/",
    ] {
        let script = Script::new([link(target, r#"[{"id":1}]"#), ok("[]")]);
        let walk = script.client().await.get("/x").pages(LinkHeader);
        assert!(matches!(code(walk.all::<Repo>().await), "walk_cross_origin" | "walk_bad_next"), "{target}");
        let next = format!(r#"{{"items":[{{"id":1}}],"next":"{target}"}}"#);
        let next_url = Script::new([ok(&next), ok("[]")]);
        let walk = next_url.client().await.get("/x").pages(NextUrl::default()).items_path("items");
        assert!(matches!(code(walk.all::<Repo>().await), "walk_cross_origin" | "walk_bad_next"), "{target}");
        assert_eq!((script.count(), next_url.count()), (1, 1), "{target}");
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R004
#[tokio::test(start_paused = true)]
async fn every_end_has_a_name() {
    let looping = || Script::new([ok(r#"{"items":[{"id":1}],"next_cursor":"same"}"#)]);
    let walk = async |script: &Script| script.client().await.get("/x").pages(Cursor::default()).items_path("items");
    let script = looping();
    let mut items: Paged<Repo> = walk(&script).await.items();
    let all: Vec<_> = items.by_ref().collect().await;
    assert_eq!(all.len(), 3, "two pages and the refusal");
    assert_eq!(all[2].as_ref().unwrap_err().code(), "walk_incomplete");
    assert_eq!(items.end(), Some(WalkEnd::Loop));

    // A bound the author set is an end, and not everything.
    let script = Script::new([ok(r#"[{"id":1},{"id":2},{"id":3}]"#)]);
    let bounded = async |script: &Script| script.client().await.get("/x").pages(PageNumber::default()).max_items(2);
    let mut items: Paged<Repo> = bounded(&script).await.items();
    let all: Vec<_> = items.by_ref().collect().await;
    assert_eq!((all.len(), items.end()), (2, Some(WalkEnd::ItemBudget)));
    assert_eq!(code(bounded(&script).await.all::<Repo>().await), "walk_incomplete");
    let mut items: Paged<Repo> = script.client().await.get("/x").pages(PageNumber::default()).max_pages(2).items();
    assert_eq!((items.by_ref().count().await, items.end()), (6, Some(WalkEnd::PageBudget)));

    // A failed page ends the walk without one.
    let script = Script::new([link("/v1/x?page=2", r#"[{"id":1}]"#), status(404)]);
    let mut items: Paged<Repo> = script.client().await.get("/x").pages(LinkHeader).items();
    let all: Vec<_> = items.by_ref().map(code).collect().await;
    assert_eq!((all, items.end()), (vec!["ok", "response_not_found"], None));

    // An item of another shape is told, and the others are still read.
    let script = Script::new([ok(r#"[{"id":1},{"id":"x"},{"id":3}]"#)]);
    let items: Paged<Repo> = script.client().await.get("/x").pages(LinkHeader).items();
    let all: Vec<_> = items.map(code).collect().await;
    assert_eq!(all, ["ok", "response_shape", "ok"]);
    let script = Script::new([ok(r#"{"items":3}"#)]);
    let missing: Result<Vec<Repo>, _> =
        script.client().await.get("/x").pages(LinkHeader).items_path("items").all().await;
    assert_eq!(code(missing), "walk_items_missing");
    assert_eq!(code(script.client().await.delete("/x").pages(LinkHeader).all::<Repo>().await), "client_destructive");
}

#[tokio::test(start_paused = true)]
async fn pages_are_retried_and_paced_like_any_call() {
    let script =
        Script::new([link("/v1/x?page=2", r#"[{"id":12345678901234567890123}]"#), status(503), ok(r#"[{"id":2}]"#)]);
    let client = script.build(|builder| builder.rate_limit(per_second(1))).await;
    let items: Vec<Json> = client.get("/x").pages(LinkHeader).all().await.unwrap();
    assert_eq!(items[0], parse(r#"{"id":12345678901234567890123}"#).unwrap(), "every digit is kept");
    assert_eq!(script.times_ms(), [0, 1000, 2000]);
}

/// Pages that are not those of a client: the tools of a server, for example.
struct Tool {
    calls: AtomicUsize,
}

#[async_trait]
impl PageFetch for Tool {
    async fn page(&self, request: &WalkRequest) -> Result<FetchedPage, ClientRefusal> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        assert_eq!(request.params.contains_key("cursor"), call > 0);
        tokio::time::sleep(Duration::from_millis(1)).await;
        let next = if call < 2 { Json::from("more") } else { Json::Null };
        let cursor = if call == 1 { Json::from("other") } else { next };
        let data =
            Json::from([("items", vec![Json::from(i64::try_from(call).unwrap())].into()), ("next_cursor", cursor)]);
        Ok(FetchedPage { data, link: None })
    }
}

/// Proves: SDK-CENTRALIZED-CAPABILITIES-R004
#[tokio::test(start_paused = true)]
async fn anything_that_has_pages_can_be_walked() {
    let options = WalkOptions { items_path: "items".into(), ..Cursor::default().into() };
    let tool = Arc::new(Tool { calls: AtomicUsize::new(0) });
    let items: Paged<u64> = Paged::over(tool, "list_tickets", options, "desk".into());
    assert_eq!(items.all().await.unwrap(), [0, 1, 2]);
}
