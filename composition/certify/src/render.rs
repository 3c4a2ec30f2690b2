//! Reports for readers: a person at a terminal, and the systems that show the result of a CI run.

mod junit;
mod rows;
mod sarif;
mod text;

pub use junit::junit;
pub use sarif::sarif;
pub use text::{Ink, text};
