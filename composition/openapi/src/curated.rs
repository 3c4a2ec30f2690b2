//! From the operations of a document to the tools and sources that are served: what the document says, and over it what an
//! operator says in a curation file.

mod apply;
mod arguments;
mod find;
mod keep;
mod output;
mod plan;
mod source;

use std::collections::BTreeMap;

use scion_domain::id::ConnectorName;
use scion_domain::json::{Json, JsonObject};
use scion_domain::mcp::ToolDescription;
use scion_domain::openapi::PlanRefusal;

use crate::model::Operation;
use crate::report::ConversionReport;
use crate::security::SecurityScheme;
use crate::servers::ServerTemplate;

pub use apply::curate;
pub use keep::Keep;
pub use plan::{SourceEdge, SourceFanOut, SourcePages, SourcePlan};

/// An API as it is served.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CuratedApi {
    /// The fleet name, where the curation gives one.
    pub name: Option<ConnectorName>,
    /// A title for people; may be empty.
    pub title: String,
    /// The version of the API; may be empty.
    pub version: String,
    /// How to use it.
    pub instructions: Option<String>,
    /// The address of the API, where the curation gives one.
    pub base_url: Option<String>,
    /// Values for the variables of the document's server.
    pub variables: BTreeMap<String, String>,
    /// The servers of the document.
    pub servers: Vec<ServerTemplate>,
    /// The security schemes of the document.
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// The operations, in the order of their tool names.
    pub operations: Vec<CuratedOperation>,
    /// How many operations the curation leaves out.
    pub left_out: usize,
    /// What the reader of the document says.
    pub report: ConversionReport,
}

/// One operation as it is served.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CuratedOperation {
    /// The tool.
    pub tool: ToolDescription,
    /// The operation; requests are planned with it.
    pub operation: Operation,
    /// Arguments that are always sent.
    pub fixed: JsonObject,
    /// Arguments that are sent when the caller is silent.
    pub defaults: JsonObject,
    /// What is kept of the answer.
    pub keep: Option<Keep>,
    /// How the answer says where the next page is, where the tool has the argument `next_page` for it.
    pub next_page: Option<NextPage>,
    /// What a sync runner reads through it.
    pub source: Option<SourcePlan>,
}

/// How an answer says where the next page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextPage {
    /// In the header field `Link`. The tool answers it in the member `next_page`, beside the list, which stands in `items` when
    /// the API answers nothing but the list.
    Link,
    /// In a member of the answer; dotted.
    Member(String),
}

impl CuratedOperation {
    /// Holds the arguments of a call against the schema the tool shows: fixed arguments are not among them.
    pub fn check(&self, given: &JsonObject) -> Result<(), PlanRefusal> {
        crate::plan::check_against(&self.tool.input_schema, &self.operation, given)
    }

    /// The arguments of a call with the defaults and the fixed ones, and without `next_page`, which is given apart.
    pub fn complete(&self, given: JsonObject) -> (JsonObject, Option<Json>) {
        arguments::complete(self, given)
    }

    /// The answer of the tool, made of what the API answered and of the next page its `Link` names.
    pub fn answer(&self, value: Json, next: Option<&str>) -> Json {
        let value = match &self.keep {
            Some(keep) => keep.apply(value),
            None => value,
        };
        if self.next_page != Some(NextPage::Link) {
            return value;
        }
        let next = next.map_or(Json::Null, Json::from);
        match value {
            Json::Object(mut members) => {
                members.insert(NEXT_PAGE.to_owned(), next);
                Json::Object(members)
            }
            list => Json::from([("items", list), (NEXT_PAGE, next)]),
        }
    }
}

/// The argument and the member with the next page.
pub(crate) const NEXT_PAGE: &str = "next_page";
