//! The desk's API: one method for each operation, and each of them a tool.

use scion::prelude::*;

use crate::records::{NewTicket, PeoplePage, Person, State, Ticket, TicketPage};

/// A client of the desk.
#[derive(Debug)]
pub struct Desk {
    client: GovernedClient,
}

impl Api for Desk {
    fn new(client: GovernedClient) -> Self {
        Self { client }
    }
}

#[scion::operations(prefix = "desk", domain = "tickets")]
impl Desk {
    /// List tickets, the oldest change first.
    #[operation(
        get = "/api/tickets",
        source(
            record = "Ticket",
            id = "id",
            cursor = "updated_at",
            title = "subject",
            edge(name = "asked_by", field = "asked_by", record = "Person", source = "people")
        )
    )]
    async fn list_tickets(
        &self,
        /// The page, from 1.
        #[arg(default = 1, min = 1, max = 1_000_000)]
        page: u32,
        /// Tickets a page.
        #[arg(default = 50, min = 1, max = 100)]
        per_page: u32,
        /// Only tickets that stand there.
        state: Option<State>,
        /// Only tickets changed then or later.
        since: Option<Timestamp>,
    ) -> Result<Page<Ticket>, ApiError> {
        let mut request = self.client.get("/api/tickets").query("page", page).query("per_page", per_page);
        if let Some(state) = state {
            request = request.query("state", state.as_str());
        }
        if let Some(since) = since {
            request = request.query("updated_since", since);
        }
        let read: TicketPage = request.json().await?;
        Ok(Page::counted(read.tickets, read.next_page.is_some()).of_total(read.total))
    }

    /// Read one ticket.
    #[operation(get = "/api/tickets/{id}")]
    async fn get_ticket(
        &self,
        /// Its number.
        id: u64,
    ) -> Result<Ticket, ApiError> {
        Ok(self.client.get(&format!("/api/tickets/{}", segment(id))).json().await?)
    }

    /// Open a ticket for a person.
    #[operation(post = "/api/tickets")]
    async fn create_ticket(
        &self,
        /// The ticket.
        ticket: NewTicket,
    ) -> Result<Ticket, ApiError> {
        Ok(self.client.post("/api/tickets").json_body(&ticket).json().await?)
    }

    /// Say where a ticket stands now.
    #[operation(patch = "/api/tickets/{id}")]
    async fn update_ticket(
        &self,
        /// Its number.
        id: u64,
        /// Where it stands.
        state: State,
    ) -> Result<Ticket, ApiError> {
        let body = Json::from([("state", state.as_str().into())]);
        Ok(self.client.patch(&format!("/api/tickets/{}", segment(id))).json_value(&body).json().await?)
    }

    /// Delete a ticket for good. A person is asked first.
    #[operation(delete = "/api/tickets/{id}")]
    async fn delete_ticket(
        &self,
        /// Its number.
        id: u64,
    ) -> Result<(), ApiError> {
        self.client.delete(&format!("/api/tickets/{}", segment(id))).bytes().await?;
        Ok(())
    }

    /// List the people who ask, by their ids.
    #[operation(get = "/api/people", domain = "people", source(record = "Person", id = "id", title = "nickname"))]
    async fn list_people(
        &self,
        /// Where the page starts, as the page before named it.
        cursor: Option<String>,
    ) -> Result<Page<Person>, ApiError> {
        let request = self.client.get("/api/people");
        let request = if let Some(cursor) = cursor { request.query("cursor", cursor) } else { request };
        let read: PeoplePage = request.json().await?;
        Ok(Page::from_cursor(read.people, read.next))
    }
}
