//! The service behind `examples/connectors/notes-api`, as its document describes it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use scion_lab::{Answer, Behaviour, Lab, Received};
use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "s3cr3t-notes-token";

/// A running service and the notes in it.
pub(crate) struct Notes {
    pub(crate) lab: Lab,
    pub(crate) notes: Arc<Mutex<BTreeMap<String, Value>>>,
}

impl Notes {
    pub(crate) async fn start() -> Self {
        let notes: BTreeMap<String, Value> = (1..=7).map(|n| (format!("n{n}"), note(&format!("n{n}"), n))).collect();
        let notes = Arc::new(Mutex::new(notes));
        let shared = notes.clone();
        let lab = Lab::scripted(move |received| answer(received, &mut shared.lock().unwrap()).into()).await;
        Self { lab, notes }
    }

    pub(crate) fn base(&self) -> String {
        self.lab.url("/v1").to_string()
    }
}

fn note(id: &str, number: u64) -> Value {
    json!({"id": id, "title": format!("Note {number}"), "text": if number == 3 { Value::Null } else { json!("words") }, "tags": ["a"],
           "notebook_id": 9_007_199_254_740_993_u64 + number % 2, "updated_at": format!("2026-01-0{number}T00:00:00Z"), "internal_rank": 0.5})
}

fn pairs(received: &Received) -> BTreeMap<String, String> {
    let url = scion_domain::http::Url::parse(&format!("http://x{}", received.target)).unwrap();
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn answer(received: &Received, notes: &mut BTreeMap<String, Value>) -> Answer {
    if received.header("authorization") != Some(format!("Bearer {TOKEN}").as_str()) {
        return Answer::status(401)
            .header("content-type", "application/problem+json")
            .body(r#"{"type":"about:blank"}"#);
    }
    let query = pairs(received);
    let path = received.path().strip_prefix("/v1").unwrap_or_default().to_owned();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (received.method.as_str(), segments.as_slice()) {
        ("GET", ["notes"]) => {
            let limit: usize = query.get("limit").map_or(20, |limit| limit.parse().unwrap());
            // The server cuts pages at three, whatever is asked for.
            let limit = limit.min(3);
            let after = query.get("cursor").cloned().unwrap_or_default();
            let since = query.get("updated_since").cloned().unwrap_or_default();
            let left: Vec<&Value> = notes
                .values()
                .filter(|note| note["id"].as_str().unwrap() > after.as_str())
                .filter(|note| note["updated_at"].as_str().unwrap() >= since.as_str())
                .collect();
            let page: Vec<&Value> = left.iter().take(limit).copied().collect();
            let next = (left.len() > limit).then(|| page.last().unwrap()["id"].clone());
            Answer::json(&json!({"items": page, "next_cursor": next}))
        }
        ("POST", ["notes"]) => {
            let mut made: Value = serde_json::from_slice(&received.body).unwrap();
            let id = format!("n{}", notes.len() + 1);
            made["id"] = json!(id);
            made["updated_at"] = json!("2026-02-01T00:00:00Z");
            notes.insert(id, made.clone());
            Answer::status(201).with_json(&made)
        }
        ("POST", ["notes", "search"]) => {
            let asked: Value = serde_json::from_slice(&received.body).unwrap();
            assert_eq!(asked["archived"], false);
            let found: Vec<&Value> = notes
                .values()
                .filter(|note| note["title"].as_str().unwrap().contains(asked["query"].as_str().unwrap()))
                .collect();
            Answer::json(&json!(found))
        }
        ("GET", ["notes", id]) => notes.get(*id).map_or_else(|| Answer::status(404), Answer::json),
        ("DELETE", ["notes", id]) => match notes.remove(*id) {
            Some(_) => Answer::status(204),
            None => Answer::status(404),
        },
        ("POST", ["notes", _, "attachment"]) => {
            let text = received.text();
            assert!(received.header("content-type").unwrap().starts_with("multipart/form-data; boundary="));
            assert!(text.contains("name=\"file\"; filename=\"file\"") && text.contains("hello"), "{text}");
            Answer::json(&json!({"bytes": 5, "caption": text.contains("name=\"caption\"").then_some("a caption")}))
        }
        ("GET", ["notebooks"]) => {
            let page: u64 = query.get("page").map_or(1, |page| page.parse().unwrap());
            let all = [
                json!({"id": 9_007_199_254_740_993_u64, "name": "Home"}),
                json!({"id": 9_007_199_254_740_994_u64, "name": "Work"}),
            ];
            let link =
                format!("<http://{}/v1/notebooks?page={}>; rel=\"next\"", received.header("host").unwrap(), page + 1);
            match page {
                1 => Answer::json(&json!([all[0]])).header("link", link),
                2 => Answer::json(&json!([all[1]])),
                _ => Answer::json(&json!([])),
            }
        }
        ("GET", ["notebooks", id, "members"]) => {
            Answer::json(&json!([{"id": format!("m-{id}"), "name": "Ada", "email": "ada@notes.example"}]))
        }
        ("GET", ["events"]) => {
            let host = received.header("host").unwrap();
            match query.get("after").map(String::as_str) {
                None => Answer::json(&json!([{"id": "e1", "kind": "created"}]))
                    .header("link", format!("<http://{host}/v1/events?after=e1&kind=created>; rel=next")),
                Some("e1") => Answer::json(&json!([{"id": "e2", "kind": "created"}])),
                Some(_) => Answer::status(400),
            }
        }
        ("GET", ["export.csv"]) => {
            Answer::ok("id,title\nn1,Note 1\n").header("content-type", "text/csv; charset=utf-8")
        }
        _ => Answer::status(404),
    }
}

/// A service that does one thing whatever it is asked.
pub(crate) async fn always(behaviour: Behaviour) -> Lab {
    Lab::always(behaviour).await
}
