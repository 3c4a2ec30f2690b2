//! A help desk of its own: tickets, people, pages, a delete, behind a bearer token.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The token the desk knows.
pub(crate) const TOKEN: &str = "a-token-of-the-desk";

/// The desk; it ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct DeskService {
    pub(crate) url: String,
    store: Arc<Mutex<Store>>,
}

struct Store {
    tickets: Vec<Value>,
    /// Every request: method and path with query.
    seen: Vec<String>,
}

impl DeskService {
    /// Seven tickets of three people.
    pub(crate) async fn start() -> Self {
        let ticket = |id: u64| {
            let state = ["open", "pending", "closed"][usize::try_from(id % 3).unwrap()];
            json!({"id": id, "subject": format!("Printer {id} is out of paper"), "state": state,
                "asked_by": format!("p{}", id % 3 + 1), "updated_at": format!("2026-03-0{id}T08:00:00Z")})
        };
        let store = Store { tickets: (1..=7).map(ticket).collect(), seen: Vec::new() };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let desk = Self { url, store: Arc::new(Mutex::new(store)) };
        let serving = desk.clone();
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let desk = serving.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(desk.clone(), request));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        desk
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap()
    }

    /// The requests so far whose text holds `part`.
    pub(crate) fn seen(&self, part: &str) -> usize {
        self.store().seen.iter().filter(|line| line.contains(part)).count()
    }

    pub(crate) fn tickets(&self) -> usize {
        self.store().tickets.len()
    }
}

async fn answer(desk: DeskService, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let authorized = head.headers.get("authorization").is_some_and(|value| value == format!("Bearer {TOKEN}").as_str());
    let (status, value) = if authorized {
        let query: Vec<(String, String)> = head.uri.query().unwrap_or_default().split('&').filter_map(pair).collect();
        desk.store().answer(&head.method, head.uri.path(), &query, &body)
    } else {
        (StatusCode::UNAUTHORIZED, json!({"error": "who are you?", "secret": "internal-host-17"}))
    };
    desk.store().seen.push(format!("{} {}", head.method, head.uri));
    let text = if value.is_null() { String::new() } else { value.to_string() };
    let response = Response::builder().status(status).header("content-type", "application/json");
    Ok(response.body(Full::from(text)).unwrap())
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    Some((name.to_owned(), value.replace("%3A", ":")))
}

impl Store {
    fn answer(&mut self, method: &Method, path: &str, query: &[(String, String)], body: &[u8]) -> (StatusCode, Value) {
        let given = |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let number = |name: &str| given(name).and_then(|value| value.parse::<usize>().ok());
        let missing = (StatusCode::NOT_FOUND, json!({"error": "no such thing"}));
        let one = path.strip_prefix("/api/tickets/").and_then(|id| id.parse::<u64>().ok());
        let at = one.and_then(|id| self.tickets.iter().position(|ticket| ticket["id"] == id));
        let sent = || serde_json::from_slice::<Value>(body).unwrap();
        match (method.as_str(), path) {
            ("GET", "/api/tickets") => {
                let (page, size) = (number("page").unwrap_or(1), number("per_page").unwrap_or(3));
                let wanted = |ticket: &&Value| {
                    given("state").is_none_or(|state| ticket["state"] == state)
                        && given("updated_since").is_none_or(|since| ticket["updated_at"].as_str().unwrap() >= since)
                };
                let all: Vec<&Value> = self.tickets.iter().filter(wanted).collect();
                let tickets: Vec<&Value> = all.iter().skip((page - 1) * size).take(size).copied().collect();
                let next = (page * size < all.len()).then_some(page + 1);
                (StatusCode::OK, json!({"tickets": tickets, "next_page": next, "total": all.len()}))
            }
            ("GET", "/api/people") => {
                let person = |id: usize| json!({"id": format!("p{id}"), "nickname": format!("Number {id}")});
                match given("cursor") {
                    None => (StatusCode::OK, json!({"people": [person(1), person(2)], "next": "after-p2"})),
                    Some("after-p2") => (StatusCode::OK, json!({"people": [person(3)], "next": null})),
                    Some(_) => (StatusCode::BAD_REQUEST, json!({"error": "bad cursor"})),
                }
            }
            ("POST", "/api/tickets") => {
                let (sent, id) = (sent(), 100 + self.tickets.len());
                let ticket = json!({"id": id, "subject": sent["subject"], "state": "open", "asked_by": sent["asked_by"],
                    "updated_at": "2026-03-09T08:00:00Z"});
                self.tickets.push(ticket.clone());
                (StatusCode::CREATED, ticket)
            }
            ("GET", _) => at.map_or(missing, |at| (StatusCode::OK, self.tickets[at].clone())),
            ("PATCH", _) => at.map_or(missing, |at| {
                self.tickets[at]["state"] = sent()["state"].clone();
                (StatusCode::OK, self.tickets[at].clone())
            }),
            ("DELETE", _) => at.map_or(missing, |at| {
                self.tickets.remove(at);
                (StatusCode::NO_CONTENT, Value::Null)
            }),
            _ => missing,
        }
    }
}
