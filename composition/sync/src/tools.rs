//! Ingest tools declared as data (R004.35).
//!
//! [`ingest_registration`] turns [`IngestTool`]s into definitions and handlers that a server registers. Each call opens the
//! vendor's client, asks the tool's source, maps and commits through the stream, and closes the client.

mod arguments;
mod definition;
mod registration;

pub use arguments::{ArgumentKind, ToolArgument};
pub use definition::{IngestTool, ToolSource, ToolYield};
pub use registration::{
    INGEST_TAGS, IngestToolDefinition, IngestToolHandler, RegisteredIngestTool, ToolAnswer, ingest_registration,
};
