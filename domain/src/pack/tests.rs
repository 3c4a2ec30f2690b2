//! The cases of `pack.json` that need no server.

mod annotations;
mod archive;
mod compatibility;
mod diff;
mod facts;
mod file;
mod validate;
