//! Descriptions of HTTP APIs (OpenAPI 3.0 and 3.1, Swagger 2.0) as a bounded model of operations, and requests from it.
//!
//! [`convert`] reads a document; [`curate`] makes tools and sources of its operations, as an operator wants them; [`request_plan`]
//! makes a request of one operation and the arguments of a call. All are pure: nothing is fetched, sent or looked up. Every tool of the model passes the
//! [client profile](scion_domain::client_profile::ClientProfile).
//!
//! Input schemas are closed and without references. What a schema cannot write out in bounded form (a type that contains
//! itself, an object that takes anything) is *cut*: it takes JSON text, which [`request_plan`] decodes.

mod auth_choice;
mod body;
mod convert;
mod curated;
mod document;
mod limits;
mod model;
mod names;
mod paging;
mod parameters;
mod plan;
mod records;
mod refs;
mod report;
mod responses;
mod schema;
mod security;
mod servers;
mod text;
mod yaml;

pub use auth_choice::{ChosenAuth, choose_auth};
pub use convert::{ConvertOptions, convert};
pub use curated::{
    CuratedApi, CuratedOperation, Keep, NextPage, SourceEdge, SourceFanOut, SourcePages, SourcePlan, curate,
};
pub use document::Dialect;
pub use limits::Limits;
pub use model::{
    ApiModel, BodyKind, FieldEncoding, ListShape, Operation, OperationLink, Parameter, ParameterForm, Place,
    RequestBody, Style, TextForm,
};
pub use plan::{
    MAX_REQUEST_BYTES, RequestPlan, check_arguments, next_page_of, next_page_query, request_plan, with_fixed,
};
pub use report::{ConversionReport, Note, RefusedOperation};
pub use security::{SchemeKind, SecurityRequirement, SecurityScheme};
pub use servers::{ServerTemplate, ServerVariable, base_url};
