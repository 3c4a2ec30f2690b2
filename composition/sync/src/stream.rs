//! The one ingest entry of a connector.
