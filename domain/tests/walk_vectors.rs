//! HTTP walkers and tool pages against the golden vectors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use scion_domain::json::{Json, JsonObject};
use scion_domain::pagination::ToolPage;
use scion_domain::pagination::http::{Walk, WalkEnd, WalkMode, WalkOptions, WalkRefusal, cursor_target, link_cursor};
use scion_domain::refusal::Refusal as _;
use support::{Case, Vectors, json};

fn options(case: &Case<'_>) -> Result<WalkOptions, WalkRefusal> {
    let given = case.need("options").as_object().unwrap();
    let mut out = WalkOptions::default();
    for (name, value) in given {
        let text = || value.as_str().unwrap().to_owned();
        let count = || value.as_number().unwrap().as_u64().unwrap();
        match name.as_str() {
            "mode" => out.mode = WalkMode::parse(&text())?,
            "items_path" => out.items_path = text(),
            "params" => out.params = value.as_object().unwrap().clone(),
            "cursor_path" => out.cursor_path = text(),
            "cursor_param" => out.cursor_param = text(),
            "page_param" => out.page_param = text(),
            "page_size_param" => out.page_size_param = text(),
            "page_size" => out.page_size = Some(count()),
            "start_page" => out.start_page = count(),
            "offset_param" => out.offset_param = text(),
            "limit_param" => out.limit_param = text(),
            "since_param" => out.since_param = text(),
            "id_field" => out.id_field = text(),
            "base_url" => out.base_url = Some(text()),
            "max_items" => out.max_items = Some(usize::try_from(count()).unwrap()),
            "max_pages" => out.max_pages = usize::try_from(count()).unwrap(),
            other => panic!("unknown option {other}"),
        }
    }
    // Deviation: following links needs to know its origin. The vectors do not name one.
    if out.mode == WalkMode::Link {
        let first = case.list("pages_served")[0]
            .get("headers")
            .and_then(|headers| headers.get("link").or_else(|| headers.get("Link")).and_then(Json::as_str));
        let own =
            if first.is_some_and(|link| link.contains("https://a/")) { "https://a" } else { "https://api.example" };
        out.base_url = Some(own.to_owned());
    }
    Ok(out)
}

