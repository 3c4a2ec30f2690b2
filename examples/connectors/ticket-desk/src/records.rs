//! What the desk holds.

use scion::prelude::*;

/// Where a ticket stands.
#[scion::model]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody works on it yet.
    Open,
    /// Somebody does.
    Pending,
    /// Done.
    Closed,
}

impl State {
    /// The word in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Pending => "pending",
            Self::Closed => "closed",
        }
    }
}

/// A request of a person.
#[scion::model]
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    /// Its number.
    pub id: u64,
    /// What it is about.
    pub subject: String,
    /// Where it stands.
    pub state: State,
    /// Who asked, as the id of a person.
    pub asked_by: String,
    /// The last change.
    pub updated_at: Timestamp,
}

/// What a new ticket needs.
#[scion::model]
#[derive(Clone, Debug, PartialEq)]
pub struct NewTicket {
    /// What it is about.
    #[schemars(length(min = 1, max = 200))]
    pub subject: String,
    /// Who asks, as the id of a person.
    pub asked_by: String,
}

/// Somebody who asks.
#[scion::model]
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    /// The person's id.
    pub id: String,
    /// What they are called at the desk.
    pub nickname: String,
}

/// A page of tickets as the desk sends it.
#[scion::model]
#[derive(Clone, Debug)]
pub(crate) struct TicketPage {
    pub(crate) tickets: Vec<Ticket>,
    pub(crate) next_page: Option<u32>,
    pub(crate) total: u64,
}

/// A page of people as the desk sends it.
#[scion::model]
#[derive(Clone, Debug)]
pub(crate) struct PeoplePage {
    pub(crate) people: Vec<Person>,
    pub(crate) next: Option<String>,
}
