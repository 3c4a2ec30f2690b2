//! Connectors from descriptions of HTTP APIs: OpenAPI 3.0, OpenAPI 3.1 and Swagger 2.0.
//!
//! `scion serve --openapi` does the following in a process of its own; here are its parts, for programs that serve an API
//! among other things. Read a document ([`read`]), open a client for it ([`ApiSetup::open`]), and give its tools and sources to a
//! connector:
//!
//! ```no_run
//! use scion::openapi::{ApiCuration, ApiSetup, read};
//! use scion::serve::{Connector, Identity};
//!
//! async fn notes(document: &[u8]) -> Result<scion::serve::ServedSurface, Box<dyn std::error::Error>> {
//!     let api = read(document, &ApiCuration::default())?;
//!     let client = ApiSetup::new("notes-mcp").auth("token=env://NOTES_TOKEN").open(&api, scion::http::system_ports()?).await?;
//!     Ok(client.extend(api, Connector::builder(Identity::new("notes-mcp", "1.0.0"))).build()?)
//! }
//! ```
//!
//! Each operation is one tool. Its arguments are held against its schema, its request goes through the governed client, its
//! answer is bounded, and whatever goes wrong is a refusal. Lists become sources of a sync runner.

mod answer;
mod call;
mod setup;
mod source;
mod together;

use scion_domain::config::ConfigProblems;
use scion_domain::openapi::ApiDocumentRefusal;

pub use scion_config::{curation, curation_file};
pub use scion_domain::api_curation::ApiCuration;
pub use scion_openapi::{
    ApiModel, ConversionReport, ConvertOptions, CuratedApi, CuratedOperation, Operation, RefusedOperation, SourcePages,
    SourcePlan, convert, curate,
};
pub use setup::{ApiClient, ApiSetup, ApiSetupRefusal, OtherServer};

/// Why a document is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadRefusal {
    /// The document is none.
    Document(ApiDocumentRefusal),
    /// The curation does not fit the document.
    Curation(ConfigProblems),
}

impl std::fmt::Display for ReadRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Document(refusal) => refusal.fmt(f),
            Self::Curation(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for ReadRefusal {}

/// Reads a document, JSON or YAML, and lays a curation over it.
pub fn read(document: &[u8], curation: &ApiCuration) -> Result<CuratedApi, ReadRefusal> {
    let prefix = curation.prefix.as_ref().map(|prefix| prefix.value.clone()).unwrap_or_default();
    let options = ConvertOptions { prefix, ..ConvertOptions::default() };
    let model = convert(document, &options).map_err(ReadRefusal::Document)?;
    curate(model, curation).map_err(ReadRefusal::Curation)
}

/// A fleet name made of the title of an API, where nobody gives one: `Acme Notes API (v2)` is `acme-notes-api`.
pub fn name_of(api: &CuratedApi) -> String {
    if let Some(name) = &api.name {
        return name.to_string();
    }
    let words = api.title.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let version = |word: &String| word.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    let words: Vec<String> = words.filter(|word| !word.is_empty() && !version(word)).take(6).collect();
    let name: String = words.join("-").chars().take(48).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "openapi".to_owned() } else { name.to_owned() }
}