/// Runs a walk over the served pages and empty ones after them; answers the requests made and how it ended.
fn run(case: &Case<'_>) -> (Vec<Json>, Result<Walk, WalkRefusal>) {
    let mut requests = Vec::new();
    let walk = options(case).and_then(|options| Walk::start("/items", options));
    let mut walk = match walk {
        Ok(walk) => walk,
        Err(refusal) => return (requests, Err(refusal)),
    };
    let empty = json(r#"{"data":[]}"#);
    while let Some(request) = walk.request() {
        let params = Some(request.params.clone()).filter(|params| !params.is_empty());
        requests.push(Json::from([("url", request.url.as_str().into()), ("params", params.into())]));
        let page = case.list("pages_served").get(requests.len() - 1).unwrap_or(&empty);
        let headers = page.get("headers");
        let link = headers.and_then(|all| all.get("link").or_else(|| all.get("Link"))).and_then(Json::as_str);
        if let Err(refusal) = walk.accept(page.get("data").unwrap(), link) {
            return (requests, Err(refusal));
        }
        assert!(requests.len() < 50, "{} does not end", case.id);
    }
    (requests, Ok(walk))
}

#[test]
fn every_walk_is_a_peers_or_better() {
    let vectors = Vectors::open("pagination");
    let modes: Vec<_> = WalkMode::ALL.iter().map(|mode| Json::from(mode.as_str())).collect();
    assert_eq!(vectors.value("modes"), &Json::Array(modes));
    vectors.each("walks", |case| {
        let (requests, walk) = run(case);
        let id = case.id.as_str();
        // Deviations first: all of them are in conformance/vectors/DEVIATIONS.md.
        match id {
            "cursor-repeats-forever" => {
                let result = walk.unwrap().finish();
                assert_eq!((result.end, result.pages, result.data.len()), (WalkEnd::Loop, 2, 2));
                assert_eq!(result.complete().unwrap_err().code(), "walk_incomplete");
            }
            "link-other-host-followed" => {
                assert!(matches!(walk, Err(WalkRefusal::CrossOriginLink { page: 1 })));
                assert_eq!(requests.len(), 1);
            }
            "since-id-missing-ends" | "next-url-non-string" => {
                assert!(matches!(walk, Err(WalkRefusal::BadNext { page: 1, .. })), "{id}");
            }
            "items-not-a-list" => assert!(matches!(walk, Err(WalkRefusal::NoItems { page: 1, .. }))),
            "items-path-through-list" => assert_eq!(walk.unwrap().finish().data, [json("1")]),
            "page-short-page-ends" | "offset-advances-by-received" | "offset-plain" => {
                let wanted = case.list("requests");
                assert_eq!((&requests[..wanted.len()], requests.len()), (wanted, wanted.len() + 1), "{id}");
                assert_eq!(&walk.unwrap().finish().to_json(), case.need("result"), "{id}");
            }
            "max-items-exact-no-more" => {
                let result = walk.unwrap().finish();
                assert_eq!((result.end, result.data.len()), (WalkEnd::ItemBudget, 2));
            }
            _ => {
                assert_eq!(requests, case.list("requests"), "{id}");
                if case.fails() {
                    let refusal = walk.expect_err(id);
                    let code = case.need("error").get("code").and_then(Json::as_str);
                    assert_eq!(refusal.problem_type(), code, "{id}");
                    return;
                }
                let result = walk.unwrap_or_else(|refusal| panic!("{id}: {refusal}")).finish();
                assert_eq!(&result.to_json(), case.need("result"), "{id}");
                assert_eq!(Some(result.pages as u64), case.need("pages").as_number().unwrap().as_u64(), "{id}");
            }
        }
    });
}

#[test]
fn the_servers_own_flag_decides() {
    let options = WalkOptions {
        mode: WalkMode::Page,
        items_path: "items".to_owned(),
        more_path: "more".to_owned(),
        ..WalkOptions::default()
    };
    let mut walk = Walk::start("/items", options.clone()).unwrap();
    walk.accept(&json(r#"{"items":[],"more":true}"#), None).unwrap();
    walk.accept(&json(r#"{"items":[1],"more":false}"#), None).unwrap();
    assert!(walk.request().is_none());
    assert_eq!(walk.finish().complete().unwrap(), [json("1")]);

    let mut walk = Walk::start("/items", WalkOptions { mode: WalkMode::Cursor, ..options }).unwrap();
    let refusal = walk.accept(&json(r#"{"items":[1],"more":true,"next_cursor":null}"#), None).unwrap_err();
    assert_eq!(refusal, WalkRefusal::NoNext { page: 1 });
    assert_eq!(walk.accept(&json("{}"), None), Err(WalkRefusal::Ended));
}

#[test]
fn a_next_url_cannot_smuggle() {
    for bad in [
        "https://user:pw@api.example/x",
        "https:\\\\evil.example/x",
        "//evil.example/x",
        "https://api.example.evil/x",
        "javascript:1",
        "https://api.example\t.evil/x",
        "http://api.example/x",
        "/\\evil.example",
    ] {
        let options = WalkOptions {
            mode: WalkMode::NextUrl,
            items_path: "r".to_owned(),
            base_url: Some("https://api.example".to_owned()),
            ..WalkOptions::default()
        };
        let mut walk = Walk::start("/items", options).unwrap();
        let answer = Json::from([("r", Json::Array(Vec::new())), ("next", bad.into())]);
        assert!(walk.accept(&answer, None).is_err(), "{bad}");
        assert!(walk.request().is_none());
    }
}

#[test]
fn every_link_cursor_is_equal() {
    Vectors::open("pagination").each("link_cursors", |case| {
        let cursor = link_cursor(case.text("url"), case.text("link"), case.text("base_url"));
        if case.fails() {
            let code = case.need("error").get("code").and_then(Json::as_str);
            assert_eq!(cursor.expect_err(&case.id).problem_type(), code, "{}", case.id);
        } else {
            assert_eq!(&Json::from(cursor.unwrap()), case.need("ok"), "{}", case.id);
        }
    });
}

#[test]
fn every_cursor_target_is_a_peers_or_better() {
    Vectors::open("pagination").each("cursor_targets", |case| {
        let cursor = case.text("cursor");
        // Deviation: a backslash is refused.
        if case.fails() || cursor.contains('\\') {
            let wanted = Some("urn:agent-connector-sdk:problem:cross-origin-cursor");
            assert_eq!(cursor_target(cursor).expect_err(&case.id).problem_type(), wanted, "{}", case.id);
        } else {
            assert_eq!(cursor_target(cursor), Ok(case.text("ok")), "{}", case.id);
        }
    });
}

#[test]
fn every_tool_page_is_a_peers_or_better() {
    let items = |case: &Case<'_>| case.need("items").as_number().unwrap().as_u64().unwrap();
    Vectors::open("pagination").each("tool_pages", |case| {
        let page = match case.text("call") {
            "from_cursor" => ToolPage::from_cursor(vec![json("1")], case.need("cursor").as_str()),
            "from_window" => {
                let count = |name: &str| case.need(name).as_number().and_then(scion_domain::json::JsonNumber::as_u64);
                let list = (0..items(case)).map(Json::from).collect();
                ToolPage::from_window(list, usize::try_from(count("page_size").unwrap()).unwrap(), count("total"))
            }
            "negative-total" => {
                assert!(ToolPage::from_json(&json(r#"{"items":[],"total":-1}"#)).is_err());
                return;
            }
            "extra" => {
                assert!(ToolPage::from_json(&json(r#"{"items":[],"x":1}"#)).is_err());
                return;
            }
            other => panic!("unknown call {other}"),
        };
        assert_eq!(ToolPage::from_json(&page.to_json()).as_ref(), Ok(&page));
        if case.get("cursor").and_then(Json::as_str) == Some("") {
            // Deviation: "there is more" with nothing to ask for it is malformed.
            assert_eq!((page.next_cursor, page.has_more), (None, false));
        } else {
            assert_eq!(&page.to_json(), case.need("page"), "{}", case.id);
        }
    });
}

#[test]
fn every_preset_of_a_page_is_equal() {
    Vectors::open("pagination").each("preset_fields", |case| {
        let fields = match case.text("mode") {
            "cursor" => ToolPage::cursor_preset("c"),
            "page" => ToolPage::page_preset("p", "n", 50),
            "offset" => ToolPage::offset_preset("p", "n", 50),
            other => panic!("unknown mode {other}"),
        };
        assert_eq!(&Json::Object(fields.clone()), case.need("fields"));
        let mut object: JsonObject = fields;
        object.insert("server".to_owned(), "s".into());
        object.insert("tool".to_owned(), "t".into());
        support::preset(&Json::Object(object));
    });
}
