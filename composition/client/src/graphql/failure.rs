use std::fmt;

use scion_domain::graphql::{GraphQlRefusal, graphql_failure_payload};
use scion_domain::json::JsonObject;
use scion_domain::refusal::{Blame, Refusal, Retry};

use crate::ClientRefusal;

/// Why an operation has no result: the call failed, or the server's answer is no result. Neither holds text of the server, the request
/// or the credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphQlFailure {
    /// The call.
    Client(ClientRefusal),
    /// The answer.
    GraphQl(GraphQlRefusal),
}

impl GraphQlFailure {
    fn inner(&self) -> &dyn Refusal {
        match self {
            Self::Client(refusal) => refusal,
            Self::GraphQl(refusal) => refusal,
        }
    }

    /// What a tool hands on: [`graphql_failure_payload`].
    pub fn payload(&self) -> JsonObject {
        graphql_failure_payload(self)
    }
}

impl fmt::Display for GraphQlFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.inner(), f)
    }
}

impl std::error::Error for GraphQlFailure {}

impl Refusal for GraphQlFailure {
    fn code(&self) -> &'static str {
        self.inner().code()
    }

    fn blame(&self) -> Blame {
        self.inner().blame()
    }

    fn retry(&self) -> Retry {
        self.inner().retry()
    }

    fn next_step(&self) -> &'static str {
        self.inner().next_step()
    }
}

impl From<ClientRefusal> for GraphQlFailure {
    fn from(refusal: ClientRefusal) -> Self {
        Self::Client(refusal)
    }
}

impl From<GraphQlRefusal> for GraphQlFailure {
    fn from(refusal: GraphQlRefusal) -> Self {
        Self::GraphQl(refusal)
    }
}
