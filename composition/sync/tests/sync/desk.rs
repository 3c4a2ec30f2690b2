//! The desk: 25 tickets in pages, two agents, and details of each ticket.

use std::sync::{Arc, Mutex};

use scion_domain::json::{Json, JsonObject};

use crate::support::{Answer, FakeServer, json, tool};

/// The records a tool serves; a test changes them between cycles.
pub type Records = Arc<Mutex<Vec<Json>>>;

pub fn ticket(number: u64) -> Json {
    json(&format!(r#"{{"id":{number},"title":"Ticket {number}","updated_at":"2026-03-{:02}T09:00:00Z"}}"#, number + 1))
}

pub fn tickets(count: u64) -> Records {
    Arc::new(Mutex::new((1..=count).map(ticket).collect()))
}

/// A handler that serves pages of a list: `page` from `start`, `page_size` a page.
pub fn pages(records: &Records, start: u64, size: usize) -> impl Fn(&JsonObject) -> Answer + Send + Sync + 'static {
    let records = records.clone();
    move |arguments| {
        let page = arguments
            .get("page")
            .and_then(Json::as_number)
            .and_then(scion_domain::json::JsonNumber::as_u64)
            .unwrap_or(start);
        let from = usize::try_from(page - start).unwrap() * size;
        let records = records.lock().unwrap();
        Answer::Value(Json::Array(records.iter().skip(from).take(size).cloned().collect()))
    }
}

pub fn whole(records: &Records) -> impl Fn(&JsonObject) -> Answer + Send + Sync + 'static {
    let records = records.clone();
    move |_| Answer::Value(Json::Array(records.lock().unwrap().clone()))
}

/// A declaration with the given sources and one mapping per record type.
pub fn declaration(sources: &[&str], types: &[&str]) -> String {
    let mappings: Vec<String> =
        types.iter().map(|name| format!(r#""{name}":{{"fields":{{"title":"title"}}}}"#)).collect();
    format!(
        r#"{{"connector":"acme-desk-mcp","sources":[{}],"schema_mappings":{{{}}},"resources":[],"descriptors":[]}}"#,
        sources.join(","),
        mappings.join(",")
    )
}

pub fn tickets_source(size: usize) -> String {
    format!(
        r#"{{"source_id":"tickets","record_type":"Ticket","tools":["desk_list_tickets"],"id_field":"id",
            "cursor_field":"updated_at","pagination":"page","page_param":"page","page_size":{size},"start_page":1,
            "preset":{{"params_style":"args"}}}}"#
    )
}

pub const AGENTS: &str = r#"{"source_id":"agents","record_type":"Agent","tools":["desk_list_agents"],"id_field":"id",
    "preset":{"params_style":"args"}}"#;

pub const DETAILS: &str = r#"{"source_id":"ticket-details","record_type":"TicketDetail","tools":["desk_get_ticket"],
    "id_field":"id","for_each":{"source":"tickets","argument":"ticket_id"},"preset":{"params_style":"args"}}"#;

pub fn agents() -> Records {
    Arc::new(Mutex::new(vec![json(r#"{"id":"1","title":"Ada"}"#), json(r#"{"id":"2","title":"Bo"}"#)]))
}

/// The whole desk.
pub fn server(tickets: &Records, size: usize) -> FakeServer {
    let details = tickets.clone();
    FakeServer::new(&declaration(&[&tickets_source(size), AGENTS, DETAILS], &["Ticket", "Agent", "TicketDetail"]))
        .with_tool(tool("desk_list_tickets", &["page"]), pages(tickets, 1, size))
        .with_tool(tool("desk_list_agents", &[]), whole(&agents()))
        .with_tool(tool("desk_get_ticket", &["ticket_id"]), move |arguments| {
            let wanted = arguments.get("ticket_id").cloned();
            let records = details.lock().unwrap();
            match records.iter().find(|record| record.get("id") == wanted.as_ref()) {
                Some(record) => Answer::Value(record.clone()),
                None => Answer::Error,
            }
        })
}
