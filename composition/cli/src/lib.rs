//! Command-line roots: connector-sync and scion
