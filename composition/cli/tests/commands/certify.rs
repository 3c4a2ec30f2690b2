//! `connector-certify` against real servers.

mod forms;
mod http;
mod toy;
mod vectors;
