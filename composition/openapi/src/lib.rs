//! Descriptions of HTTP APIs (OpenAPI 3.0 and 3.1, Swagger 2.0) as a bounded model of operations, and requests from it.
//!
//! [`convert`] reads a document; [`request_plan`] makes a request of one operation and the arguments of a call. Both are pure:
//! nothing is fetched, sent or looked up. Every tool of the model passes the
//! [client profile](scion_domain::client_profile::ClientProfile).
//!
//! Input schemas are closed and without references. What a schema cannot write out in bounded form (a type that contains
//! itself, an object that takes anything) is *cut*: it takes JSON text, which [`request_plan`] decodes.

mod body;
mod convert;
mod document;
mod limits;
mod model;
mod names;
mod paging;
mod parameters;
mod plan;
mod refs;
mod report;
mod responses;
mod schema;
mod security;
mod servers;
mod text;
mod yaml;

pub use convert::{ConvertOptions, convert};
pub use document::Dialect;
pub use limits::Limits;
pub use model::{
    ApiModel, BodyKind, FieldEncoding, Operation, OperationLink, Parameter, ParameterForm, Place, RequestBody, Style,
    TextForm,
};
pub use plan::{MAX_REQUEST_BYTES, RequestPlan, request_plan};
pub use report::{ConversionReport, Note, RefusedOperation};
pub use security::{SchemeKind, SecurityRequirement, SecurityScheme};
pub use servers::{ServerTemplate, ServerVariable};
