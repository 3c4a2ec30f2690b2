//! The smallest connector worth copying: a help desk with two tools, two sources and an edge between them.
//!
//! The book's tutorial explains it line by line. It serves on standard input and output, so start it through a client:
//! name the built program as `endpoint.command` in a configuration of `connector-sync`.

use std::io::Write as _;
use std::process::ExitCode;

use scion::domain::json::Json;
use scion::domain::refusal::Refusal as _;
use scion::serve::{Args, Connector, Edge, Mapping, Param, Source, Tool, ToolBuilder, ToolRefusal};

/// The vendor system. A real client asks over the network.
const PEOPLE: [(&str, &str); 2] = [("p1", "Ada"), ("p2", "Lin")];
const TICKETS: [(&str, &str, &str); 3] =
    [("t1", "The printer is out of paper", "p1"), ("t2", "New monitor", "p2"), ("t3", "The printer smokes", "p1")];

fn list_people() -> Tool {
    let source = Source::new("people", "Person", "id")
        .title_field("called")
        .page("page", Some("page_size"), 100)
        .mapping(Mapping::class("Person").same_names(&["called"]));
    paged(Tool::read("desk_list_people").title("List people").source(source)).handle(|_context, args| async move {
        let record = |(id, called): &(&str, &str)| Json::from([("id", (*id).into()), ("called", (*called).into())]);
        Ok(page(&PEOPLE.iter().map(record).collect::<Vec<_>>(), &args)?.into())
    })
}

fn list_tickets() -> Tool {
    let source = Source::new("tickets", "Ticket", "id")
        .title_field("subject")
        .page("page", Some("page_size"), 100)
        .edge(Edge::new("asked_by", "asked_by", "Person").to_source("people"))
        .mapping(Mapping::class("Ticket").same_names(&["subject"]));
    paged(Tool::read("desk_list_tickets").title("List tickets").source(source)).handle(|_context, args| async move {
        let record = |(id, subject, person): &(&str, &str, &str)| {
            Json::from([("id", (*id).into()), ("subject", (*subject).into()), ("asked_by", (*person).into())])
        };
        Ok(page(&TICKETS.iter().map(record).collect::<Vec<_>>(), &args)?.into())
    })
}

/// The parameters both tools page by.
fn paged(tool: ToolBuilder) -> ToolBuilder {
    tool.param(Param::integer("page", "Page number, from 1").between(1, 1_000_000).or(1))
        .param(Param::integer("page_size", "Records a page").between(1, 1_000).or(100))
}

fn page(all: &[Json], args: &Args) -> Result<Vec<Json>, ToolRefusal> {
    let (number, size) = (args.count("page")?, args.count("page_size")?);
    Ok(all.iter().skip((number - 1) * size).take(size).cloned().collect())
}

fn main() -> ExitCode {
    let desk = Connector::builder(scion::identity!("desk")).title("Help desk").tool(list_people()).tool(list_tickets());
    match desk.build() {
        Ok(surface) => scion::run_stdio(surface),
        Err(refusal) => {
            let (code, next) = (refusal.code(), refusal.next_step());
            // If standard error is gone, there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error[{code}]: {refusal}\n  next: {next}");
            ExitCode::FAILURE
        }
    }
}
