//! Example connector: a help desk's tickets and people, over its HTTP API.
//!
//! `DESK_BASE_URL` says where the desk is, `DESK_TOKEN` holds its token. The package's tests start a desk of their own.

pub mod desk;
pub mod records;

use desk::Desk;

scion::connector! {
    name: "ticket-desk-mcp",
    api: Desk,
    auth: Bearer::env("DESK_TOKEN"),
    content: "content/",
    title: "Ticket desk",
    instructions: "Read tickets with desk_list_tickets. Close a ticket with desk_update_ticket before deleting it.",
    rate_limit: per_second(50).burst(50),
}
