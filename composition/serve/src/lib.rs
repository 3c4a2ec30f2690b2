//! Use case: from a connector declared in code to a surface that a transport serves.
//!
//! A connector author writes [`Tool`]s with their parameters, attaches a [`Source`] to each tool whose records are worth
//! copying, and calls [`ConnectorBuilder::build`]. Everything is checked there, once: what comes out as a
//! [`ServedSurface`] can be served, and `connector://resources` tells a sync runner all it needs.
//!
//! ```
//! use scion_domain::json::Json;
//! use scion_serve::{Connector, Mapping, Param, Source, Tool, ToolRefusal};
//!
//! let tickets = Tool::read("desk_list_tickets")
//!     .title("List tickets")
//!     .param(Param::integer("page", "Page number, from 1").between(1, 1_000_000).or(1))
//!     .source(
//!         Source::new("tickets", "Ticket", "id")
//!             .page("page", None, 100)
//!             .mapping(Mapping::class("Ticket").field("subject", "subject")),
//!     )
//!     .handle(|_context, args| async move {
//!         let page = args.integer("page")?;
//!         Ok::<_, ToolRefusal>(Json::from(vec![Json::from([("id", Json::from(page)), ("subject", "Printer".into())])]))
//!     });
//! let surface = Connector::builder(scion_serve::identity!()).tool(tickets).build()?;
//! assert_eq!(surface.connector().as_str(), "scion-serve");
//! # Ok::<(), scion_domain::surface::ConnectorRefusal>(())
//! ```

mod answer;
mod args;
mod assemble;
mod changes;
mod checks;
mod confirm;
mod connector;
mod content;
mod context;
mod context_call;
mod context_run;
mod context_runtime;
mod declaration;
mod delegation;
mod hooks;
mod identity;
mod operation_tools;
mod operations;
mod param;
mod progress;
mod receipts;
mod refusal;
mod request_cache;
mod resource;
mod router;
mod source;
mod surface;
mod tool;
mod typed;

pub use args::Args;
pub use changes::ChangeNotifier;
pub use confirm::{Asks, RouterAsks};
pub use connector::{Connector, ConnectorBuilder};
pub use content::{ContentChange, ContentHandle, PARENT_ONTOLOGY, ServedContent, front_matter};
pub use context::{Effect, ToolContext};
pub use context_runtime::CallGovernance;
pub use hooks::{RegistrationContext, ToolGroup};
pub use identity::Identity;
pub use operations::{BoundOperation, Operations};
pub use param::Param;
pub use progress::Delivery;
pub use receipts::{OpenReceipt, StoredReceipts};
pub use refusal::ToolRefusal;
pub use request_cache::RequestCache;
pub use resource::{Relation, ResourceModel, TextResource};
pub use router::{Action, Router, RouterBuilder};
pub use scion_domain::served_route::{Readiness, RouteAnswer, RouteRequest};
pub use scion_ports::ServedRoute;
pub use source::{Edge, Mapping, Source};
pub use surface::ServedSurface;
pub use tool::{Tool, ToolBuilder};
pub use typed::{Argument, ArgumentBuilder, OperationAnswer, Page, RecordSource, ToolInput, ToolOutput};

/// For the code that macros write.
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
}
