//! GraphQL over HTTP as values: what is asked, what came back, what it costs, and what a server offers
//! (SDK-CONNECTOR-CONTROL-R030.1).
//!
//! A status of 200 with errors is a failure. Nothing a server writes about an error is kept, only how many there are and which of a few
//! known kinds.

mod connection;
mod cost;
mod details;
mod document;
mod refusal;
mod response;
mod schema;

pub use connection::{ConnectionOptions, ConnectionWalk, NextPage};
pub use cost::{Cost, CostBudget, CostReport};
pub use details::introspection_failed;
pub use document::{GraphQlDocument, OperationKind};
pub use refusal::{ErrorKind, GraphQlRefusal, graphql_failure_payload};
pub use response::{GraphQlAnswer, GraphQlResponse};
pub use schema::{FieldModel, INTROSPECTION, SchemaModel, TypeKind, TypeModel, TypeRef};
