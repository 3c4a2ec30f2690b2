//! Example connector.
fn main() {}
