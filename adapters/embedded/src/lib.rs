//! The embedded durable graph: SQLite with SPARQL over the same tables
