//! A git repository's history as an MCP server: commits, authors, files and tags, with the edges between them.
//!
//! This is the example to read first. It is a whole connector in four steps, one file each:
//!
//! 1. [`history`] is the client of the "vendor", here a repository read with gix. It knows nothing of MCP.
//! 2. [`records`] says what a record looks like on the wire, as plain JSON.
//! 3. [`connector`] declares the tools and, on each, the source a sync runner may copy.
//! 4. `main.rs` reads the command line and serves.
//!
//! Two privacy choices are worth copying: an author is identified by a digest, never by an e-mail address, and no field is
//! named `author` or `path`, because a privacy guard downstream rightly redacts fields with such names.

pub mod arguments;
pub mod connector;
pub mod history;
pub mod records;
pub mod refusal;
