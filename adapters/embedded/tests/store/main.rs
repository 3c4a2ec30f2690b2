//! The embedded store on real files.

mod commit;
mod support;
