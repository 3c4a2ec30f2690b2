//! Ingest tools declared as data.
