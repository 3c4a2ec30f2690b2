//! `connector-certify` against real servers.

mod forms;
mod http;
mod refusals;
pub(crate) mod toy;
mod vectors;
