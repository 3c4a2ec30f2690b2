//! The cases of `pack.json` that need no server.

mod annotations;
mod archive;
mod compatibility;
mod facts;
mod validate;
