//! The `connector-sync` command.
fn main() {}
