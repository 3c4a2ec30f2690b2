use scion_domain::graphql::{GraphQlRefusal, graphql_failure_payload};
use scion_domain::json::JsonObject;
use scion_domain::refusal::Refusal;

use crate::ClientRefusal;
use crate::refusal::answers_as_inner;

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

answers_as_inner!(GraphQlFailure: ClientRefusal => Client, GraphQlRefusal => GraphQl);
