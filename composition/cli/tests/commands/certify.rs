//! `connector-certify` against real servers.

mod forms;
mod http;
pub(crate) mod toy;
mod vectors;
